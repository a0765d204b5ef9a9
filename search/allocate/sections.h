#pragma once

#include <span>
#include <vector>

#include "tessera/problem/problem.h"

// Time, cut where something happens and thinned to what matters.
//
//     a  |-------|                      Steps between two neighbouring births or deaths look alike: they are
//     b      |-----------|              one section. A section whose buffers all live in a neighbouring one
//     c              |-------|          too says nothing new, so only the maximal ones stay: {a b} and {b c}
//         [a] [ab][b][bc] [c]           here, two instead of five.
//             ^^^^    ^^^^
//
// A maximal section begins with a birth and ends with a death. Two buffers live together at some step exactly
// when they share a maximal section, and the greatest load is reached in one.
namespace tessera::search {

// Half-open range of section indices.
struct SectionRange {
  int first = 0;
  int last = 0;
  friend bool operator==(const SectionRange&, const SectionRange&) = default;
};

struct Sections {
  std::vector<problem::Step> steps;  // one step of each maximal section, ascending
  // Parallel to the buffers handed in: one range for each lifespan, ascending, none empty. Neighbouring
  // ranges of a buffer with gaps may touch where nothing distinguishes the gap.
  std::vector<std::vector<SectionRange>> ranges;

  int Count() const { return static_cast<int>(steps.size()); }
};

// The maximal sections of the buffers with the given indices. Cost: O(n log n) for n lifespans.
Sections FindSections(const problem::Problem& problem, std::span<const int> buffers);

// Indices of the buffers that live in `memory`, ascending.
std::vector<int> BuffersOf(const problem::Problem& problem, int memory);

}  // namespace tessera::search
