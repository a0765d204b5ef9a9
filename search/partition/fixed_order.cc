#include "tessera/search/partition/fixed_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "tessera/encoder/adapt/homes.h"
#include "tessera/plan/validator.h"
#include "tessera/search/partition/assemble.h"
#include "tessera/search/partition/colliding_demands.h"
#include "tessera/search/partition/demand_faults.h"
#include "tessera/search/partition/joint.h"
#include "tessera/search/partition/path_search.h"
#include "tessera/search/partition/peak_floor.h"
#include "tessera/search/partition/pricing.h"
#include "tessera/search/partition/refusal.h"
#include "tessera/search/partition/rejections.h"

namespace tessera::search {
namespace {

constexpr size_t kMostAttempts = 8;

struct Attempted {
  std::optional<plan::Plan> best;
  Selection selection;  // behind it
  int failed = 0;       // joint Problems proven impossible
  int undecided = 0;    // joint Problems that met a limit
  std::string last_reason;
  std::optional<Obstacle> obstacle;  // behind it
  bool settled = false;              // no further selection can beat `best`
};

// Where the engines or the encoder are at fault nothing that was found can be trusted.
std::optional<base::Diagnostic> FindEngineFault(const PathSearch& paths) {
  for (const IntervalChoices& interval : paths.Intervals()) {
    if (interval.Fault() != nullptr) return *interval.Fault();
  }
  return std::nullopt;
}

base::Expected<bool> TrySelections(const Planning& planning, const Demands& demands, PathSearch& paths,
                                   Attempted& attempted) {
  for (size_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::optional<Selection> selection = paths.FindBest();
    const bool stopped = paths.IsCutShort();
    if (!selection && stopped && !attempted.best) selection = paths.FindKnown();
    if (!selection || (attempted.best && planning.scale.ScoreOf(selection->cost) >= attempted.best->score)) {
      attempted.settled = !stopped;
      break;
    }
    base::Expected<JointPlacement> joint = PlaceJointly(planning, demands, *selection);
    if (!joint) return base::Unexpected(joint.error());
    if (joint->result.allocation) {
      plan::Plan plan = AssemblePlan(planning, *selection, *joint);
      if (!attempted.best || plan.score < attempted.best->score) {
        attempted.best = std::move(plan);
        attempted.selection = *selection;
      }
      const bool as_promised = attempted.best->score <= planning.scale.ScoreOf(selection->cost);
      attempted.settled = as_promised && !stopped;
      if (as_promised) break;
    } else {
      (joint->result.status == problem::Status::kInfeasible ? attempted.failed : attempted.undecided)++;
      attempted.last_reason = joint->result.reason;
      attempted.obstacle = std::move(joint->obstacle);
    }
    if (stopped && (attempted.best || paths.MayKeep())) break;
    paths.Forbid(*selection);
  }
  return attempted.best.has_value();
}

// What is kept on chip must keep one address throughout, and the best selections may all fail by that; those that keep nothing
// rarely do. And what was left out for want of effort may be all that fits.
base::Expected<Attempted> TrySelections(const Planning& planning, const Demands& demands, PathSearch& paths) {
  Attempted attempted;
  base::Expected<bool> found = TrySelections(planning, demands, paths, attempted);
  if (found && !*found && !paths.IsCutShort() && paths.Widen())
    found = TrySelections(planning, demands, paths, attempted);
  if (found && !*found && !attempted.settled && paths.MayKeep()) {
    paths.KeepNothing();
    found = TrySelections(planning, demands, paths, attempted);
    attempted.settled = false;
  }
  if (!found) return base::Unexpected(found.error());
  return attempted;
}

bool IsCapped(const PathSearch& paths) { return paths.MostOperators() < paths.Operators(); }

// A plan that meets its own lower bound is best whatever was left open.
std::string_view StatusOf(const Planning& planning, const PathSearch& paths, const Attempted& attempted,
                          const plan::Metrics& lower_bounds) {
  if (attempted.best->score <= planning.scale.ScoreOf(lower_bounds)) return "optimal";
  const bool all_decided = attempted.settled && attempted.undecided == 0 && !paths.AnyGivenUp();
  return all_decided && !paths.UntriedCouldBeat(attempted.best->score) ? "optimal" : "feasible";
}

// States whose next values lie elsewhere when the program is over.
void NoteStatesApart(const plan::Plan& plan, std::vector<std::string>& notes) {
  const auto tensor_of = [&plan](int buffer) { return plan.buffers[static_cast<size_t>(buffer)].tensor; };
  for (size_t next = 0; next < plan.network.tensors.size(); ++next) {
    const int state = plan.network.tensors[next].next_of;
    const std::vector<problem::Relation>& relations = plan.problem.relations;
    const bool in_place =
        state < 0 || std::any_of(relations.begin(), relations.end(), [&](const problem::Relation& relation) {
          return relation.kind == problem::RelationKind::kColocate && tensor_of(relation.first) == state &&
                 tensor_of(relation.second) == static_cast<int>(next);
        });
    if (in_place) continue;
    notes.push_back(
        fmt::format("state '{}' is not written in its place: whoever runs the program copies '{}' there",
                    plan.network.tensors[static_cast<size_t>(state)].id, plan.network.tensors[next].id));
  }
}

std::vector<std::string> NotesOn(const Planning& planning, const PathSearch& paths, const Demands& demands,
                                 const Attempted& attempted, const plan::Plan& plan) {
  std::vector<std::string> notes;
  std::vector<std::string> scope;
  if (!demands.IsEmpty()) scope.push_back("as demanded, " + Describe(planning.graph, demands.All()));
  if (IsCapped(paths))
    scope.push_back(fmt::format("subgraphs were capped at {} operators", paths.MostOperators()));
  const std::string_view beside = demands.KeepAny() ? ", but for those that are demanded" : "";
  if (paths.LeavesOutKept()) {
    scope.push_back(fmt::format("borders between subgraphs were not kept on chip{}", beside));
  } else if (paths.SpillsAll()) {
    scope.push_back(fmt::format("borders between subgraphs were brought home{}", beside));
  } else if (paths.CapsKept()) {
    scope.push_back(fmt::format("at most {} borders were kept on chip at a cut{}", kMostKept, beside));
  }
  const bool best_of_all = plan.score <= planning.scale.ScoreOf(plan.lower_bounds);
  for (std::string& note : scope) {
    if (plan.status == "optimal" && !best_of_all) note += ": optimal among such plans";
    notes.push_back(std::move(note));
  }
  if (!best_of_all && paths.UntriedCouldBeat(attempted.best->score))
    notes.emplace_back(
        "not all tile shapes were tried: lower bounds do not rule out a better plan among the others");
  if (paths.AnyGivenUp()) notes.emplace_back("a limit left some tiles undecided; they count as not fitting");
  if (paths.IsCutShort() && !attempted.settled)
    notes.emplace_back("the search was stopped; this is the best plan known then");
  if (attempted.failed + attempted.undecided > 0) {
    notes.push_back(
        fmt::format("{} better combinations fit subgraph by subgraph but not jointly ({} of them undecided)",
                    attempted.failed + attempted.undecided, attempted.undecided));
  }
  if (std::any_of(plan.baseline.do_not_fit.begin(), plan.baseline.do_not_fit.end(),
                  [&paths](int op) { return !paths.Single(op).ProvenEmpty(); })) {
    notes.emplace_back(
        "of some operators left out of the baseline it is not proven that they do not fit alone");
  }
  NoteStatesApart(plan, notes);
  return notes;
}

PartitionResult WithoutPlan(const Planning& planning, const PathSearch& paths, const Attempted& attempted,
                            const Floors& floors) {
  const int tried = attempted.failed + attempted.undecided;
  if (tried == 0) return ExplainAbsence(planning, paths, floors);
  const std::string text = fmt::format("{} combination{} of subgraphs fit{} one by one, yet not jointly{}{}",
                                       tried, tried == 1 ? "" : "s", tried == 1 ? "s" : "",
                                       attempted.last_reason.empty() ? "" : ": ", attempted.last_reason);
  const bool proven = attempted.settled && attempted.undecided == 0 && !paths.AnyGivenUp() &&
                      !IsCapped(paths) && !paths.CapsKept() && !paths.LeavesOutKept() &&
                      !paths.UntriedCouldBeat(std::numeric_limits<double>::infinity());
  return {proven ? problem::Status::kInfeasible : problem::Status::kUnknown, std::nullopt,
          paths.SpillsAll() ? text + std::string(kAllSpilled) : text, attempted.obstacle};
}

base::Expected<PartitionResult> Verified(plan::Plan plan) {
  if (auto fault = FindFault(plan)) return base::Unexpected(*std::move(fault));
  const bool optimal = plan.status == "optimal";
  PartitionResult result;
  result.status = optimal ? problem::Status::kOptimal : problem::Status::kFeasible;
  result.plan = std::move(plan);
  return result;
}

// Where no plan was found.
base::Expected<PartitionResult> Decline(const OrderedNetwork& network, const PartitionOptions& options,
                                        const PathSearch& paths, const Attempted& attempted,
                                        const Floors& floors, const Reach& reach) {
  PartitionResult result = WithoutPlan(network.Planning(), paths, attempted, floors);
  if (network.Demands().IsEmpty()) return result;
  const DemandProbe probe{network.Planning(), floors, options.keeping, reach, options.threads};
  return BlameDemands(probe, network.Demands().All(), std::move(result));
}

}  // namespace

std::optional<base::Diagnostic> FindFault(const plan::Plan& plan) {
  std::vector<std::string> faults;
  for (const plan::Violation& violation : plan::Validate(plan, 3)) faults.push_back(violation.message);
  if (faults.empty()) return std::nullopt;
  base::Diagnostic failure;
  failure.message = "the plan that was found fails its own check";
  failure.found = fmt::format("{}", fmt::join(faults, "; "));
  failure.hint = "this is a fault of the program, not of the input; please report it with the input";
  return failure;
}

// The longest intervals such that all of them together have as many operators as those of a network of 64 (64 * 65 * 66 / 6).
Reach ReachFor(const graph::Graph& graph, const Scale& scale, const PartitionOptions& options) {
  constexpr int64_t kMostVisited = 45'760;
  if (options.max_operators) return {.most_operators = *options.max_operators, .effort = {}};
  const auto operators = static_cast<int64_t>(graph.operators.size());
  int64_t most = 0;
  int64_t visited = 0;
  while (most < operators && (most < kUsualMostOperators || visited <= kMostVisited)) {
    ++most;
    visited += most * (operators - most + 1);
  }
  // Where peaks count, paths are harder to compare.
  return {.most_operators = static_cast<int>(most),
          .effort = scale.MinimizesPeak() ? options.effort / 4 : options.effort};
}

base::Expected<FixedOrderResult> SearchFixedOrder(const OrderedNetwork& network,
                                                  const PartitionOptions& options, const Floors& floors,
                                                  std::span<PathSearch* const> before) {
  const Planning& planning = network.Planning();
  const Demands& demands = network.Demands();
  const Reach reach = ReachFor(network.Graph(), planning.scale, options);
  FixedOrderResult found;
  const std::vector<Ordered> orders = {network.AsOrdered()};
  found.paths =
      std::make_unique<PathSearch>(orders, reach, Besides{}, options.threads, options.progress, before);
  PathSearch& paths = *found.paths;
  paths.PoseSingles();
  if (IsHopeless(planning, floors)) {
    found.result = ExplainAbsence(planning, paths, floors);
    found.whatever_the_order = true;
    return found;
  }
  paths.DecideSingles();  // the baseline, and something to fall back on
  paths.FindBounds();
  base::Expected<Attempted> attempted = TrySelections(planning, demands, paths);
  if (!attempted) return base::Unexpected(attempted.error());
  if (auto fault = FindEngineFault(paths)) return base::Unexpected(*fault);
  if (!attempted->best) {
    base::Expected<PartitionResult> declined = Decline(network, options, paths, *attempted, floors, reach);
    if (!declined) return base::Unexpected(declined.error());
    found.result = *std::move(declined);
    found.whatever_the_order = found.result.status == problem::Status::kUnsupported;
    return found;
  }
  paths.DecideSingles();  // of those that were extended meanwhile

  plan::Plan plan = *attempted->best;
  paths.PoseRefused(attempted->selection, kMostRejected);
  for (size_t s = 0; s < plan.subgraphs.size(); ++s)
    plan.subgraphs[s].rejected = RejectionsOf(planning, paths, attempted->selection, s);
  plan.status = StatusOf(planning, paths, *attempted, floors.costs);
  plan.baseline = AssembleBaseline(planning, paths);
  plan.lower_bounds = floors.costs;
  plan.notes = NotesOn(planning, paths, demands, *attempted, plan);
  plan.demands = demands.All();
  plan.version = options.version;
  plan.seed = options.seed;
  found.whatever_the_order = plan.score <= planning.scale.ScoreOf(floors.costs);
  base::Expected<PartitionResult> verified = Verified(std::move(plan));
  if (!verified) return base::Unexpected(verified.error());
  found.result = *std::move(verified);
  return found;
}

}  // namespace tessera::search
