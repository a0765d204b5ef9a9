// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/engine.h"
#include "tessera/search/engines/guided/backtracking.h"

namespace tessera::search::engines::guided {

// The rule that picks the buffer to place next.
enum class Heuristic : uint8_t {
  kLifetime,  // the longest lifetime
  kSize,      // the largest size
  kArea,      // the largest size times lifetime
  kLowest,    // the lowest valid position; among equals the longest lifetime
  kBlamed,    // the lowest valid position; among equals the most part in recent dead ends
};
inline constexpr size_t kHeuristics = 5;

// How candidates are picked.
struct Recipe {
  // Decides banks, modes and orders of pairs before any buffer is placed.
  bool booleans_first = false;
  // The candidates of a decision, in the order in which they are tried.
  std::vector<Heuristic> heuristics;
  bool phases = true;  // buffers of contended phases first
};

// The recipes, which are used in turn. Placements from the bottom up leave few holes, so they come
// first; the last recipe is the published one.
inline const std::vector<Recipe> kRecipes = {
    {.heuristics = {Heuristic::kLowest}, .phases = false},
    {.heuristics = {Heuristic::kLowest}},
    {.heuristics = {Heuristic::kBlamed}, .phases = false},
    {.heuristics = {Heuristic::kLifetime, Heuristic::kSize, Heuristic::kArea}},
};
// The recipes for Problems with constraints beyond those of a packing, such as banks and modes.
inline const std::vector<Recipe> kRecipesInBanks = {
    {.booleans_first = true, .heuristics = {Heuristic::kLowest}, .phases = false},
    {.booleans_first = true, .heuristics = {Heuristic::kBlamed}, .phases = false},
    {.booleans_first = true, .heuristics = {Heuristic::kLowest}},
    {.heuristics = {Heuristic::kLowest}, .phases = false},
};

// The rules of the search (search_tree.h). bench/guided_bench measures the search without them.
struct GuidedOptions {
  std::vector<Recipe> recipes = kRecipes;
  std::vector<Recipe> recipes_in_banks = kRecipesInBanks;
  bool descents = true;  // first places buffers one after another, without a solver
  // A major backtrack returns to the placement to blame; otherwise one decision back.
  bool culprits = true;
  Backtracking backtracking = {};  // picks another point to return to; may be empty
  // A search without that policy takes turns with the search that has it (part_search.h).
  bool insured = true;
  int64_t head_start = 1000;  // dead ends of the search without the policy before the first turn
  bool stuck = true;          // leaves parts of the tree that took many backtracks, and recipes too
  bool lessons = true;        // learns a clause from every dead end
  int64_t most_steps = base::kMaxTotal;  // of the search for a part
};

// The engine "guided": heuristics and a constraint solver in one loop, after TelaMalloc (Maas,
// Beaunon, Chauhan and Ilbeyi 2023). Heuristics pick a buffer; the propagation of the lazy engine
// computes its lowest valid position, refutes dead ends and names the placements to blame
// (search_tree.h).
//
// Two additions extend the published method. Every dead end becomes a clause, as in the lazy
// engine, so that no mistake is made twice and the search is complete. And the propagation covers
// every constraint that a Problem can state (constraint_target.h).
//
// Supports all constraints. Hints and costs are ignored. Answers kUnsupported for parts beyond the
// limits of lazy/packing.h. Budget units are dead ends, which correspond to the conflicts of the
// lazy engine; Statistics::nodes counts steps: placements, other decisions and dead ends. Another
// call for the same sizes and the same or a lower capacity continues with what was learned. The
// same calls on a session give the same answers.
class GuidedEngine final : public problem::Engine {
 public:
  GuidedEngine() = default;
  explicit GuidedEngine(GuidedOptions options) : options_(std::move(options)) {}

  std::string_view Name() const override { return NameOf(options_); }
  // "guided", or "guided-learned" with a policy of backtracking.
  static std::string_view NameOf(const GuidedOptions& options) {
    return options.backtracking ? "guided-learned" : "guided";
  }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  GuidedOptions options_;
};

}  // namespace tessera::search::engines::guided
