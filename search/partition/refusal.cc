#include "tessera/search/partition/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/search/allocate/bounds.h"

namespace tessera::search {
namespace {

enum class Room : uint8_t { kSome, kUndecided, kNone };

class Absence {
 public:
  Absence(const Planning& planning, const PathSearch& paths, const Floors& floors)
      : planning_(planning), paths_(paths), floors_(floors) {}

  PartitionResult Explain() const {
    if (const std::optional<PartitionResult> refused = FindRefusal()) return *refused;
    if (floors_.costs.peak_bytes > planning_.Room())
      return Naming(floors_.tightest, Infeasible(DescribeFloor()));
    if (IsHopeless(planning_, floors_)) return Infeasible(DescribeLimits("of the network"));
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (RoomFor(op) == Room::kNone) return Naming(op, AmongTried(DescribeTightest(op)));
    }
    if (paths_.IsCutShort()) return Unknown("stopped before a plan was found");
    if (!HasPath(false)) return WithoutPath();
    if (!HasPath(true)) return AmongTried(DescribeLimits(Within()));
    return Unknown(DescribeUndecided());
  }

 private:
  static PartitionResult Infeasible(std::string reason) {
    return {problem::Status::kInfeasible, std::nullopt, std::move(reason)};
  }

  static PartitionResult Unknown(std::string reason) {
    return {problem::Status::kUnknown, std::nullopt, std::move(reason)};
  }

  bool IsCapped() const { return paths_.MostOperators() < paths_.Operators(); }

  // What is proven of subgraphs as long as they may be is no proof for longer ones, nor for more that is kept.
  PartitionResult AmongTried(std::string reason) const {
    if (paths_.SpillsAll()) reason += kAllSpilled;
    const bool caps_kept = paths_.CapsKept() || paths_.LeavesOutKept();
    if (!IsCapped() && !caps_kept) return Infeasible(std::move(reason));
    if (paths_.LeavesOutKept()) {
      reason += "; keeping borders on chip was not tried to the end";
    } else if (paths_.CapsKept())
      reason +=
          fmt::format("; keeping more than {} borders on chip at a cut was not tried", paths_.MostKept());
    if (!IsCapped()) return Unknown(std::move(reason));
    reason += "; longer subgraphs were not tried";
    if (paths_.MostOperators() < kUsualMostOperators)
      reason += fmt::format(", try --max-operators {}", std::min(kUsualMostOperators, paths_.Operators()));
    return Unknown(std::move(reason));
  }

  // Where an operator has no room with everything at home, what could be kept beside it has not been looked at if nothing leads there.
  PartitionResult WithoutPath() const {
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (RoomAtHome(op) == Room::kNone) return Naming(op, AmongTried(DescribeTightest(op)));
    }
    if (planning_.scale.LimitsPeak()) return AmongTried(DescribeLimits(Within()));
    return AmongTried(DescribeNoCover());
  }

  const std::string& NameOf(int op) const { return planning_.graph.operators[static_cast<size_t>(op)].id; }

  std::string Within() const {
    if (!IsCapped()) return "of the network";
    return fmt::format("into subgraphs of at most {} operators", paths_.MostOperators());
  }

  // Calls visit(choices) for each interval that covers the operator, however it is crossed, as far as demands allow.
  template <typename Visit>
  void ForEachAround(int op, Visit visit) const {
    for (int first = std::max(0, op - paths_.Longest() + 1); first <= op; ++first) {
      const int most = std::min(paths_.Longest(), paths_.Operators() - first);
      for (int length = op - first + 1; length <= most; ++length) {
        for (const IntervalChoices& crossing : paths_.Crossings(first, length)) {
          if (paths_.IsAllowed(crossing)) visit(crossing);
        }
      }
    }
  }

  static Room RoomIn(const IntervalChoices& interval) {
    if (!interval.IsOpened()) return Room::kUndecided;
    Room room = interval.IsComplete() ? Room::kNone : Room::kUndecided;
    for (const Choice& choice : interval.Choices()) {
      if (choice.verdict == Verdict::kFits) return Room::kSome;
      if (choice.verdict != Verdict::kImpossible) room = Room::kUndecided;
    }
    return room;
  }

  Room RoomFor(int op) const {
    Room best = Room::kNone;
    ForEachAround(op, [&](const IntervalChoices& interval) { best = std::min(best, RoomIn(interval)); });
    return best;
  }

  // The same where nothing is kept on chip but what is demanded.
  Room RoomAtHome(int op) const {
    Room best = Room::kNone;
    ForEachAround(op, [&](const IntervalChoices& interval) {
      if (paths_.IsAtHome(interval)) best = std::min(best, RoomIn(interval));
    });
    return best;
  }

  // The search need not have opened what lies next to something that is refused.
  bool IsRefused(const IntervalChoices& interval) const {
    if (interval.IsPosed()) return interval.Refusal() != nullptr;
    IntervalChoices probe(planning_, interval.Interval(), interval.Kept());
    probe.Open(planning_.stop);
    probe.Pose(planning_.stop);
    return probe.Refusal() != nullptr;
  }

