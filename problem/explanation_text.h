#pragma once

#include <string>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"

// An explanation in sentences, with the names that the Problem gives things. `capacity` is that of memories[0] which was asked about.
// Conditions and changes refer to `problem`.
namespace tessera::problem {

// "'weights' is read at step 0"; no stop at the end.
std::string Describe(const Problem& problem, const Condition& condition, Bytes capacity);

// What comes after "it would fit ": "with 32 bytes more in 'sram', 96 in all".
std::string Describe(const Problem& problem, const Change& change, Bytes capacity);

// The whole collision in one sentence: "'x', 'y' and 'z' live together at step 7 and need 96 bytes; 'sram' holds 64".
std::string Summarize(const Problem& problem, const Explanation& explanation, Bytes capacity);

// All of it, a line each: the summary, the conditions, whether they are minimal, and the changes. Lists end with a count of what is
// left out beyond kMostListed; members of lists are indented by two.
std::vector<std::string> Sentences(const Problem& problem, const Explanation& explanation, Bytes capacity);

inline constexpr size_t kMostListed = 24;

}  // namespace tessera::problem
