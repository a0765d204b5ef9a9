// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/bytes_at_homes.h"

#include <algorithm>
#include <numeric>

#include "tessera/base/arithmetic.h"
#include "tessera/base/saturating.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"

// The contents of a home while a subgraph runs follow from its operators and from what is kept on
// chip (home_capacity.cc). A placement needs at least the sum of the sizes, and more because of
// alignment: if all offsets in a memory are multiples of g, the greatest common divisor of their
// alignments, then each tensor uses whole units of g, except the last one:
//
//     |  x   :|y:|  z     |        units of g
//     |=======|==|========|        peak >= rounded sizes - the most that one of them was rounded up
//
// This holds for every order of the tensors in the memory. If all have the same alignment and are
// there at the same time, it is exact.
namespace tessera::encoder::program {

using hw_profiles::Profile;
using problem::Bytes;

// Tensors that are there at the same time.
class BytesAtHomes::Stack {
 public:
  explicit Stack(size_t memories) : memories_(memories) {}

  void Add(const Stay& stay) {
    OfMemory& here = memories_[stay.memory];
    base::Accumulate(here.rounded, stay.rounded);
    here.most_gap = std::max(here.most_gap, stay.rounded - stay.bytes);
  }

  Bytes Peak() const {
    Bytes peak = 0;
    for (const OfMemory& memory : memories_)
      base::Accumulate(peak, memory.rounded - memory.most_gap);
    return peak;
  }

 private:
  struct OfMemory {
    Bytes rounded = 0;
    Bytes most_gap = 0;
  };
  std::vector<OfMemory> memories_;
};

BytesAtHomes::BytesAtHomes(const graph::Graph& graph, const Profile& profile)
    : memories_(profile.memories.size()) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const int last = static_cast<int>(graph.operators.size()) - 1;
  std::vector<int64_t> units(memories_);
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    const base::TensorRole role = RoleAtHome(graph, tensor);
    const bool is_boundary = role == base::TensorRole::kBoundary;
    const int memory = HomeOf(graph, profile, tensor, role);
    if (memory == profile.tile_memory || (is_boundary && usage.consumers.empty())) continue;
    const auto home = static_cast<size_t>(memory);
    units[home] = std::gcd(units[home], std::lcm(AlignmentAtHome(profile, role, memory),
                                                 profile.memories[home].alignment_bytes));
    const bool lasts = facts.constant || facts.state;
    const bool to_the_end = lasts || facts.network_output || usage.consumers.empty();
    stays_.push_back({.tensor = tensor,
                      .memory = home,
                      .bytes = BytesAtHome(graph, profile, usage, tensor, role),
                      .first = lasts ? 0 : std::max(0, usage.producer),
                      .last = to_the_end ? last : usage.consumers.back(),
                      .is_boundary = is_boundary,
                      .at_begin = lasts || usage.producer < 0,
                      .at_end = to_the_end});
  }
  for (Stay& stay : stays_) stay.rounded = base::RoundUp(stay.bytes, units[stay.memory]);
}

std::vector<Bytes> BytesAtHomes::DuringEach(std::span<const SubgraphChoice> choices) const {
  const std::vector<int> kept = KeptBy(choices);
  std::vector<Bytes> bytes(choices.size());
  const auto subgraph_of = [choices](int op) {
    const auto after = std::partition_point(
        choices.begin(), choices.end(),
        [op](const SubgraphChoice& choice) { return choice.interval.last < op; });
    return static_cast<size_t>(after - choices.begin());
  };
  for (const Stay& stay : stays_) {
    const size_t first = subgraph_of(stay.first);
    const size_t last = subgraph_of(stay.last);
    if (stay.is_boundary &&
        (first == last || std::binary_search(kept.begin(), kept.end(), stay.tensor)))
      continue;
    for (size_t s = first; s <= last; ++s) base::Accumulate(bytes[s], stay.bytes);
  }
  return bytes;
}

Bytes BytesAtHomes::LeastPeak(graph::Interval interval, const std::vector<int>& kept) const {
  Stack stack(memories_);
  for (const Stay& stay : stays_) {
    if (stay.last < interval.first || interval.last < stay.first) continue;
    const bool is_inside = interval.first <= stay.first && stay.last <= interval.last;
    if (stay.is_boundary &&
        (is_inside || std::binary_search(kept.begin(), kept.end(), stay.tensor)))
      continue;
    stack.Add(stay);
  }
  return stack.Peak();
}

Bytes BytesAtHomes::LeastPeak() const {
  Stack at_begin(memories_);
  Stack at_end(memories_);
  for (const Stay& stay : stays_) {
    if (stay.at_begin) at_begin.Add(stay);
    if (stay.at_end) at_end.Add(stay);
  }
  return std::max(at_begin.Peak(), at_end.Peak());
}

}  // namespace tessera::encoder::program