  // An operator that no subgraph around it can run, whatever the room.
  std::optional<PartitionResult> FindRefusal() const {
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (!paths_.Single(op).Refusal()) continue;
      bool all_refused = true;
      ForEachAround(
          op, [&](const IntervalChoices& interval) { all_refused = all_refused && IsRefused(interval); });
      if (!all_refused) continue;
      const base::Diagnostic& refusal = *paths_.Single(op).Refusal();
      std::string reason = refusal.message;
      if (!refusal.hint.empty()) reason += "; " + refusal.hint;
      return PartitionResult{problem::Status::kUnsupported, std::nullopt, reason};
    }
    return std::nullopt;
  }

  // "operator 'a' fits in no subgraph of at most 12 operators: alone, with a tile of 1x16x1x7, at step 3 the buffers ..."
  std::string DescribeTightest(int op) const {
    std::string reason = fmt::format("operator '{}' fits in no subgraph", NameOf(op));
    if (IsCapped()) reason += fmt::format(" of at most {} operators", paths_.MostOperators());
    const std::string alone = DescribeAlone(op);
    return alone.empty() ? reason : reason + ": " + alone;
  }

  // The same for subgraphs of any length, by the operands of one operator.
  std::string DescribeFloor() const {
    const int op = floors_.tightest;
    const std::string reason = fmt::format(
        "operator '{}' fits in no subgraph: it needs {} bytes in the smallest tiles, {} are there",
        NameOf(op), floors_.costs.peak_bytes, planning_.Room());
    const std::string alone = DescribeAlone(op);
    return alone.empty() ? reason : reason + "; " + alone;
  }

  // The result with what the operator asks for alone, where a choice of it is known.
  PartitionResult Naming(int op, PartitionResult result) const {
    if (const Choice* least = LeastChoice(op)) {
      const IntervalTiles& tiles = paths_.Single(op).Tiles();
      result.misfit = {op, tiles.Candidates()[least->candidate].choice.tile,
                       tiles.ProblemOf(least->candidate), planning_.Room()};
    }
    return result;
  }

  // The choice of the operator alone with the lowest peak; null where none is known.
  const Choice* LeastChoice(int op) const {
    const std::span<const Choice> choices = paths_.Single(op).Choices();
    const auto least = std::min_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
      return a.peak_bytes < b.peak_bytes;
    });
    return least == choices.end() ? nullptr : &*least;
  }

  // "alone, with tiles of 1x16x1x7, at step 3 ..."; empty where no choice of it is known, or it fits.
  std::string DescribeAlone(int op) const {
    const Choice* least = LeastChoice(op);
    if (least == nullptr || RoomIn(paths_.Single(op)) == Room::kSome) return "";
    const IntervalTiles& tiles = paths_.Single(op).Tiles();
    const problem::Problem problem = tiles.ProblemOf(least->candidate);
    const problem::Bytes capacity = planning_.Room();
    const Bound bound = FindBound(problem, 0);
    const std::vector<int64_t>& tile = tiles.Candidates()[least->candidate].choice.tile;
    const std::string reason = fmt::format("alone, with tiles of {}, ", fmt::join(tile, "x"));
    if (bound.bytes > capacity) return reason + search::Explain(problem, bound, capacity);
    const std::string& why = tiles.Known(least->candidate).reason;
    return reason + fmt::format("no placement exists although only {} of {} bytes are needed at once{}{}",
                                bound.bytes, capacity, why.empty() ? "" : ": ", why);
  }

  // Whether some path avoids all that is proven impossible; what is undecided counts as fitting.
  bool HasPath(bool within_limits) const {
    std::vector<Arc> arcs;
    for (const IntervalChoices& interval : paths_.Intervals()) {
      if (!paths_.IsAllowed(interval)) continue;
      Arc arc = paths_.ArcOf(interval);
      if (!interval.IsOpened() || !interval.IsComplete()) {
        if (within_limits) arc.cost = interval.Bound();
        arcs.push_back(arc);
      }
      for (const Choice& choice : interval.Choices()) {
        if (choice.verdict == Verdict::kImpossible) continue;
        if (within_limits) arc.cost = choice.cost;
        arcs.push_back(arc);
        if (!within_limits) break;
      }
    }
    return FindBestPath(planning_.scale, paths_.LastState(), arcs, {}).has_value();
  }

  std::string DescribeNoCover() const {
    return fmt::format("every operator fits in some subgraph, yet no partition {} fits as a whole", Within());
  }

  std::string DescribeLimits(std::string_view which) const {
    return fmt::format("no partition {} keeps the limits: {}", which, planning_.scale.DescribeLimits());
  }

  std::string DescribeUndecided() const {
    for (const IntervalChoices& interval : paths_.Intervals()) {
      if (paths_.IsAllowed(interval) && interval.IsOpened() && !interval.IsComplete() &&
          !interval.AnyGivenUp())
        return "nothing fits among the tile shapes that were tried, and there are too many to try all";
    }
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (RoomFor(op) == Room::kUndecided) {
        return fmt::format("a limit came before it was known whether operator '{}' fits in any subgraph",
                           NameOf(op));
      }
    }
    return "a limit came before a plan was found";
  }

  const Planning& planning_;
  const PathSearch& paths_;
  const Floors& floors_;
};

}  // namespace

bool IsHopeless(const Planning& planning, const Floors& floors) {
  return floors.costs.peak_bytes > planning.Room() ||
         !planning.scale.WithinLimits(planning.scale.CostOf(floors.costs));
}

PartitionResult ExplainAbsence(const Planning& planning, const PathSearch& paths, const Floors& floors) {
  return Absence(planning, paths, floors).Explain();
}

}  // namespace tessera::search
