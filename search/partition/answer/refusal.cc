#include "tessera/search/partition/answer/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/search/partition/placement/obstacles.h"

namespace tessera::search::partition::answer {
namespace {

enum class Room : uint8_t { kSome, kUndecided, kNone };

// Limit on operators that are tried alone to find the obstacle.
constexpr size_t kMostStuck = 64;

class Absence {
 public:
  Absence(const choices::SearchContext& context, const paths::PathSearch& paths,
          const LowerBounds& lower_bounds, Telling telling)
      : context_(context), paths_(paths), lower_bounds_(lower_bounds), telling_(telling) {}

  PartitionResult Explain() const {
    if (!paths_.LeavesOutIntervals()) {
      if (const std::optional<PartitionResult> refused = FindRefusal()) return *refused;
    }
    if (lower_bounds_.costs.peak_bytes > context_.Room())
      return Naming(lower_bounds_.tightest, Infeasible(DescribeFloor()));
    if (IsHopeless(context_, lower_bounds_))
      return NamingLimits(Infeasible(DescribeLimits("of the network")));
    if (paths_.LeavesOutIntervals())
      return NamingBlocked(Unknown("the search was stopped before a plan was found"));
    if (std::optional<PartitionResult> overflow = FindFullHome()) return *std::move(overflow);
    if (const std::optional<int> op = FindTightest(&Absence::RoomFor))
      return Naming(*op, AmongTried(DescribeTightest(*op)));
    if (paths_.IsCutShort())
      return NamingBlocked(Unknown("the search was stopped before a plan was found"));
    if (!HasPath(false)) return WithoutPath();
    if (!HasPath(true)) return NamingLimits(AmongTried(DescribeLimits(Within())));
    return NamingBlocked(Unknown(DescribeUndecided()));
  }

 private:
  static PartitionResult Infeasible(std::string reason) {
    return {problem::Status::kInfeasible, std::nullopt, std::move(reason)};
  }

  static PartitionResult Unknown(std::string reason) {
    return {problem::Status::kUnknown, std::nullopt, std::move(reason)};
  }

  bool IsCapped() const { return paths_.MostOperators() < paths_.Operators(); }

  // A proof about subgraphs within the limits is not a proof for longer ones, or for more kept
  // tensors.
  PartitionResult AmongTried(std::string reason) const {
    if (paths_.SpillsAll()) reason += paths::kAllSpilled;
    const bool caps_kept = paths_.CapsKept() || paths_.LeavesOutKept();
    if (!IsCapped() && !caps_kept) return Infeasible(std::move(reason));
    if (paths_.LeavesOutKept()) {
      reason += "; keeping boundary tensors on chip was not tried to the end";
    } else if (paths_.CapsKept())
      reason +=
          fmt::format("; keeping more than {} boundary tensors on chip at a cut was not tried",
                      paths_.MostKept());
    if (!IsCapped()) return Unknown(std::move(reason));
    reason += "; longer subgraphs were not tried";
    if (paths_.MostOperators() < paths::kUsualMostOperators)
      reason += fmt::format(", try --max-operators {}",
                            std::min(paths::kUsualMostOperators, paths_.Operators()));
    return Unknown(std::move(reason));
  }

  // If an operator does not fit with everything at home and no path leads there, kept tensors were
  // not considered for it.
  PartitionResult WithoutPath() const {
    if (const std::optional<int> op = FindTightest(&Absence::RoomAtHome))
      return Naming(*op, AmongTried(DescribeTightest(*op)));
    if (context_.scale.LimitsPeak())
      return NamingBlocked(NamingLimits(AmongTried(DescribeLimits(Within()))));
    const std::optional<int> end = FarthestCut();
    PartitionResult result = NamingBlocked(AmongTried(DescribeNoCover(end)), end);
    if (result.obstacle) result.obstacle->kind = placement::ObstacleKind::kCover;
    return result;
  }

