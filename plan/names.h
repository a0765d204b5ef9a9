#pragma once

#include <array>
#include <string_view>

// The words of plan.json for what plan.h and problem.h enumerate, in the order of the enumerators.
namespace tessera::plan {

inline constexpr std::array<std::string_view, 9> kBufferKindNames = {
    "tile", "whole", "resident", "slice", "scratch", "ring", "line", "halo", "accumulator"};
inline constexpr std::array<std::string_view, 6> kStepKindNames = {"prologue", "load",     "compute",
                                                                   "store",    "epilogue", "copy"};
inline constexpr std::array<std::string_view, 4> kHaloNames = {"recompute", "ring", "copy", "adjacent"};
inline constexpr std::array<std::string_view, 4> kWeightPolicyNames = {"resident", "streamed", "direct",
                                                                       "by_depth"};
inline constexpr std::array<std::string_view, 2> kPlanStatusNames = {"optimal", "feasible"};
inline constexpr std::array<std::string_view, 3> kRejectionCauseNames = {"score", "room", "undecided"};
inline constexpr std::array<std::string_view, 2> kAccessKindNames = {"read", "write"};
inline constexpr std::array<std::string_view, 3> kSpanNames = {"any", "contiguous", "single"};
inline constexpr std::array<std::string_view, 6> kRelationKindNames = {
    "colocate", "adjacent", "same_bank", "different_bank", "separate", "exclusive"};

template <typename Kind, size_t n>
std::string_view WordFor(Kind kind, const std::array<std::string_view, n>& names) {
  return names.at(static_cast<size_t>(kind));
}

}  // namespace tessera::plan
