#pragma once

#include <map>
#include <string>
#include <vector>

#include "tessera/plan/refutation/refute.h"

namespace tessera::plan::refutation {

// Problems for which proofs were asked, and the proofs that the checker accepted.
class Placements {
 public:
  Placements(const FindProof& find_proof, int64_t most) : find_proof_(find_proof), most_(most) {}

  // Whether the Problem has no placement within so many bytes, by a proof that the checker
  // accepted. Asked once for each Problem.
  bool AreImpossible(const problem::Problem& problem, problem::Bytes capacity);

  // Whether no more may be asked.
  bool AreSpent() const { return asked_ >= most_; }

  std::vector<PlacementProof> TakeProofs() { return std::move(proofs_); }

 private:
  const FindProof& find_proof_;
  const int64_t most_;
  int64_t asked_ = 0;
  std::map<std::string, bool> known_;  // by text
  std::vector<PlacementProof> proofs_;
};

}  // namespace tessera::plan::refutation
