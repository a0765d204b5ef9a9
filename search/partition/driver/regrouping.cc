// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/regrouping.h"

#include <algorithm>
#include <optional>
#include <utility>

// Constants that arrive ahead need room throughout the subgraphs that run meanwhile. A long
// subgraph needs the room of its largest operator throughout, although most of its operators may
// need little:
//
//     one subgraph     | a  b  c  d  e |      room for others:  what a leaves
//     cut after b      | a  b | c  d  e |                       what a leaves | what c leaves
//
// On the other hand, transfers end before their subgraph does, so each cut reduces the time of the
// link by the latency of a transfer.
//
// A subgraph of one tile runs its operators one after another. Several subgraphs with one operator
// each, with the tensors in between kept on chip, do the same. So such subgraphs are first cut
// after every operator, and neighbours are then joined if the operators of the group need about the
// same room, constants included. Neither may take time, apart from that of constants, which the
// schedule determines. Tiles of tensors that are on chip as a whole are joined too. Cost: a
// simulation and a program of one tile for each operator.
namespace tessera::search::partition::driver {
namespace {

class Regrouper {
 public:
  Regrouper(SubgraphTable& table, const Regrouped& partition, const Regrouping& regrouping)
      : table_(table),
        context_(table.Context()),
        sequences_(table, regrouping.limits),
        growth_(regrouping.growth),
        kept_(partition.kept) {}

  void Take(const plan::Subgraph& whole) {
    if (context_.stop.Requested()) return Add(whole);
    plan::Subgraph rest = AsSequence(whole);
    for (int last = whole.interval.first; last < whole.interval.last; ++last) {
      if (!context_.stop.Requested()) CutBehind(last, rest);
    }
    Add(std::move(rest));
  }

  Regrouped Finish() && { return {std::move(done_), std::move(kept_)}; }

 private:
  // Returns the subgraph in one tile, which can be cut behind every operator, if that takes about
  // the same room and no time; otherwise the subgraph unchanged.
  plan::Subgraph AsSequence(const plan::Subgraph& subgraph) const {
    if (subgraph.tiles == 1 || !sequences_.MayOverlap(subgraph)) return subgraph;
    plan::Subgraph one = InOneTile(context_, subgraph, subgraph.interval);
    const std::optional<Load>& load = table_.Of(one, kept_).FindLoad();
    const std::optional<Load>& before = table_.Of(subgraph, kept_).FindLoad();
    const bool gains = load && before && load->peak <= before->peak + growth_.value_or(0) &&
                       LatencyOf(one, kept_) <= LatencyOf(subgraph, kept_);
    return gains ? one : subgraph;
  }

  void CutBehind(int last, plan::Subgraph& rest) {
    std::optional<Sequences::Parts> parts = sequences_.Cut(rest, last, kept_);
    if (!parts || LatencyOf(parts->before, parts->kept) + LatencyOf(parts->after, parts->kept) >
                      LatencyOf(rest, kept_))
      return;
    kept_ = std::move(parts->kept);
    Add(std::move(parts->before));
    rest = std::move(parts->after);
  }

  // Returns the latency if all constants have arrived when the subgraph begins.
  int64_t LatencyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept) const {
    const cost::Prefetches ahead{.own = {1}, .carried = {}};
    return table_.Of(WithResident(context_, subgraph), kept)
        .PriceOf(ahead, cost::Detail::kTotals)
        .latency_cycles;
  }

  std::optional<problem::Bytes> RoomOf(const plan::Subgraph& subgraph,
                                       const std::vector<int>& kept) const {
    const std::optional<Load>& load = table_.Of(WithResident(context_, subgraph), kept).FindLoad();
    return load ? std::optional(load->peak) : std::nullopt;
  }

  // Adds the subgraph to the last group, or begins another.
  void Add(plan::Subgraph next) {
    std::optional<problem::Bytes> room;
    if (growth_ && sequences_.IsSequence(next) && !context_.stop.Requested())
      room = RoomOf(next, kept_);
    if (room && least_room_ && JoinToLast(next, std::min(*room, *least_room_))) return;
    least_room_ = room;
    done_.push_back(std::move(next));
  }

  bool JoinToLast(const plan::Subgraph& next, problem::Bytes least_room) {
    const plan::Subgraph& last = done_.back();
    std::optional<Sequences::Joined> joined = sequences_.Join(last, next, kept_);
    if (!joined) return false;
    const std::optional<problem::Bytes> room = RoomOf(joined->subgraph, joined->kept);
    if (!room || *room > least_room + *growth_ ||
        LatencyOf(joined->subgraph, joined->kept) > LatencyOf(last, kept_) + LatencyOf(next, kept_))
      return false;
    least_room_ = least_room;
    kept_ = std::move(joined->kept);
    done_.back() = std::move(joined->subgraph);
    return true;
  }

  SubgraphTable& table_;
  const choices::SearchContext& context_;
  const Sequences sequences_;
  const std::optional<problem::Bytes> growth_;
  std::vector<int> kept_;
  std::vector<plan::Subgraph> done_;
  // The least room of any operator of the last group; nullopt: no subgraph can join it.
  std::optional<problem::Bytes> least_room_;
};

}  // namespace

Regrouped Regroup(SubgraphTable& table, const Regrouped& partition, const Regrouping& regrouping) {
  Regrouper regrouper(table, partition, regrouping);
  for (const plan::Subgraph& subgraph : partition.subgraphs) regrouper.Take(subgraph);
  return std::move(regrouper).Finish();
}

}  // namespace tessera::search::partition::driver
