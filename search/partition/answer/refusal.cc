// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/answer/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/search/partition/answer/absence.h"

namespace tessera::search::partition::answer {
namespace {

PartitionResult Infeasible(std::string reason) {
  return {problem::Status::kInfeasible, std::nullopt, std::move(reason)};
}

PartitionResult Unknown(std::string reason) {
  return {problem::Status::kUnknown, std::nullopt, std::move(reason)};
}

// Returns a result with this reason, which is proven only for the subgraphs and kept tensors that
// were considered: kInfeasible if these are all, else kUnknown.
PartitionResult AmongTried(const paths::SearchCoverage& coverage, std::string reason) {
  if (coverage.spills_all) reason += kAllSpilled;
  if (coverage.leaves_out_kept) {
    reason += "; keeping boundary tensors on chip was not tried to the end";
  } else if (coverage.caps_kept) {
    reason +=
        fmt::format("; keeping more than {} boundary tensors on chip at a cut{} was not tried",
                    coverage.most_kept, coverage.lacks_sets ? ", and some sets of fewer," : "");
  }
  if (coverage.IsCapped()) {
    reason += "; longer subgraphs were not tried";
    if (coverage.most_operators < paths::kUsualMostOperators)
      reason += fmt::format(", try --max-operators {}",
                            std::min(paths::kUsualMostOperators, coverage.operators));
  }
  return coverage.IsWhole() ? Infeasible(std::move(reason)) : Unknown(std::move(reason));
}

// Puts the findings of Absence into words, and names the obstacle.
class Explanation {
 public:
  Explanation(const choices::SearchContext& context, const paths::PathSearch& paths,
              const LowerBounds& lower_bounds, Telling telling)
      : context_(context),
        paths_(paths),
        coverage_(paths.Coverage()),
        absence_(context, paths),
        lower_bounds_(lower_bounds),
        telling_(telling) {}

  PartitionResult Explain() const {
    if (!coverage_.leaves_out_intervals) {
      if (const std::optional<int> op = absence_.FindRefused()) return Unsupported(*op);
    }
    if (lower_bounds_.costs.peak_bytes > context_.Room())
      return Naming(lower_bounds_.tightest, Infeasible(DescribeLowerBound()));
    if (IsHopeless(context_, lower_bounds_))
      return NamingLimits(Infeasible(DescribeLimits("of the network")));
    if (coverage_.leaves_out_intervals) return Stopped();
    if (const std::optional<FullHome> full = absence_.FindFullHome()) return Overflowing(*full);
    if (const std::optional<int> op = absence_.FindTightest())
      return Naming(*op, AmongTried(coverage_, DescribeTightest(*op)));
    if (paths_.IsCutShort()) return Stopped();
    if (!absence_.HasPath(false)) return WithoutPath();
    if (!absence_.HasPath(true))
      return NamingLimits(AmongTried(coverage_, DescribeLimits(Within())));
    return NamingAll(Unknown(DescribeUndecided()));
  }

  PartitionResult ExplainBy(std::string argument) const {
    if (const std::optional<int> op = absence_.FindRefused()) return Unsupported(*op);
    return NamingAll(Infeasible(std::move(argument)));
  }

 private:
  PartitionResult NamingAll(PartitionResult result) const {
    const bool has_limits = !context_.scale.Objective().limits.empty();
    return NamingBlocked(has_limits ? NamingLimits(std::move(result)) : std::move(result));
  }

  // Returns the result after a stop.
  PartitionResult Stopped() const {
    std::string reason = "the search was stopped before a plan was found";
    reason += "; more time may find one";
    if (const std::optional<FullHome> full = absence_.FindFullHomeAlone())
      reason += ", but not layer by layer: " + full->message;
    return NamingBlocked(Unknown(std::move(reason)));
  }

  PartitionResult Unsupported(int op) const {
    const base::Diagnostic& refusal = *paths_.Lattice().Single(op).choices.Refusal();
    std::string reason = refusal.message;
    if (!refusal.expected.empty()) reason += "; expected " + refusal.expected;
    if (!refusal.hint.empty()) reason += "; " + refusal.hint;
    placement::Obstacle obstacle;
    obstacle.kind = placement::ObstacleKind::kEngine;
    obstacle.op = op;
    return {problem::Status::kUnsupported, std::nullopt, reason, std::move(obstacle)};
  }

