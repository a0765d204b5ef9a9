#pragma once

#include <set>
#include <span>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::encoder {

// Buffers that lie in one place, one after another. See shared_places.cc.
class SharedPlaces {
 public:
  // The buffers outlive it. `relations`: colocations so far, each of an operand and the result in its place; others do not count.
  SharedPlaces(std::span<const problem::Buffer> buffers, std::span<const problem::Relation> relations);

  // Whether the result may take the place of the operand, by indices of buffers: neither did so before, the lives of the two
  // have nothing in common but steps of one of the turns, and everybody else who lies in either place keeps clear of the other's.
  bool MayJoin(size_t operand, size_t result, std::span<const problem::Lifespan> turns) const;

  void Join(const problem::Relation& relation);

 private:
  bool ShareOnly(std::span<const problem::Lifespan> turns, size_t a, size_t b) const;

  std::span<const problem::Buffer> buffers_;
  std::vector<size_t> place_;  // by buffer: a number that all who lie in one place have in common
  std::vector<std::vector<size_t>> guests_;  // by that number: who lie there
  std::set<size_t> operands_;                // whose place is taken
  std::set<size_t> results_;                 // who have taken one
};

}  // namespace tessera::encoder
