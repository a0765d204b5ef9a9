// SPDX-License-Identifier: Apache-2.0

#include "more.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "claims.h"
#include "draw_question.h"
#include "draws.h"
#include "homes_rule.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/partition/partition.h"

// Asks two questions, of which the second allows all that the first allows.
//
//     less      more         must hold
//     a plan    infeasible   never
//     a plan    optimal      no worse than that plan
//     a plan    feasible     no worse once the plan is given as the previous plan
//     a plan    unknown      the same: then there is a plan
//
// Where the answers break this, the plan of the smaller question is priced in the larger one. If it
// costs more there, the costs themselves are not monotone, and the finding reports that instead.
namespace tessera::audit {
namespace {

using base::Random;
using hw_profiles::Memory;
using hw_profiles::Profile;

// Makes `less` or `more` out of two equal questions; false where the change does not apply.
struct Relation {
  std::string_view name;
  bool (*make)(Random& random, PlanRequest& less, PlanRequest& more);
  // The same plan may take less time, and so have a higher ratio over time.
  bool may_be_faster = false;
};

Memory& TileMemory(PlanRequest& question) {
  return question.profile.memories[static_cast<size_t>(question.profile.tile_memory)];
}

Memory& AnyMemory(Random& random, Profile& profile) {
  const auto last = static_cast<int64_t>(profile.memories.size()) - 1;
  return profile.memories[static_cast<size_t>(random.Uniform(0, last))];
}

template <typename List>
auto AnyOf(Random& random, List& list) {
  return list.begin() + random.Uniform(0, static_cast<int64_t>(list.size()) - 1);
}

bool HasStates(const PlanRequest& question) {
  return std::any_of(question.network.tensors.begin(), question.network.tensors.end(),
                     [](const graph::Tensor& tensor) { return tensor.state; });
}

bool MoreTileMemory(Random& random, PlanRequest&, PlanRequest& more) {
  Memory& memory = TileMemory(more);
  if (!memory.banks.empty()) return false;
  memory.capacity_bytes += random.Chance(0.5) ? memory.capacity_bytes : random.Uniform(1, 64);
  return true;
}

bool MoreHome(Random&, PlanRequest&, PlanRequest& more) {
  Memory& memory = more.profile.memories.front();
  memory.capacity_bytes *= 2;
  return memory.capacity_bytes < int64_t{1} << 24;
}

bool MoreBandwidth(Random& random, PlanRequest&, PlanRequest& more) {
  hw_profiles::Port& port = AnyMemory(random, more.profile).port;
  port.read_bytes_per_cycle *= 2;
  port.write_bytes_per_cycle *= 2;
  return true;
}

bool LessLatency(Random& random, PlanRequest&, PlanRequest& more) {
  hw_profiles::Port& port = AnyMemory(random, more.profile).port;
  const bool any = port.read_latency_cycles + port.write_latency_cycles + port.burst_bytes > 1;
  port.read_latency_cycles = port.write_latency_cycles = 0;
  port.burst_bytes = 1;
  return any;
}

bool LessSetup(Random& random, PlanRequest&, PlanRequest& more) {
  return std::exchange(AnyOf(random, more.profile.links)->setup_cycles, 0) > 0;
}

bool MoreDescriptorLoops(Random& random, PlanRequest&, PlanRequest& more) {
  AnyOf(random, more.profile.links)->dims += 1;
  return true;
}

bool MoreTransfersAtOnce(Random& random, PlanRequest&, PlanRequest& more) {
  AnyOf(random, more.profile.links)->outstanding += 1;
  return true;
}

bool MoreOperatorsAtOnce(Random& random, PlanRequest&, PlanRequest& more) {
  AnyOf(random, more.profile.engines)->outstanding += 1;
  return true;
}

bool MoreMacs(Random& random, PlanRequest&, PlanRequest& more) {
  const auto engine = AnyOf(random, more.profile.engines);
  if (engine->blocks) return false;  // others fit then, not all of them faster
  for (hw_profiles::Throughput& throughput : engine->throughputs) {
    throughput.unroll.out_channels *= 2;
    throughput.cycles_per_step /= 2;
  }
  return true;
}

bool MoreFolding(Random& random, PlanRequest&, PlanRequest& more) {
  bool any = false;
  for (hw_profiles::Throughput& throughput : AnyOf(random, more.profile.engines)->throughputs) {
    if (throughput.kind == base::OperatorKind::kDepthwise)
      any = !std::exchange(throughput.fold_channels, true) || any;
  }
  return any;
}

// A measured tile takes as long as before. Its start is a part of that, which other operators may
// hide, so with a shorter start less of it is hidden.
bool LessStart(Random& random, PlanRequest& less, PlanRequest& more) {
  const std::vector<graph::Operator>& operators = less.network.operators;
  if (std::any_of(operators.begin(), operators.end(),
                  [](const graph::Operator& op) { return !op.measured.empty(); }))
    return false;
  for (hw_profiles::Throughput& throughput : AnyOf(random, more.profile.engines)->throughputs) {
    throughput.start_cycles = 0;
    throughput.cycles_per_output /= 2;
  }
  return true;
}

bool LessIdleTime(Random& random, PlanRequest&, PlanRequest& more) {
  return std::exchange(AnyOf(random, more.profile.engines)->idle_cycles_between_tiles, 0) > 0;
}

bool MoreHalos(Random& random, PlanRequest& less, PlanRequest&) {
  std::vector<hw_profiles::HaloStorage>& halo = less.profile.tiling.halo;
  if (halo.size() < 2) return false;
  halo.erase(AnyOf(random, halo));
  return true;
}

bool MoreWeights(Random& random, PlanRequest& less, PlanRequest&) {
  std::vector<hw_profiles::WeightPolicy>& weights = less.profile.tiling.weights;
  if (weights.size() < 2) return false;
  weights.erase(AnyOf(random, weights));
  return std::any_of(weights.begin(), weights.end(),
                     [](auto each) { return each != hw_profiles::WeightPolicy::kSplitK; });
}

// At home outside the tile memory, states and their next values are moved like inputs and outputs,
// which are there for a shorter time and may be cut, kept and overwritten in more ways.
bool FewerStates(Random&, PlanRequest& less, PlanRequest& more) {
  const auto layout_of = [](PlanRequest & question, base::TensorRole role) -> auto& {
    return question.profile.roles[static_cast<size_t>(role)];
  };
  const hw_profiles::RoleLayout layout = layout_of(less, base::TensorRole::kState);
  const bool elsewhere = layout.home != less.profile.tile_memory && layout.next_homes.empty();
  if (!elsewhere || !less.profile.rules.empty() || !HasStates(less)) return false;
  for (PlanRequest* question : {&less, &more}) {
    layout_of(*question, base::TensorRole::kNetworkInput) = layout;
    layout_of(*question, base::TensorRole::kNetworkOutput) = layout;
  }
  for (graph::Tensor& tensor : more.network.tensors) {
    tensor.network_input = tensor.network_input || tensor.state;
    tensor.state = false;
    tensor.next_of = -1;
  }
  return true;
}

// A state is replaced by its next value where a kind may work in place, under every policy. It is
// no choice of the search.
bool MoreInPlace(Random& random, PlanRequest& less, PlanRequest&) {
  std::vector<base::OperatorKind>& kinds = less.profile.tiling.in_place;
  if (kinds.empty() || HasStates(less)) return false;
  kinds.erase(AnyOf(random, kinds));
  return true;
}

bool MoreAxes(Random& random, PlanRequest& less, PlanRequest&) {
  std::vector<hw_profiles::AxisGranularity>& axes = less.profile.tiling.axes;
  if (axes.empty()) return false;
  axes.erase(AnyOf(random, axes));
  return true;
}

// The same tiles are allowed; what is tried first differs.
bool AxesAtOnce(Random& random, PlanRequest& less, PlanRequest& more) {
  std::vector<hw_profiles::AxisGranularity>& axes = less.profile.tiling.axes;
  if (axes.empty()) return false;
  const auto axis = AnyOf(random, axes);
  axis->later = true;
  more.profile.tiling.axes[static_cast<size_t>(axis - axes.begin())].later = false;
  return true;
}

bool FinerAxes(Random& random, PlanRequest& less, PlanRequest&) {
  std::vector<hw_profiles::AxisGranularity>& axes = less.profile.tiling.axes;
  if (axes.empty()) return false;
  AnyOf(random, axes)->granularity *= random.Uniform(2, 3);
  return true;
}

bool FinerKExtent(Random&, PlanRequest& less, PlanRequest&) {
  const auto& weights = less.profile.tiling.weights;
  less.profile.tiling.k_granularity *= 2;
  return std::find(weights.begin(), weights.end(), hw_profiles::WeightPolicy::kSplitK) !=
         weights.end();
}

bool MoreOrders(Random&, PlanRequest& less, PlanRequest&) {
  less.ordering = search::partition::answer::Ordering::kGiven;
  return less.network.operators.size() > 2;
}

bool MoreKept(Random&, PlanRequest& less, PlanRequest&) {
  less.keeping = search::partition::paths::Keeping::kNothing;
  return less.network.operators.size() > 1;
}

bool LongerSubgraphs(Random& random, PlanRequest& less, PlanRequest& more) {
  const auto operators = static_cast<int64_t>(less.network.operators.size());
  if (operators < 2) return false;
  less.max_operators = static_cast<int>(random.Uniform(1, operators - 1));
  if (random.Chance(0.5)) more.max_operators = *less.max_operators + 1;
  return true;
}

bool NamesOverTime(const plan::Objective& objective) {
  const auto names = [](const auto& metrics) {
    return std::any_of(metrics.begin(), metrics.end(), [](const auto& each) {
      return each.first == "power" || each.first.starts_with("bandwidth");
    });
  };
  return names(objective.weights) || names(objective.limits);
}

bool FewerLimits(Random& random, PlanRequest& less, PlanRequest& more) {
  if (less.objective.limits.empty()) return false;
  auto limit = more.objective.limits.begin();
  std::advance(limit, random.Uniform(0, static_cast<int64_t>(more.objective.limits.size()) - 1));
  // A ratio alone needs its limit on the latency.
  if (limit->first != "latency" && random.Chance(0.5)) {
    more.objective.limits.erase(limit);
  } else {
    limit->second *= 1.25;
  }
  return true;
}

bool MoreEffort(Random& random, PlanRequest& less, PlanRequest& more) {
  less.effort = random.Uniform(10, 3000);
  more.effort = 10 * search::partition::answer::kUsualEffort;
  return true;
}

bool MorePrefetch(Random&, PlanRequest&, PlanRequest& more) {
  more.prefetch = true;
  return more.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
}

bool MoreSharing(Random&, PlanRequest&, PlanRequest& more) {
  more.off_chip = plan::OffChip::kTileAware;
  return true;
}

// Where banks have modes, a profile always allows both.
bool MaySerialize(Random&, PlanRequest& less, PlanRequest& more) {
  if (TileMemory(less).modes.size() > 1) return false;
  less.profile.tiling.may_serialize = false;
  more.profile.tiling.may_serialize = true;
  return more.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
}

bool FewerRules(Random& random, PlanRequest&, PlanRequest& more) {
  if (more.profile.rules.empty()) return false;
  more.profile.rules.erase(AnyOf(random, more.profile.rules));
  return true;
}

bool FinerAlignment(Random& random, PlanRequest& less, PlanRequest&) {
  if (!less.profile.rules.empty() || !TileMemory(less).banks.empty()) return false;
  if (random.Chance(0.3)) {
    AnyMemory(random, less.profile).alignment_bytes *= 2;
  } else {
    AnyOf(random, less.profile.roles)->alignment_bytes *= 2;
  }
  return true;
}

bool FewerModes(Random& random, PlanRequest&, PlanRequest& more) {
  Memory& memory = TileMemory(more);
  if (memory.banks.empty()) return false;
  switch (random.Uniform(0, 3)) {
    case 0:
      memory.modes.clear();
      memory.transitions.reset();
      return true;
    case 1:
      return std::exchange(memory.transitions, std::nullopt).has_value();
    case 2:
      memory.span = problem::Span::kAny;
      return true;
    default:
      for (problem::Bank& bank : memory.banks) bank.ports = {};
      return true;
  }
}

bool FewerReserved(Random&, PlanRequest&, PlanRequest& more) {
  Memory& memory = TileMemory(more);
  return !std::exchange(memory.reserved, {}).empty();
}

bool LessScratch(Random&, PlanRequest&, PlanRequest& more) {
  if (!more.profile.rules.empty()) return false;
  const bool any = !more.profile.scratch.empty() || more.profile.table_bytes_per_channel > 0;
  more.profile.scratch.clear();
  more.profile.table_bytes_per_channel = 0;
  return any;
}

constexpr std::array kRelations = {Relation{"tile memory", MoreTileMemory},
                                   Relation{"home memory", MoreHome},
                                   Relation{"bandwidth", MoreBandwidth, true},
                                   Relation{"latency of a memory", LessLatency, true},
                                   Relation{"setup of a link", LessSetup, true},
                                   Relation{"loops of a descriptor", MoreDescriptorLoops, true},
                                   Relation{"transfers at once", MoreTransfersAtOnce, true},
                                   Relation{"operators at once", MoreOperatorsAtOnce, true},
                                   Relation{"MACs per cycle", MoreMacs, true},
                                   Relation{"folded channels", MoreFolding, true},
                                   Relation{"start cycles", LessStart, true},
                                   Relation{"idle cycles", LessIdleTime, true},
                                   Relation{"halo policies", MoreHalos},
                                   Relation{"weight policies", MoreWeights},
                                   Relation{"kinds in place", MoreInPlace},
                                   Relation{"states as inputs", FewerStates},
                                   Relation{"axes", MoreAxes},
                                   Relation{"axes at once", AxesAtOnce},
                                   Relation{"step of an axis", FinerAxes},
                                   Relation{"step along K", FinerKExtent},
                                   Relation{"orders", MoreOrders},
                                   Relation{"boundary tensors kept", MoreKept},
                                   Relation{"operators per subgraph", LongerSubgraphs},
                                   Relation{"limits", FewerLimits},
                                   Relation{"effort", MoreEffort},
                                   Relation{"prefetch", MorePrefetch},
                                   Relation{"bytes shared by tiles", MoreSharing},
                                   Relation{"may_serialize", MaySerialize},
                                   Relation{"rules", FewerRules},
                                   Relation{"alignment", FinerAlignment},
                                   Relation{"banks and modes", FewerModes},
                                   Relation{"reserved ranges", FewerReserved},
                                   Relation{"scratch and tables", LessScratch, true}};

// The cost of the smaller question's plan in the larger one: its score there, with the bounds of
// the answer to compare it with.
std::optional<double> ScoreIn(const PlanRequest& more, const plan::Plan& plan) {
  plan::files::Draft draft = DraftOf(plan);
  draft.profile = more.profile;
  draft.objective = more.objective;
  search::partition::answer::EvaluateOptions options;
  options.engines = UsualEngines();
  const auto evaluated = search::partition::Evaluate(draft, options);
  if (!evaluated || !evaluated->plan) return std::nullopt;
  return evaluated->plan->score;
}

class Comparison {
 public:
  Comparison(std::string_view relation, const PlanRequest& less, const PlanRequest& more, Run& run)
      : relation_(relation), less_(less), more_(more), run_(run) {}