  PartitionResult Overflowing(const FullHome& home) const {
    PartitionResult result = AmongTried(coverage_, home.message);
    encoder::program::SubgraphChoice alone;
    alone.interval = {home.op, home.op};
    if (const auto full =
            encoder::program::FindOverfullHome(context_.graph, context_.profile, {&alone, 1}))
      result.obstacle = placement::ObstacleOf(context_.graph, context_.profile, *full);
    return result;
  }

  // Returns the result if no path avoids everything that is proven impossible. The first reason is
  // an operator without room in the subgraphs that keep only required tensors.
  PartitionResult WithoutPath() const {
    if (const std::optional<int> op = absence_.FindTightest(/*at_home=*/true))
      return Naming(*op, AmongTried(coverage_, DescribeTightest(*op)));
    if (context_.scale.LimitsPeak())
      return NamingBlocked(NamingLimits(AmongTried(coverage_, DescribeLimits(Within()))));
    const std::optional<int> end = absence_.FarthestCut();
    PartitionResult result = NamingBlocked(AmongTried(coverage_, DescribeNoCover(end)), end);
    if (result.obstacle) result.obstacle->kind = placement::ObstacleKind::kCover;
    return result;
  }

  const std::string& NameOf(int op) const {
    return context_.graph.operators[static_cast<size_t>(op)].id;
  }

  std::string Within() const {
    if (!coverage_.IsCapped()) return "of the network";
    return fmt::format("into subgraphs of at most {} operators", coverage_.most_operators);
  }

  // "operator 'a' fits in no subgraph of at most 12 operators"
  std::string DescribeTightest(int op) const {
    std::string reason = fmt::format("operator '{}' fits in no subgraph", NameOf(op));
    if (coverage_.IsCapped())
      reason += fmt::format(" of at most {} operators", coverage_.most_operators);
    return reason;
  }

  bool IsPeakLimited() const { return context_.Room() < context_.TileMemory().capacity_bytes; }

  // Describes an operator that fits in no subgraph of any length, by the bytes of its operands.
  std::string DescribeLowerBound() const {
    if (IsPeakLimited()) {
      return fmt::format("{}; operator '{}' needs at least {} bytes in the smallest tiles",
                         DescribeLimits("of the network"), NameOf(lower_bounds_.tightest),
                         lower_bounds_.costs.peak_bytes);
    }
    return fmt::format(
        "operator '{}' fits in no subgraph: it needs at least {} bytes in the smallest tiles, {} "
        "are there",
        NameOf(lower_bounds_.tightest), lower_bounds_.costs.peak_bytes, context_.Room());
  }

  // Adds to the result the needs of the operator alone, if it does not fit alone.
  PartitionResult Naming(int op, PartitionResult result) const {
    if (telling_ == Telling::kVerdict) return result;
    std::vector<int> blocked;
    for (const OperatorWithoutRoom& each : absence_.FindWithoutRoom(op)) {
      if (each.op == op) {
        result.obstacle = placement::ObstacleOf(context_.profile, op, each.alone, context_.Room());
        result.reason += Separator(result.reason) + "alone, " + DescribeAlone(each);
      }
      blocked.push_back(each.op);
    }
    if (result.obstacle) result.obstacle->blocked = std::move(blocked);
    return result;
  }

