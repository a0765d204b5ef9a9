// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/residency.h"

// If v needs every element of the boxes of some operators (*before*), then their last element x is
// made at the earliest when the engines have run all of them. All that depends on x is made later.
// A convolution of one group, or a product with a matrix, that depends on x uses all its constants
// after that time, because x affects every channel of some pixel, or every column of some row.
// Those of its constants that are not in the tile memory by then must still be loaded, or read in
// their home:
//
//     before ----> v ----> d              latency >= time(before)
//        '------------------^                        + (constants of v, d - capacity) / rate
//
// The walk over the operators before v marks the tensors of which v needs every element. The walk
// over those after v marks the tensors of which some element depends on x.
namespace tessera::plan::verify::infeasibility {
namespace {

// Whether the results that depend on one element of an operand use all constants of the operator,
// because they include all channels, or all rows or columns of a product.
bool TakesAllConstants(const graph::Graph& network, const graph::Operator& op) {
  if (op.weights.empty()) return false;
  if (op.kind == base::OperatorKind::kConv) return op.groups <= 1;
  if (op.kind != base::OperatorKind::kMatmul) return false;
  const graph::Shape& matrix = network.tensors[static_cast<size_t>(op.weights.front())].shape;
  const auto columns_and_rows = std::min<size_t>(2, matrix.size());
  return std::all_of(matrix.begin(), matrix.end() - static_cast<std::ptrdiff_t>(columns_and_rows),
                     [](int64_t extent) { return extent == 1; });
}

class LateConstants {
 public:
  // `reads` and the least time `cycles` are those of each operator.
  LateConstants(const Plan& plan, const Boxes& needed, const std::vector<Boxes>& reads,
                const std::vector<int64_t>& cycles)
      : plan_(plan), needed_(needed), reads_(reads), cycles_(cycles) {}

  int64_t Latency() {
    int64_t latency = 0;
    for (size_t op = 0; op < cycles_.size(); ++op) {
      const graph::Operator& facts = plan_.network.operators[op];
      if (!IsMade(facts) || !Counts(facts)) continue;
      latency = std::max(latency, Plus(CyclesBefore(op), CyclesOfLate(op)));
    }
    return latency;
  }

 private:
  const std::optional<Box>& NeededOf(int tensor) const {
    return needed_[static_cast<size_t>(tensor)];
  }
  bool IsMade(const graph::Operator& op) const {
    return op.outputs.size() == 1 && NeededOf(op.outputs.front()).has_value();
  }
  bool Counts(const graph::Operator& op) const {
    const int result = op.outputs.front();
    const graph::Shape& shape = plan_.network.tensors[static_cast<size_t>(result)].shape;
    return TakesAllConstants(plan_.network, op) && NeededOf(result) == WholeOf(shape) &&
           !IsOnHost(plan_, op);
  }

  // Whether each element of the operand's box is read for some element of the result's.
  bool ReadsAll(size_t op, size_t operand) const {
    const graph::Operator& facts = plan_.network.operators[op];
    const std::optional<Box>& read = reads_[op][operand];
    return facts.outputs.size() == 1 && read && read == NeededOf(facts.inputs[operand]);
  }

  int64_t CyclesBefore(size_t v) {
    marked_.assign(needed_.size(), 0);
    MarkOperands(v);
    int64_t cycles = 0;
    for (size_t op = v; op-- > 0;) {
      if (marked_[static_cast<size_t>(plan_.network.operators[op].outputs.front())] == 0) continue;
      cycles = Plus(cycles, cycles_[op]);
      MarkOperands(op);
    }
    return cycles;
  }

  void MarkOperands(size_t op) {
    const std::vector<int>& inputs = plan_.network.operators[op].inputs;
    for (size_t operand = 0; operand < inputs.size(); ++operand)
      if (ReadsAll(op, operand)) marked_[static_cast<size_t>(inputs[operand])] = 1;
  }

  int64_t CyclesOfLate(size_t v) {
    const std::vector<graph::Operator>& operators = plan_.network.operators;
    marked_.assign(needed_.size(), 0);
    std::vector<int64_t> late(plan_.profile.memories.size(), 0);
    for (size_t op = v; op < operators.size(); ++op) {
      bool depends = op == v;
      for (size_t operand = 0; operand < operators[op].inputs.size(); ++operand) {
        const auto tensor = static_cast<size_t>(operators[op].inputs[operand]);
        depends = depends || (marked_[tensor] != 0 && ReadsAll(op, operand));
      }
      if (!depends) continue;
      marked_[static_cast<size_t>(operators[op].outputs.front())] = 1;
      if (Counts(operators[op])) AddConstants(operators[op], late);
    }
    return LongestOf(late);
  }

  void AddConstants(const graph::Operator& op, std::vector<int64_t>& late) {
    for (const int constant : op.weights) {
      char& mark = marked_[static_cast<size_t>(constant)];
      int64_t& bytes = late[static_cast<size_t>(HomeOf(plan_, constant))];
      if (mark == 0)
        bytes =
            Plus(bytes, BytesWithoutTable(plan_.network.tensors[static_cast<size_t>(constant)]));
      mark = 1;
    }
  }

  int64_t LongestOf(const std::vector<int64_t>& late) const {
    const std::vector<hw_profiles::Memory>& memories = plan_.profile.memories;
    const auto here = static_cast<size_t>(plan_.profile.tile_memory);
    double longest = 0;
    for (size_t home = 0; home < late.size(); ++home) {
      const int64_t outside = late[home] - memories[here].capacity_bytes;
      if (home != here)
        longest = std::max(longest,
                           static_cast<double>(outside) / memories[home].port.read_bytes_per_cycle);
    }
    return static_cast<int64_t>(longest);
  }

  const Plan& plan_;
  const Boxes& needed_;
  const std::vector<Boxes>& reads_;
  const std::vector<int64_t>& cycles_;
  std::vector<char> marked_;  // by tensor
};

}  // namespace

int64_t LatencyWithLateConstants(const Plan& plan, const Boxes& needed,
                                 const std::vector<Boxes>& reads,
                                 const std::vector<int64_t>& cycles) {
  return LateConstants(plan, needed, reads, cycles).Latency();
}

int64_t BytesWithoutTable(const graph::Tensor& constant) {
  if (constant.stored_bytes > 0) return constant.stored_bytes;
  return base::BytesOf(constant.type, graph::ElementsOf(constant.shape));
}

}  // namespace tessera::plan::verify::infeasibility