  const std::string& NameOf(int op) const {
    return context_.graph.operators[static_cast<size_t>(op)].id;
  }

  std::string Within() const {
    if (!IsCapped()) return "of the network";
    return fmt::format("into subgraphs of at most {} operators", paths_.MostOperators());
  }

  // Calls visit(choices) for each interval that contains the operator, in every crossing that
  // constraints allow.
  template <typename Visit>
  void ForEachAround(int op, Visit visit) const {
    for (int first = std::max(0, op - paths_.Longest() + 1); first <= op; ++first) {
      const int most = std::min(paths_.Longest(), paths_.Operators() - first);
      for (int length = op - first + 1; length <= most; ++length) {
        for (const choices::IntervalChoices& crossing : paths_.Crossings(first, length)) {
          if (paths_.IsAllowed(crossing)) visit(crossing);
        }
      }
    }
  }

  // An operator around which every subgraph overflows the homes of its tensors.
  std::optional<PartitionResult> FindFullHome() const {
    const encoder::program::HomeRoom homes(context_.graph, context_.profile);
    for (int op = 0; op < paths_.Operators(); ++op) {
      const std::optional<base::Diagnostic> overflow = homes.FindOverflow({op, op}, {});
      if (!overflow) continue;
      bool any = false;
      ForEachAround(op, [&any](const choices::IntervalChoices&) { any = true; });
      if (any) continue;
      PartitionResult result = AmongTried(overflow->message);
      encoder::program::SubgraphChoice alone;
      alone.interval = {op, op};
      if (const auto full =
              encoder::program::FindOverfullHome(context_.graph, context_.profile, {&alone, 1}))
        result.obstacle = placement::ObstacleOf(context_.graph, context_.profile, *full);
      return result;
    }
    return std::nullopt;
  }

  static Room RoomIn(const choices::IntervalChoices& interval) {
    if (!interval.IsExpanded()) return Room::kUndecided;
    Room room = interval.IsComplete() ? Room::kNone : Room::kUndecided;
    for (const choices::Choice& choice : interval.Choices()) {
      if (choice.verdict == choices::ChoiceStatus::kFits) return Room::kSome;
      if (choice.verdict != choices::ChoiceStatus::kImpossible) room = Room::kUndecided;
    }
    return room;
  }

  Room RoomFor(int op) const {
    Room best = Room::kNone;
    ForEachAround(op, [&](const choices::IntervalChoices& interval) {
      best = std::min(best, RoomIn(interval));
    });
    return best;
  }

  // The same if only required tensors are kept on chip.
  Room RoomAtHome(int op) const {
    Room best = Room::kNone;
    ForEachAround(op, [&](const choices::IntervalChoices& interval) {
      if (paths_.IsAtHome(interval)) best = std::min(best, RoomIn(interval));
    });
    return best;
  }

  // The search need not have expanded intervals next to one that is refused.
  bool IsRefused(const choices::IntervalChoices& interval) const {
    if (interval.IsFormulated()) return interval.Refusal() != nullptr;
    if (context_.stop.Requested()) return false;
    choices::IntervalChoices probe(context_, interval.Interval(), interval.Kept());
    probe.Expand(context_.stop);
    probe.Formulate(context_.stop);
    return probe.Refusal() != nullptr;
  }

  // An operator that no subgraph around it can run, with any amount of memory.
  std::optional<PartitionResult> FindRefusal() const {
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (!paths_.Single(op).Refusal()) continue;
      bool all_refused = true;
      ForEachAround(op, [&](const choices::IntervalChoices& interval) {
        all_refused = all_refused && IsRefused(interval);
      });
      if (!all_refused) continue;
      const base::Diagnostic& refusal = *paths_.Single(op).Refusal();
      std::string reason = refusal.message;
      if (!refusal.expected.empty()) reason += "; expected " + refusal.expected;
      if (!refusal.hint.empty()) reason += "; " + refusal.hint;
      placement::Obstacle obstacle;
      obstacle.kind = placement::ObstacleKind::kEngine;
      obstacle.op = op;
      return PartitionResult{problem::Status::kUnsupported, std::nullopt, reason,
                             std::move(obstacle)};
    }
    return std::nullopt;
  }

