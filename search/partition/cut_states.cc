#include "tessera/search/partition/cut_states.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "tessera/encoder/adapt/layout.h"
#include "tessera/encoder/adapt/room_floor.h"
#include "tessera/search/simulate/saturating.h"

namespace tessera::search {
namespace {

using base::TensorRole;
using problem::Bytes;

// What of `a` is not in `b`; both ascending.
std::vector<int> Without(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

CutStates::CutStates(const graph::Graph& graph, const hw_profiles::Profile& profile, Bytes room,
                     Keeping keeping, const Demands& demands)
    : room_(room), most_kept_(graph.operators.size() <= kSmallNetwork ? kMostKeptInSmall : kMostKept) {
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, TensorRole::kBorder);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const auto operators = static_cast<int>(graph.operators.size());
  for (const graph::Operator& op : graph.operators)
    shares_.push_back(static_cast<char>(encoder::MayTakeAPlace(profile, op)));
  const bool keeps_apart = layout.home != profile.tile_memory;
  for (int tensor = 0; keeps_apart && tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    if (usage.producer < 0 || usage.consumers.empty() || demands.MustSpill(tensor)) continue;
    const graph::Interval maker{usage.producer, usage.producer};
    if (graph::RoleIn(graph, usage, tensor, maker) != TensorRole::kBorder) continue;
    const Bytes bytes =
        encoder::FeatureBytes(layout, facts.type, encoder::NameExtents(facts.shape, facts.shape),
                              encoder::PadsFor(graph, profile, usage.consumers));
    if (bytes > room_) continue;
    const bool demanded = demands.MustKeep(tensor);
    if (keeping == Keeping::kNothing && !demanded) {
      spills_all_ = true;
    } else {
      borders_.push_back({tensor, usage.producer, usage.consumers.back(), bytes, demanded});
    }
  }
  for (int position = 0; position <= operators; ++position) AddStates(position);
  first_at_.push_back(static_cast<int>(states_.size()));
}

// All that must be kept there; nullopt where there is no room for it.
std::optional<CutStates::Subset> CutStates::FindDemanded(const std::vector<Border>& crossing, Bytes room) {
  Subset demanded;
  for (const Border& border : crossing) {
    if (!border.demanded) continue;
    demanded.kept.push_back(border.tensor);
    demanded.bytes = SaturatingAdd(demanded.bytes, border.bytes);
  }
  return demanded.bytes <= room ? std::optional(demanded) : std::nullopt;
}

void CutStates::AddStates(int position) {
  first_at_.push_back(static_cast<int>(states_.size()));
  std::vector<Border> crossing;
  for (const Border& border : borders_) {
    if (Crosses(border.tensor, position)) crossing.push_back(border);
  }
  const std::optional<Subset> demanded = FindDemanded(crossing, room_);
  if (!demanded || !demanded->kept.empty()) states_.emplace_back();
  std::vector<Subset> subsets;
  if (demanded) subsets.push_back(*demanded);
  for (size_t i = 0; i < subsets.size(); ++i) {  // grows
    const Subset subset = subsets[i];
    states_.push_back(subset.kept);
    std::sort(states_.back().begin(), states_.back().end());
    for (size_t next = subset.next; next < crossing.size(); ++next) {
      if (crossing[next].demanded) continue;
      const Bytes bytes = SaturatingAdd(subset.bytes, crossing[next].bytes);
      if (bytes > room_) continue;
      capped_ = capped_ || subset.free == most_kept_;
      if (subset.free == most_kept_) break;
      Subset larger{subset.kept, subset.free + 1, next + 1, bytes};
      larger.kept.push_back(crossing[next].tensor);
      subsets.push_back(std::move(larger));
    }
  }
}

const CutStates::Border& CutStates::BorderOf(int tensor) const {
  return *std::lower_bound(borders_.begin(), borders_.end(), tensor,
                           [](const Border& each, int wanted) { return each.tensor < wanted; });
}

bool CutStates::Crosses(int tensor, int position) const {
  const Border& border = BorderOf(tensor);
  return border.maker < position && position <= border.last_reader;
}

// What is kept while an operator runs is in the tile memory all at once, but for a result in the
// place of an operand that ends there.
bool CutStates::HasRoom(const std::vector<int>& kept, graph::Interval interval) const {
  for (int op = interval.first; op <= interval.last; ++op) {
    Bytes before = 0;
    Bytes behind = 0;
    Bytes during = 0;
    for (const int tensor : kept) {
      const Border& border = BorderOf(tensor);
      if (op < border.maker || border.last_reader < op) continue;
      during = SaturatingAdd(during, border.bytes);
      if (border.maker < op) before = SaturatingAdd(before, border.bytes);
      if (op < border.last_reader) behind = SaturatingAdd(behind, border.bytes);
    }
    const bool shares = shares_[static_cast<size_t>(op)] != 0;
    if ((shares ? std::max(before, behind) : during) > room_) return false;
  }
  return true;
}

std::vector<int> CutStates::CrossingOf(const std::vector<int>& kept, int position) const {
  std::vector<int> crossing;
  for (const int tensor : kept) {
    if (Crosses(tensor, position)) crossing.push_back(tensor);
  }
  return crossing;
}

std::vector<Crossing> CutStates::CrossingsOf(graph::Interval interval) const {
  const auto states_at = [this](int position) {
    return std::pair(first_at_[static_cast<size_t>(position)], first_at_[static_cast<size_t>(position) + 1]);
  };
  const auto [first_begin, last_begin] = states_at(interval.first);
  const auto [first_end, last_end] = states_at(interval.last + 1);
  // What passes over the whole interval must be kept on both sides, or on neither.
  std::map<std::vector<int>, std::vector<int>> ends;  // by what passes
  for (int end = first_end; end < last_end; ++end)
    ends[CrossingOf(states_[static_cast<size_t>(end)], interval.first)].push_back(end);
  std::vector<Crossing> crossings;
  for (int begin = first_begin; begin < last_begin; ++begin) {
    const std::vector<int>& before = states_[static_cast<size_t>(begin)];
    const auto meeting = ends.find(CrossingOf(before, interval.last + 1));
    if (meeting == ends.end()) continue;
    for (const int end : meeting->second) {
      const std::vector<int> entering = Without(states_[static_cast<size_t>(end)], before);
      Crossing crossing{.begin = begin, .end = end, .kept = before};
      crossing.kept.insert(crossing.kept.end(), entering.begin(), entering.end());
      std::sort(crossing.kept.begin(), crossing.kept.end());
      if (HasRoom(crossing.kept, interval)) crossings.push_back(std::move(crossing));
    }
  }
  return crossings;
}

}  // namespace tessera::search
