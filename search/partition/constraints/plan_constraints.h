// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/tiling/tile_driver.h"

// Restrictions of a plan that the user states, in addition to fitting.
namespace tessera::search::partition::constraints {

using plan::PlanConstraint;
using plan::PlanConstraintKind;
using plan::TileConfigConstraint;

// Whether the constraint allows the policy, whatever the tile.
bool Allows(const TileConfigConstraint& config, const encoder::program::Policy& policy);

// The effect of valid constraints (CheckWellFormed) on a search.
//
//   together b..c, apart e      a  [b  c]  d  |  e  f     no interval that ends inside the brackets
//                               ----------->              or crosses the bar; at the bar, and
//                                                         wherever a tensor to keep is cut, only
//                                                         states that keep it
//
// Each constraint concerns single intervals and the tensors kept at their ends. So it suffices to
// exclude intervals and choices; the best remaining plan is the best that satisfies the
// constraints. The object keeps no references.
class PlanConstraints {
 public:
  PlanConstraints() = default;
  PlanConstraints(const graph::Graph& graph, std::vector<PlanConstraint> constraints);

  bool IsEmpty() const { return constraints_.empty(); }
  const std::vector<PlanConstraint>& All() const { return constraints_; }

  // Whether the interval may be a subgraph.
  bool Allow(graph::Interval interval) const;
  // Whether the interval may be a subgraph with exactly these tensors kept on chip in or across it.
  bool Allow(graph::Interval interval, const std::vector<int>& kept) const;

  // Returns the required configuration of the interval as a subgraph; nullptr if there is none.
  // Valid as long as this object.
  const TileConfigConstraint* ConfigOf(graph::Interval interval) const;

  // Returns the buffers of the tile memory with required addresses: those of the interval as
  // subgraph number `subgraph` of a program; and those of whole tensors, which need not be in the
  // program (PinnedBuffer::required is false).
  std::vector<tiling::PinnedBuffer> PinsOf(graph::Interval interval, int subgraph,
                                           const std::string& tile_memory) const;

  // Returns the tensors whose addresses in that memory are required.
  std::vector<tiling::PinnedBuffer> PinsIn(const std::string& memory) const;

  // Returns the longest intervals that constraints hold together, ascending.
  const std::vector<graph::Interval>& Inseparable() const { return blocks_; }

  // Returns the number of operators in the longest of them inside this interval; 0 if there is
  // none.
  int Inseparable(graph::Interval interval) const;

  bool KeepAny() const { return !stays_.empty(); }
  bool MustKeep(int tensor) const;
  bool MustSpill(int tensor) const;

  // Whether every kept tensor is required.
  bool AreAllOf(const std::vector<int>& kept) const;

 private:
  // A tensor to keep, and the operators between which it lives.
  struct Stay {
    int tensor = 0;
    int maker = 0;
    int last_reader = 0;
  };

  std::vector<PlanConstraint> constraints_;
  std::vector<graph::Interval> blocks_;  // of operators that stay together
  std::vector<Stay> stays_;
  std::map<std::string, std::vector<tiling::PinnedBuffer>> pins_;  // of tensors, by memory
};

// LookUpOperator and LookUpTensor return the index for a user's name; or a Diagnostic without
// position that suggests the nearest name.

base::Expected<int> LookUpOperator(const graph::Graph& graph, std::string_view id);
base::Expected<int> LookUpTensor(const graph::Graph& graph, std::string_view id);

// A constraint that no plan can satisfy; `constraint` is its index.
struct ConstraintFault {
  size_t constraint = 0;
  base::Diagnostic diagnostic;  // without position
};

// Returns the first constraint that is invalid for this network and profile, contradicts an earlier
// one, or needs longer subgraphs than allowed; or nullopt.
std::optional<ConstraintFault> CheckWellFormed(const graph::Graph& graph,
                                               const hw_profiles::Profile& profile,
                                               std::span<const PlanConstraint> constraints,
                                               std::optional<int> max_operators);

// Reads constraints on plans of this network from a file (docs/constraints.md) and checks them
// (CheckWellFormed). An error is the first one, with its line and column. `file_name` is for
// messages only.
base::Expected<std::vector<PlanConstraint>> ReadConstraints(std::string text, std::string file_name,
                                                            const graph::Graph& graph,
                                                            const hw_profiles::Profile& profile,
                                                            std::optional<int> max_operators);

}  // namespace tessera::search::partition::constraints