  // Among the operators that do not fit, as `room` determines it, the one that needs most alone,
  // according to bounds.
  std::optional<int> FindTightest(Room (Absence::*room)(int) const) const {
    std::optional<int> tightest;
    problem::Bytes most = -1;
    for (int op = 0; op < paths_.Operators(); ++op) {
      if ((this->*room)(op) != Room::kNone) continue;
      const problem::Bytes least = LeastBytes(op);
      if (least <= most) continue;
      tightest = op;
      most = least;
    }
    return tightest;
  }

  problem::Bytes LeastBytes(int op) const {
    problem::Bytes least = std::numeric_limits<problem::Bytes>::max();
    for (const choices::Choice& choice : paths_.Single(op).Choices())
      least = std::min(least, choice.peak_bytes);
    return least == std::numeric_limits<problem::Bytes>::max() ? 0 : least;
  }

  // "operator 'a' fits in no subgraph of at most 12 operators"
  std::string DescribeTightest(int op) const {
    std::string reason = fmt::format("operator '{}' fits in no subgraph", NameOf(op));
    if (IsCapped()) reason += fmt::format(" of at most {} operators", paths_.MostOperators());
    return reason;
  }

  // The same for subgraphs of any length, by the operands of one operator.
  std::string DescribeFloor() const {
    return fmt::format(
        "operator '{}' fits in no subgraph: it needs {} bytes in the smallest tiles, {} are there",
        NameOf(lower_bounds_.tightest), lower_bounds_.costs.peak_bytes, context_.Room());
  }

  // ---- the obstacle ----

  placement::AloneOptions Options() const {
    return {.engines = context_.tile_engines,
            .budget = context_.budget,
            .room = context_.Room(),
            .stop = context_.stop};
  }

  // Adds to the result the needs of the operator alone, if these are too much.
  PartitionResult Naming(int op, PartitionResult result) const {
    if (telling_ == Telling::kVerdict) return result;
    std::vector<int> blocked;
    for (const Stuck& each : FindStuck(op)) {
      if (each.op == op) {
        result.obstacle = placement::ObstacleOf(context_.profile, op, each.alone, context_.Room());
        result.reason += Separator(result.reason) + "alone, " + DescribeAlone(each);
      }
      blocked.push_back(each.op);
    }
    if (result.obstacle) result.obstacle->blocked = std::move(blocked);
    return result;
  }

  // Adds to the result the operator that is farthest from fitting alone, preferably among those
  // that the search did not see fit anywhere; the one at `preferred` if that does not fit.
  PartitionResult NamingBlocked(PartitionResult result,
                                std::optional<int> preferred = std::nullopt) const {
    if (telling_ == Telling::kVerdict) return result;
    const std::vector<Stuck> stuck = FindStuck(preferred);
    if (stuck.empty()) return result;
    const auto rank = [&](const Stuck& each) {
      return std::tuple(each.op == preferred, RoomFor(each.op) != Room::kSome, Shortage(each));
    };
    const auto worst =
        std::max_element(stuck.begin(), stuck.end(),
                         [&](const Stuck& a, const Stuck& b) { return rank(a) < rank(b); });
    placement::Obstacle obstacle =
        placement::ObstacleOf(context_.profile, worst->op, worst->alone, context_.Room());
    for (const Stuck& each : stuck) obstacle.blocked.push_back(each.op);
    if (result.obstacle) obstacle.limits = std::move(result.obstacle->limits);
    result.obstacle = std::move(obstacle);
    std::string named = fmt::format("operator '{}'", NameOf(worst->op));
    if (stuck.size() == 2) named += " and 1 other";
    if (stuck.size() > 2) named += fmt::format(" and {} others", stuck.size() - 1);
    named += fmt::format(" {} not fit alone: {}", stuck.size() == 1 ? "does" : "do",
                         DescribeAlone(*worst));
    if (result.status == problem::Status::kUnknown && RoomFor(worst->op) != Room::kSome)
      named += "; whether a longer subgraph has room for it is not decided";
    const bool proven = result.status == problem::Status::kInfeasible;
    result.reason = proven ? result.reason + "; " + named : named + "; " + result.reason;
    return result;
  }