  void Check(const Answer& small) {
    if (!small.plan) return;
    const Answer large = run_.Ask(more_);
    if (!large.fault.empty()) return;
    run_.Count("pairs");
    if (large.IsInfeasible() || large.status == problem::Status::kUnsupported)
      return Report("more is infeasible", small, large);
    if (large.IsOptimal() && IsWorse(large, small)) return Report("more is worse", small, large);
    if (large.plan && !IsWorse(large, small)) return;
    run_.Count("previous plans");
    more_.previous = small.plan;
    const Answer again = run_.Ask(more_);
    if (!again.fault.empty()) return;
    if (!again.plan) return Report("older plan is lost", small, again);
    if (IsWorse(again, small)) Report("older plan is better", small, again);
  }

 private:
  bool IsWorse(const Answer& large, const Answer& small) const {
    const plan::Metrics& bounds = large.plan->lower_bounds;
    return IsLess(ScoreUnder(more_.objective, bounds, small.plan->totals),
                  ScoreUnder(more_.objective, bounds, large.plan->totals));
  }

  void Report(const std::string& kind, const Answer& small, const Answer& large) {
    const std::optional<double> there = ScoreIn(more_, *small.plan);
    std::string suffix;
    if (!there) {
      suffix = ", and the plan of less does not fit there";
    } else if (IsLess(small.plan->score, *there) && more_.objective.weights.size() == 1) {
      suffix = ", and the plan of less costs more there";
    }
    run_.Report(
        {fmt::format("{}: {}{}", relation_, kind, suffix),
         fmt::format("less: {}; more: {}; the plan of less scores {} there", Describe(small),
                     Describe(large), there ? fmt::format("{}", *there) : "nothing"),
         more_,
         {{"less.json", plan::files::WritePlanJson(*small.plan)}},
         {"# less: the plan is less.json, asked by: " + CommandOf(less_)}});
  }

