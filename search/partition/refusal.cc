#include "tessera/search/partition/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tessera/search/allocate/bounds.h"

namespace tessera::search {
namespace {

enum class Room : uint8_t { kSome, kUndecided, kNone };

class Absence {
 public:
  Absence(const Planning& planning, const PathSearch& paths) : planning_(planning), paths_(paths) {}

  PartitionResult Explain() const {
    if (const std::optional<PartitionResult> refused = FindRefusal()) return *refused;
    for (int op = 0; op < paths_.Operators(); ++op) {
      if (RoomFor(op) == Room::kNone)
        return {problem::Status::kInfeasible, std::nullopt, DescribeTightest(op)};
    }
    if (planning_.stop.Requested())
      return {problem::Status::kUnknown, std::nullopt, "stopped before a plan was found"};
    if (!HasPath(false)) return {problem::Status::kInfeasible, std::nullopt, DescribeNoCover()};
    if (!HasPath(true)) {
      const std::string limits = planning_.scale.DescribeLimits();
      return {problem::Status::kInfeasible, std::nullopt,
              fmt::format("no partition {} keeps the limits: {}", Within(), limits)};
    }
    return {problem::Status::kUnknown, std::nullopt, DescribeUndecided()};
  }

 private:
  const std::string& NameOf(int op) const { return planning_.graph.operators[static_cast<size_t>(op)].id; }

  std::string Within() const {
    if (paths_.MostOperators() == paths_.Operators()) return "of the network";
    return fmt::format("into subgraphs of at most {} operators", paths_.MostOperators());
  }

  // Calls visit(choices) for each interval that covers the operator.
  template <typename Visit>
  void ForEachAround(int op, Visit visit) const {
    for (int first = std::max(0, op - paths_.MostOperators() + 1); first <= op; ++first) {
      const int most = std::min(paths_.MostOperators(), paths_.Operators() - first);
      for (int length = op - first + 1; length <= most; ++length) visit(paths_.At(first, length));
    }
  }

  static Room RoomIn(const IntervalChoices& interval) {
    if (!interval.IsOpened()) return Room::kUndecided;
    Room room = Room::kNone;
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

  // An operator that no subgraph around it can run, whatever the room.
  std::optional<PartitionResult> FindRefusal() const {
    for (int op = 0; op < paths_.Operators(); ++op) {
      bool all_refused = true;
      ForEachAround(op,
                    [&](const IntervalChoices& interval) { all_refused &= interval.Refusal().has_value(); });
      if (!all_refused) continue;
      const base::Diagnostic& refusal = *paths_.At(op, 1).Refusal();
      std::string reason = refusal.message;
      if (!refusal.hint.empty()) reason += "; " + refusal.hint;
      return PartitionResult{problem::Status::kUnsupported, std::nullopt, reason};
    }
    return std::nullopt;
  }

  // "operator 'a' fits in no subgraph of at most 12 operators: alone, with a tile of 1x16x1x7, at step 3 the buffers ..."
  std::string DescribeTightest(int op) const {
    const IntervalChoices& single = paths_.At(op, 1);
    std::string reason = fmt::format("operator '{}' fits in no subgraph", NameOf(op));
    if (paths_.MostOperators() < paths_.Operators()) {
      reason += fmt::format(" of at most {} operators", paths_.MostOperators());
    }
    const auto least = std::min_element(
        single.Choices().begin(), single.Choices().end(),
        [](const Choice& a, const Choice& b) { return a.metrics.peak_bytes < b.metrics.peak_bytes; });
    if (least == single.Choices().end()) return reason;
    const problem::Problem problem = single.Tiles().ProblemOf(least->candidate);
    const problem::Bytes capacity = CapacityOf(problem);
    const Bound bound = FindBound(problem, 0);
    const std::vector<int64_t>& tile = single.Tiles().Candidates()[least->candidate].choice.tile;
    reason += fmt::format(": alone, with tiles of {}, ", fmt::join(tile, "x"));
    if (bound.bytes > capacity) return reason + search::Explain(problem, bound, capacity);
    const std::string& why = single.Tiles().Known(least->candidate).reason;
    return reason + fmt::format("no placement exists although only {} of {} bytes are needed at once{}{}",
                                bound.bytes, capacity, why.empty() ? "" : ": ", why);
  }

  problem::Bytes CapacityOf(const problem::Problem& problem) const {
    const problem::Bytes capacity = problem.memories.front().capacity;
    if (!planning_.scale.LimitsPeak()) return capacity;
    return std::min(capacity, static_cast<problem::Bytes>(planning_.scale.PeakLimit()));
  }

  // Whether some path avoids all that is proven impossible; what is undecided counts as fitting.
  bool HasPath(bool within_limits) const {
    std::vector<Arc> arcs;
    for (int first = 0; first < paths_.Operators(); ++first) {
      const int most = std::min(paths_.MostOperators(), paths_.Operators() - first);
      for (int length = 1; length <= most; ++length) {
        const IntervalChoices& interval = paths_.At(first, length);
        Arc arc{.begin = first, .end = first + length, .choice = 0, .cost = {}};
        if (!interval.IsOpened()) {
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
    }
    return FindBestPath(planning_.scale, paths_.Operators(), arcs, {}).has_value();
  }

  std::string DescribeNoCover() const {
    return fmt::format("every operator fits in some subgraph, yet no partition {} fits as a whole", Within());
  }

  std::string DescribeUndecided() const {
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
};

}  // namespace

PartitionResult ExplainAbsence(const Planning& planning, const PathSearch& paths) {
  return Absence(planning, paths).Explain();
}

}  // namespace tessera::search