  // Adds to the result the operator that is farthest from fitting alone, preferably one that is not
  // known to fit in any subgraph; `preferred` if that does not fit alone.
  PartitionResult NamingBlocked(PartitionResult result,
                                std::optional<int> preferred = std::nullopt) const {
    if (telling_ == Telling::kVerdict) return result;
    const std::vector<OperatorWithoutRoom> stuck = absence_.FindWithoutRoom(preferred);
    if (stuck.empty()) return result;
    const auto rank = [&](const OperatorWithoutRoom& each) {
      return std::tuple(each.op == preferred, absence_.RoomFor(each.op) != RoomStatus::kSome,
                        Shortage(each));
    };
    const auto worst =
        std::max_element(stuck.begin(), stuck.end(),
                         [&](const OperatorWithoutRoom& a, const OperatorWithoutRoom& b) {
                           return rank(a) < rank(b);
                         });
    placement::Obstacle obstacle =
        placement::ObstacleOf(context_.profile, worst->op, worst->alone, context_.Room());
    for (const OperatorWithoutRoom& each : stuck) obstacle.blocked.push_back(each.op);
    if (result.obstacle) obstacle.limits = std::move(result.obstacle->limits);
    result.obstacle = std::move(obstacle);
    std::string named = fmt::format("operator '{}'", NameOf(worst->op));
    if (stuck.size() == 2) named += " and 1 other";
    if (stuck.size() > 2) named += fmt::format(" and {} others", stuck.size() - 1);
    const bool one = stuck.size() == 1;
    const std::string_view fails = worst->alone.status == problem::Status::kInfeasible
                                       ? (one ? "does not fit" : "do not fit")
                                       : (one ? "was not seen to fit" : "were not seen to fit");
    named += fmt::format(" {} alone: {}", fails, DescribeAlone(*worst));
    if (result.status == problem::Status::kUnknown &&
        absence_.RoomFor(worst->op) != RoomStatus::kSome)
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
      const bool adds_up = plan::FindMetric(limit.metric)->joining == plan::Joining::kSum;
      if (adds_up && limit.op >= 0 && limit.part > 0 && context_.graph.operators.size() > 1)
        result.reason +=
            fmt::format(", a subgraph of '{}' alone takes {}", NameOf(limit.op), limit.part);
    }
    return result;
  }

  problem::Bytes Shortage(const OperatorWithoutRoom& stuck) const {
    return std::max<problem::Bytes>(
        0, stuck.alone.bound.bytes - stuck.alone.longest_bank.value_or(context_.Room()));
  }

  static std::string Separator(const std::string& reason) {
    return reason.find(": ") == std::string::npos ? ": " : "; ";
  }

  // "with tiles of 1x16x1x7 and weights streamed, 'a' needs 1189376 bytes of 'sram' at step 3;
  // 1048576 are there"
  std::string DescribeAlone(const OperatorWithoutRoom& stuck) const {
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
      return how + fmt::format(
                       "needs {} bytes of '{}'{}; {}", alone.bound.bytes, memory,
                       alone.bound.step ? fmt::format(" at step {}", *alone.bound.step) : "",
                       IsPeakLimited() ? fmt::format("the limit on the peak is {}", context_.Room())
                                       : fmt::format("{} are there", context_.Room()));
    }
    const std::string_view none = alone.status == problem::Status::kInfeasible
                                      ? "has no placement"
                                      : "was not seen to have a placement";
    return how + fmt::format("{} in '{}', although only {} of {} bytes are needed at once", none,
                             memory, alone.bound.bytes, context_.Room());
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
    if (absence_.LeavesOutShapes()) {
      const std::string limits = context_.scale.DescribeLimits();
      return fmt::format(
          "nothing {} among the tile shapes that were tried, and there are too many to try all",
          limits.empty() ? "fits" : "keeps the limits (" + limits + ")");
    }
    for (int op = 0; op < coverage_.operators; ++op) {
      if (absence_.RoomFor(op) == RoomStatus::kUndecided) {
        return fmt::format(
            "a limit came before it was known whether operator '{}' fits in any subgraph",
            NameOf(op));
      }
    }
    return "a limit came before a plan was found";
  }

  const choices::SearchContext& context_;
  const paths::PathSearch& paths_;
  paths::SearchCoverage coverage_;
  Absence absence_;
  const LowerBounds& lower_bounds_;
  Telling telling_;
};

}  // namespace

bool IsHopeless(const choices::SearchContext& context, const LowerBounds& lower_bounds) {
  return lower_bounds.costs.peak_bytes > context.Room() ||
         !context.scale.MayKeepLimits(lower_bounds.costs);
}

PartitionResult ExplainAbsence(const choices::SearchContext& context,
                               const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                               Telling telling) {
  return Explanation(context, paths, lower_bounds, telling).Explain();
}

PartitionResult ExplainArgument(const choices::SearchContext& context,
                                const paths::PathSearch& paths, const LowerBounds& lower_bounds,
                                std::string argument) {
  return Explanation(context, paths, lower_bounds, Telling::kObstacle)
      .ExplainBy(std::move(argument));
}

}  // namespace tessera::search::partition::answer