  const std::string_view relation_;
  const PlanRequest& less_;
  PlanRequest more_;
  Run& run_;
};

}  // namespace

PlanRequest DrawAny(base::Random& random) {
  const int most = random.Chance(0.1) ? 16 : random.Chance(0.2) ? 8 : 5;
  PlanRequest question = DrawPlanRequest(random, most);
  if (!random.Chance(0.3)) return question;
  const Answer answer = Ask(question);
  if (answer.plan) DrawLimits(random, answer.plan->totals, question.objective);
  return question;
}

void CheckMore(const PlanRequest& question, uint64_t seed, Run& run) {
  Random random(seed);
  const Answer base = run.Ask(question);
  for (int drawn = 0; drawn < 4;) {
    const Relation& relation = OneOf(random, kRelations);
    PlanRequest less = question;
    PlanRequest more = question;
    Random own(random.Next());
    ++drawn;
    if (!relation.make(own, less, more)) continue;
    if (relation.may_be_faster && NamesOverTime(question.objective)) {
      run.Count("ratios over time");
      continue;
    }
    // More of a resource may give other tensors the better homes; the counts record what is left
    // out.
    if (HomesByRule(less.network, less.profile) != HomesByRule(more.network, more.profile)) {
      run.Count("other homes");
      continue;
    }
    // Mostly the question itself is one of the two, and its answer is known.
    const bool is_base = CommandOf(less) == CommandOf(question) && less.effort == question.effort &&
                         hw_profiles::WriteProfileJson(less.profile) ==
                             hw_profiles::WriteProfileJson(question.profile);
    const Answer small = is_base ? base : run.Ask(less);
    // A network that fits is planned as it is, even if another one would have a better plan.
    if (IsRewritten(less, small)) {
      run.Count("rewritten");
      continue;
    }
    if (small.fault.empty()) Comparison(relation.name, less, more, run).Check(small);
  }
}

}  // namespace tessera::audit
