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

// What a plan must keep to besides fitting, because somebody says so.
namespace tessera::search::partition::constraints {

using plan::PlanConstraint;
using plan::PlanConstraintKind;
using plan::TileConfigConstraint;

bool Allows(const TileConfigConstraint& config, const encoder::program::Policy& policy);

// What constraints without fault (constraint_faults.h) leave to a search.
//
//     together b..c, apart e        a  [b  c]  d  |  e  f        no interval that ends inside the brackets or
//                                   ----------->                 goes across the bar; at the bar, and wherever a
//                                                                tensor to keep is cut, only states that keep it
//
// Each constraint is about single intervals and what is kept at their ends, so leaving out
// intervals and choices is all that it takes, and what is best of the rest is best of all that keep
// the constraints. Refers to nothing.
class PlanConstraints {
 public:
  PlanConstraints() = default;
  PlanConstraints(const graph::Graph& graph, std::vector<PlanConstraint> constraints);

  bool IsEmpty() const { return constraints_.empty(); }
  const std::vector<PlanConstraint>& All() const { return constraints_; }

  // Whether the interval may be a subgraph; and whether it may be while just these tensors are kept
  // on chip beside or in it.
  bool Allow(graph::Interval interval) const;
  bool Allow(graph::Interval interval, const std::vector<int>& kept) const;

  // How the interval must run as a subgraph; nullptr where all is open. Valid as long as this is.
  const TileConfigConstraint* ConfigOf(graph::Interval interval) const;

  // The buffers of the tile memory whose addresses are required: those of the interval where it is
  // subgraph number `subgraph` of a program, and tensors that lie there whole, which are not
  // required.
  std::vector<tiling::PinnedBuffer> PinsOf(graph::Interval interval, int subgraph,
                                           const std::string& tile_memory) const;

  // The tensors whose addresses in that memory are required.
  std::vector<tiling::PinnedBuffer> PinsIn(const std::string& memory) const;

  // The longest intervals that constraints do not let part, ascending.
  const std::vector<graph::Interval>& Inseparable() const { return blocks_; }

  // The operators of the longest of them inside this interval; 0 where there is none.
  int Inseparable(graph::Interval interval) const;

  bool KeepAny() const { return !stays_.empty(); }
  bool MustKeep(int tensor) const;
  bool MustSpill(int tensor) const;

  // Whether nothing is kept without being required.
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

// The names by which people require something of a network: indices, or which name is nearest, in a
// Diagnostic without position.

base::Expected<int> LookUpOperator(const graph::Graph& graph, std::string_view id);
base::Expected<int> LookUpTensor(const graph::Graph& graph, std::string_view id);

// A constraint that no plan can keep, whatever fits; `constraint` is its index.
struct ConstraintFault {
  size_t constraint = 0;
  base::Diagnostic diagnostic;  // without position
};

// The first constraint that makes no sense for this network and profile, that contradicts one
// before it, or that needs longer subgraphs than these; or nullopt. Of two that contradict each
// other the later is at fault.
std::optional<ConstraintFault> CheckWellFormed(const graph::Graph& graph,
                                               const hw_profiles::Profile& profile,
                                               std::span<const PlanConstraint> constraints,
                                               std::optional<int> max_operators);

// The constraints in a file (docs/demands.md) on plans of this network, without fault
// (constraint_faults.h), or the first thing wrong with its line and column; `file_name` is for
// messages only.
base::Expected<std::vector<PlanConstraint>> ReadConstraints(std::string text, std::string file_name,
                                                            const graph::Graph& graph,
                                                            const hw_profiles::Profile& profile,
                                                            std::optional<int> max_operators);

}  // namespace tessera::search::partition::constraints