  PartitionResult NamingLimits(PartitionResult result) const {
    if (telling_ == Telling::kVerdict) return result;
    result.obstacle = placement::LimitObstacle(context_.graph, context_.profile,
                                               context_.scale.Objective(), lower_bounds_.costs);
    for (const placement::BrokenLimit& limit : result.obstacle->limits) {
      if (limit.bound <= limit.most) continue;
      result.reason += fmt::format("; {} is {} at least", limit.metric, limit.bound);
      if (limit.op >= 0 && limit.part > 0 && context_.graph.operators.size() > 1)
        result.reason += fmt::format(", '{}' alone takes {}", NameOf(limit.op), limit.part);
    }
    return result;
  }

  // An operator that was not seen to fit alone.
  struct Stuck {
    int op = 0;
    placement::Alone alone;
  };

  problem::Bytes Shortage(const Stuck& stuck) const {
    return std::max<problem::Bytes>(
        0, stuck.alone.bound.bytes - stuck.alone.longest_bank.value_or(context_.Room()));
  }

  // Those among the first kMostStuck that the search did not see fit, ascending; `first` in any
  // case.
  std::vector<Stuck> FindStuck(std::optional<int> first) const {
    std::vector<int> unseen;
    if (first) unseen.push_back(*first);
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (op != first && RoomIn(paths_.Single(op)) != Room::kSome) unseen.push_back(op);
    }
    if (unseen.size() > kMostStuck) unseen.resize(kMostStuck);
    std::sort(unseen.begin(), unseen.end());
    std::vector<Stuck> stuck;
    for (const int op : unseen) {
      if (context_.stop.Requested()) break;
      Stuck each{op, placement::TryAlone(context_.graph, context_.profile, op, Options())};
      if (each.alone.status != problem::Status::kFeasible && !each.alone.tile.empty())
        stuck.push_back(std::move(each));
    }
    return stuck;
  }

  static std::string Separator(const std::string& reason) {
    return reason.find(": ") == std::string::npos ? ": " : "; ";
  }

  // "with tiles of 1x16x1x7 and weights streamed, 'a' needs 1189376 bytes of 'sram' at step 3;
  // 1048576 are there"
  std::string DescribeAlone(const Stuck& stuck) const {
    const placement::Alone& alone = stuck.alone;
    const std::string& memory = context_.TileMemory().name;
    const std::string how =
        fmt::format("with tiles of {} and weights {}, '{}' ", fmt::join(alone.tile, "x"),
                    hw_profiles::NameOf(alone.policy.weights), NameOf(stuck.op));
    if (alone.longest_bank) {
      return how + fmt::format("needs {} bytes in one bank of '{}'; the longest has {}",
                               alone.bound.bytes, memory, *alone.longest_bank);
    }
    if (alone.bound.bytes > context_.Room()) {
      return how +
             fmt::format("needs {} bytes of '{}'{}; {} are there", alone.bound.bytes, memory,
                         alone.bound.step ? fmt::format(" at step {}", *alone.bound.step) : "",
                         context_.Room());
    }
    const std::string_view none = alone.status == problem::Status::kInfeasible
                                      ? "has no placement"
                                      : "was not seen to have a placement";
    return how + fmt::format("{} in '{}', although only {} of {} bytes are needed at once", none,
                             memory, alone.bound.bytes, context_.Room());
  }

