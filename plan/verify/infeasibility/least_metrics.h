// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/needed_boxes.h"
#include "tessera/plan/verify/residency.h"

// Lower bounds of the metrics of all plans: work, traffic, time and energy, over all tiles and
// policies.
namespace tessera::plan::verify::infeasibility {

// A lower bound of the latency of every plan, from constants that the tile memory cannot hold
// before they are used. `needed`: by tensor, a box that every plan makes. `reads`: by operator and
// operand, the box that it reads without gaps for the box of its result. `cycles`: the least time
// of each operator. Cost: operators times their operands, for each operator with constants.
int64_t LatencyWithLateConstants(const Plan& plan, const Boxes& needed,
                                 const std::vector<Boxes>& reads,
                                 const std::vector<int64_t>& cycles);

// The bytes of a constant without the table that is stored with it, because K slices are loaded
// without tables.
int64_t BytesWithoutTable(const graph::Tensor& constant);

// The minimum work and traffic of all plans, over all orders, cuts, tiles and policies. Each
// operator computes at least once the elements that surely reach an output of the network, each
// constant is read at least once, and each output of the network is written. `plan` states network
// and profile.
Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users);

// The minimum work of one operator in every plan, and for each operand a box that it surely reads.
struct LeastOfOperator {
  int64_t macs = 0;
  int64_t cycles = 0;
  double pj = 0;
  Boxes reads;
  std::string engine;  // the only one that may run it; empty if there are several
};

// The minimum work and traffic of the subgraphs of a network whose operators are in execution
// order.
class LeastOfIntervals {
 public:
  // `plan` states network and profile, with the homes of all tensors. The arguments must outlive
  // this object.
  LeastOfIntervals(const Plan& plan, const std::vector<Users>& users);

  // Returns the minimum work and traffic of the interval as one subgraph. `kept`: the boundary
  // tensors that stay in the tile memory, ascending. Cost: the tensors that its operators use,
  // times their readers.
  Metrics Of(graph::Interval interval, std::span<const int> kept) const;

 private:
  int64_t BytesReadBy(graph::Interval interval, int tensor) const;

  const Plan& plan_;
  const std::vector<Users>& users_;
  std::vector<LeastOfOperator> operators_;
};

}  // namespace tessera::plan::verify::infeasibility