  // Whether some path avoids everything that is proven impossible. Undecided choices count as
  // fitting; after a stop the answer is true.
  bool HasPath(bool within_limits) const {
    std::vector<paths::Arc> arcs;
    for (const choices::IntervalChoices& interval : paths_.Intervals()) {
      if (!paths_.IsAllowed(interval)) continue;
      paths::Arc arc = paths_.ArcOf(interval);
      if (!interval.IsExpanded() || !interval.IsComplete()) {
        if (within_limits) arc.cost = interval.Bound();
        arcs.push_back(arc);
      }
      for (const choices::Choice& choice : interval.Choices()) {
        if (choice.verdict == choices::ChoiceStatus::kImpossible) continue;
        if (within_limits) arc.cost = choice.cost;
        arcs.push_back(arc);
        if (!within_limits) break;
      }
    }
    paths::PathLook look{.stop = &context_.stop};
    return paths::FindBestPath(context_.scale, paths_.LastState(), arcs, {}, look).has_value() ||
           context_.stop.Requested();
  }

  // The last position that a sequence of subgraphs that may fit reaches, with any kept tensors;
  // nullopt if one covers all.
  std::optional<int> FarthestCut() const {
    std::vector<bool> reached(static_cast<size_t>(paths_.Operators()) + 1);
    reached[0] = true;
    int farthest = 0;
    for (int cut = 0; cut < paths_.Operators(); ++cut) {
      if (!reached[static_cast<size_t>(cut)]) continue;
      farthest = cut;
      for (int length = 1; length <= std::min(paths_.Longest(), paths_.Operators() - cut);
           ++length) {
        for (const choices::IntervalChoices& interval : paths_.Crossings(cut, length)) {
          if (paths_.IsAllowed(interval) && RoomIn(interval) != Room::kNone)
            reached[static_cast<size_t>(cut + length)] = true;
        }
      }
    }
    return reached.back() ? std::nullopt : std::optional(farthest);
  }

  std::string DescribeNoCover(std::optional<int> end) const {
    const std::string none = fmt::format("no partition {} fits as a whole: ", Within());
    if (!end)
      return none + "subgraphs that may fit do not agree on what is kept on chip between them";
    if (*end == 0)
      return none + fmt::format("no subgraph that begins with '{}' fits", NameOf(*end));
    return none + fmt::format(
                      "subgraphs that may fit reach up to operator '{}', and none of them goes on "
                      "from '{}'",
                      NameOf(*end - 1), NameOf(*end));
  }

  std::string DescribeLimits(std::string_view which) const {
    return fmt::format("no partition {} keeps the limits: {}", which,
                       context_.scale.DescribeLimits());
  }

  std::string DescribeUndecided() const {
    for (const choices::IntervalChoices& interval : paths_.Intervals()) {
      if (paths_.IsAllowed(interval) && interval.IsExpanded() && !interval.IsComplete() &&
          !interval.AnyGivenUp())
        return "nothing fits among the tile shapes that were tried, and there are too many to try "
               "all";
    }
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (RoomFor(op) == Room::kUndecided) {
        return fmt::format(
            "a limit came before it was known whether operator '{}' fits in any subgraph",
            NameOf(op));
      }
    }
    return "a limit came before a plan was found";
  }

  const choices::SearchContext& context_;
  const paths::PathSearch& paths_;
  const LowerBounds& lower_bounds_;
  Telling telling_;
};

}  // namespace

bool IsHopeless(const choices::SearchContext& context, const LowerBounds& lower_bounds) {
  return lower_bounds.costs.peak_bytes > context.Room() ||
         !context.scale.WithinLimits(context.scale.CostOf(lower_bounds.costs));
}

PartitionResult ExplainAbsence(const choices::SearchContext& context,
                               const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                               Telling telling) {
  return Absence(context, paths, lower_bounds, telling).Explain();
}

}  // namespace tessera::search::partition::answer
