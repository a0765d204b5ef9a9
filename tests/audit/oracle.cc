// SPDX-License-Identifier: Apache-2.0

#include "oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "homes_rule.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/metrics.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/graph/random_graph.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::audit {
namespace {

using encoder::program::Policy;
using encoder::program::SubgraphChoice;
using graph::Graph;
using graph::Interval;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::Bytes;
using problem::Problem;
using problem::Status;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Latency, energy, off-chip bytes and MACs, which add up along a plan, and the peak bandwidth and
// the off-chip peak, the maxima of its subgraphs. The off-chip peak of a whole plan is that of its
// placement.
constexpr size_t kOffChipPeak = 5;
using Sums = std::array<double, 6>;
constexpr std::array<std::string_view, 6> kSummed = {"latency", "energy",         "off_chip_bytes",
                                                     "macs",    "bandwidth_peak", "off_chip_peak"};
constexpr std::array<std::string_view, 2> kRatios = {"power", "bandwidth_average"};

// Score, latency, energy, off-chip bytes, peak, compared in this order.
using Rank = std::array<double, 5>;

Sums Add(const Sums& a, const Sums& b) {
  return {a[0] + b[0], a[1] + b[1],          a[2] + b[2],
          a[3] + b[3], std::max(a[4], b[4]), std::max(a[5], b[5])};
}

bool Precedes(const Rank& a, const Rank& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (IsLess(a[i], b[i])) return true;
    if (IsLess(b[i], a[i])) return false;
  }
  return false;
}

// One tile configuration of an interval.
struct TileConfig {
  graph::tiling::TileShape tile;
  Policy policy;
  Sums costs = {};
  Problem problem;
  Bytes low = 0;             // no peak is lower; exact once the least peak was computed
  bool is_exact = false;     // `low` is the least peak
  std::optional<bool> fits;  // once decided
};

struct Limit {
  std::string why;
};

class Oracle {
 public:
  Oracle(const PlanRequest& question, const std::map<std::string, double>& weights,
         const OracleLimits& limits)
      : question_(question),
        network_(AtHome(question.network, question.profile)),
        limits_(limits),
        stop_(base::Stop::Clock::now() + std::chrono::duration_cast<base::Stop::Clock::duration>(
                                             std::chrono::duration<double>(limits.seconds))) {
    for (size_t i = 0; i < kSummed.size(); ++i) {
      const std::string name(kSummed[i]);
      if (const auto weight = weights.find(name); weight != weights.end())
        weights_[i] = weight->second;
      const auto limit = question.objective.limits.find(name);
      most_[i] = limit == question.objective.limits.end() ? kNever : limit->second;
    }
    if (const auto weight = weights.find("peak"); weight != weights.end())
      peak_weight_ = weight->second;
    for (const std::string_view ratio : kRatios) {
      if (const auto weight = weights.find(std::string(ratio)); weight != weights.end())
        ratio_weights_[weight->first] = weight->second;
      if (const auto limit = question.objective.limits.find(std::string(ratio));
          limit != question.objective.limits.end())
        ratio_limits_[limit->first] = limit->second;
    }
    capacity_ = TileMemory().capacity_bytes;
    hands_on_ = std::any_of(question.network.tensors.begin(), question.network.tensors.end(),
                            [](const graph::Tensor& tensor) { return tensor.next_of >= 0; });
    if (const auto limit = question.objective.limits.find("peak");
        limit != question.objective.limits.end()) {
      if (limit->second < static_cast<double>(capacity_))
        capacity_ = static_cast<Bytes>(limit->second);
    }
  }

  OracleAnswer Run() {
    OracleAnswer answer;
    try {
      FindOrders();
      best_.fill(kNever);
      for (const std::vector<int>& order : orders_) Walk(order);
      if (best_[0] == kNever) {
        answer.verdict = OracleAnswer::EngineAnswer::kNone;
        return answer;
      }
      answer.verdict = OracleAnswer::EngineAnswer::kBest;
    } catch (const Limit& limit) {
      answer.why = limit.why;
      return answer;
    }
    try {
      steps_ = 0;
      breaks_ties_ = true;
      const double score = best_[0];
      best_.fill(kNever);
      best_[0] = score;
      for (const std::vector<int>& order : orders_) Walk(order);
      answer.ties = true;
    } catch (const Limit&) {
      answer.ties = false;
    }
    answer.least = best_;
    answer.draft = draft_;
    answer.totals = totals_;
    answer.choices = choices_;
    return answer;
  }

 private:
  // State of the walk along an order.
  struct Walking {
    Graph network;
    std::vector<graph::Usage> usages;
    std::vector<int> order;
    // From here to the end.
    std::map<std::pair<int, std::vector<int>>, std::pair<Sums, double>> least;
  };

  struct Step {
    Rank least = {};
    TileConfig* config = nullptr;
    int last = 0;
    std::vector<int> behind;  // tensors that stay on chip where it ends
  };

  const hw_profiles::Memory& TileMemory() const {
    return question_.profile.memories[static_cast<size_t>(question_.profile.tile_memory)];
  }

  void FindOrders() {
    const std::vector<std::vector<int>> before = graph::DependenciesOf(question_.network);
    std::vector<int> order;
    std::vector<char> done(before.size(), 0);
    ExtendOrder(before, order, done);
  }

  void ExtendOrder(const std::vector<std::vector<int>>& before, std::vector<int>& order,
                   std::vector<char>& done) {
    if (order.size() == before.size()) {
      if (static_cast<int64_t>(orders_.size()) == limits_.orders) throw Limit{"orders"};
      orders_.push_back(order);
      return;
    }
    for (size_t op = 0; op < before.size(); ++op) {
      const bool ready = std::all_of(before[op].begin(), before[op].end(), [&](int each) {
        return done[static_cast<size_t>(each)] != 0;
      });
      if (done[op] != 0 || !ready) continue;
      done[op] = 1;
      order.push_back(static_cast<int>(op));
      ExtendOrder(before, order, done);
      order.pop_back();
      done[op] = 0;
    }
  }

  void Walk(const std::vector<int>& order) {
    Graph network = graph::Reordered(network_, order);
    std::vector<graph::Usage> usages = graph::UsagesOf(network);
    Walking walking{std::move(network), std::move(usages), order, {}};
    std::vector<SubgraphChoice> none;
    Complete(walking, 0, {}, none, {}, 0);
  }

  double ScoreOf(const Sums& sums, double peak) const {
    double score = peak_weight_ * peak;
    for (size_t i = 0; i < sums.size(); ++i) score += weights_[i] * sums[i];
    return score;
  }

  Rank RankOf(const Sums& sums, double peak) const {
    return {ScoreOf(sums, peak), sums[0], sums[1], sums[2], peak};
  }

  bool MayGain(const Rank& least) const {
    return breaks_ties_ ? Precedes(least, best_) : IsLess(least[0], best_[0]) || best_[0] == kNever;
  }

  bool IsWithinLimits(const Sums& sums) const {
    for (size_t i = 0; i < sums.size(); ++i) {
      if (IsLess(most_[i], sums[i])) return false;
    }
    return true;
  }

  void Count() {
    if (++steps_ > limits_.steps) throw Limit{"steps"};
    if (stop_.Requested()) throw Limit{"time"};
  }

  // The least sums and peak of the rest of the network.
  const std::pair<Sums, double>& LeastFrom(Walking& walking, int first,
                                           const std::vector<int>& crossing) {
    const auto [place, is_new] = walking.least.try_emplace({first, crossing});
    if (!is_new) return place->second;
    if (first == static_cast<int>(walking.network.operators.size())) return place->second = {{}, 0};
    std::pair<Sums, double> least = {{}, kNever};
    least.first.fill(kNever);
    for (int last = first; last < static_cast<int>(walking.network.operators.size()); ++last) {
      for (const auto& [kept, behind] : SetsOf(walking, first, last, crossing)) {
        const std::vector<TileConfig>& configs = ConfigsOf(walking, {first, last}, kept);
        if (configs.empty()) continue;
        const auto& [rest, peak] = LeastFrom(walking, last + 1, behind);
        for (const TileConfig& config : configs) {
          const Sums sums = Add(config.costs, rest);
          for (size_t i = 0; i < sums.size(); ++i)
            least.first[i] = std::min(least.first[i], sums[i]);
          least.second = std::min(least.second, std::max(static_cast<double>(config.low), peak));
        }
      }
    }
    return walking.least[{first, crossing}] = least;
  }

  // Every set of boundary tensors that may be kept on chip around the interval, with those of them
  // that stay behind it.
  std::vector<std::pair<std::vector<int>, std::vector<int>>> SetsOf(
      const Walking& walking, int first, int last, const std::vector<int>& crossing) const {
    const Profile& profile = question_.profile;
    std::vector<int> made;
    for (int tensor = 0; tensor < static_cast<int>(walking.network.tensors.size()); ++tensor) {
      const graph::Usage& usage = walking.usages[static_cast<size_t>(tensor)];
      if (usage.producer < first || usage.producer > last || usage.consumers.empty()) continue;
      const bool is_boundary = graph::RoleIn(walking.network, usage, tensor, {first, last}) ==
                               base::TensorRole::kBoundary;
      if (is_boundary && usage.consumers.back() > last) made.push_back(tensor);
    }
    if (hw_profiles::LayoutOf(profile, base::TensorRole::kBoundary).home == profile.tile_memory)
      made.clear();
    std::vector<std::pair<std::vector<int>, std::vector<int>>> sets;
    for (uint64_t set = 0; set < uint64_t{1} << made.size(); ++set) {
      std::vector<int> kept = crossing;
      for (size_t i = 0; i < made.size(); ++i) {
        if (((set >> i) & 1U) != 0) kept.push_back(made[i]);
      }
      std::sort(kept.begin(), kept.end());
      std::vector<int> behind = kept;
      std::erase_if(behind, [&](int tensor) {
        return walking.usages[static_cast<size_t>(tensor)].consumers.back() <= last;
      });
      sets.emplace_back(std::move(kept), std::move(behind));
    }
    return sets;
  }

  void Complete(Walking& walking, int first, const std::vector<int>& crossing,
                std::vector<SubgraphChoice>& so_far, const Sums& sums, double peak) {
    if (first == static_cast<int>(walking.network.operators.size()))
      return Finish(walking, so_far, sums);
    std::vector<Step> steps;
    for (int last = first; last < static_cast<int>(walking.network.operators.size()); ++last) {
      for (auto& [kept, behind] : SetsOf(walking, first, last, crossing)) {
        std::vector<TileConfig>& configs = ConfigsOf(walking, {first, last}, kept);
        if (configs.empty()) continue;
        const auto& [rest, rest_peak] = LeastFrom(walking, last + 1, behind);
        for (TileConfig& config : configs) {
          const Sums least = Add(Add(sums, config.costs), rest);
          const double low = std::max({peak, static_cast<double>(config.low), rest_peak});
          if (least[0] == kNever || !IsWithinLimits(least) || low > static_cast<double>(capacity_))
            continue;
          steps.push_back({RankOf(least, low), &config, last, behind});
        }
      }
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const Step& a, const Step& b) { return a.least < b.least; });
    for (Step& step : steps) {
      if (!MayGain(step.least)) continue;
      Count();
      TileConfig& config = *step.config;
      if (!Fits(config)) continue;
      if ((peak_weight_ > 0 || breaks_ties_) && !config.is_exact) {
        FindLeastPeak(config);
        Rank least = step.least;
        least[4] = std::max(least[4], static_cast<double>(config.low));
        least[0] = std::max(least[0], step.least[0] + peak_weight_ * (least[4] - step.least[4]));
        if (!MayGain(least)) continue;
      }
      so_far.push_back({{first, step.last}, config.tile, config.policy});
      Complete(walking, step.last + 1, step.behind, so_far, Add(sums, config.costs),
               std::max(peak, static_cast<double>(config.low)));
      so_far.pop_back();
    }
  }

  // A whole partition: homes, then the joint placement.
  void Finish(Walking& walking, const std::vector<SubgraphChoice>& choices, Sums sums) {
    Count();
    const auto program =
        encoder::program::BuildProgram(walking.network, question_.profile, choices);
    if (!program) return;
    const bool lowers_homes = weights_[kOffChipPeak] > 0 || most_[kOffChipPeak] != kNever;
    sums[kOffChipPeak] = 0;
    for (const encoder::program::HomeProblem& home :
         encoder::program::BuildHomes(walking.network, question_.profile, choices)) {
      const std::optional<Bytes> placed =
          Place(home.problem, home.problem.memories.front().capacity, lowers_homes);
      if (!placed) return;
      sums[kOffChipPeak] += static_cast<double>(*placed);
    }
    if (!IsWithinLimits(sums)) return;
    const bool minimise = peak_weight_ > 0 || breaks_ties_;
    const std::optional<Bytes> peak = Place(program->problem, capacity_, minimise);
    if (!peak) return;
    plan::Metrics totals;
    totals.clock_hz = question_.profile.clock_hz;
    totals.latency_cycles = static_cast<int64_t>(sums[0]);
    totals.energy_pj = sums[1];
    totals.off_chip_bytes = static_cast<int64_t>(sums[2]);
    totals.macs = static_cast<int64_t>(sums[3]);
    totals.peak_bytes_per_cycle = sums[4];
    totals.off_chip_peak_bytes = static_cast<int64_t>(sums[kOffChipPeak]);
    totals.peak_bytes = *peak;
    Rank rank = RankOf(sums, static_cast<double>(*peak));
    for (const auto& [ratio, weight] : ratio_weights_)
      rank[0] += weight * plan::ValueOf(totals, ratio);
    for (const auto& [ratio, limit] : ratio_limits_) {
      if (IsLess(limit, plan::ValueOf(totals, ratio))) return;
    }
    if (!MayGain(rank)) return;
    best_ = rank;
    totals_ = totals;
    Note(walking, choices);
  }

  void Note(const Walking& walking, const std::vector<SubgraphChoice>& choices) {
    draft_ = {};
    const std::vector<int> tensors = graph::TensorsByMaker(walking.network);
    draft_.network = graph::Renumbered(walking.network, tensors);
    draft_.profile = question_.profile;
    draft_.objective = question_.objective;
    std::set<int> kept;
    for (const SubgraphChoice& choice : choices) {
      plan::Subgraph& subgraph = draft_.subgraphs.emplace_back();
      subgraph.interval = choice.interval;
      subgraph.tile = choice.tile;
      subgraph.weights = choice.policy.weights;
      subgraph.in_place = choice.policy.in_place;
      subgraph.halo = choice.policy.halo;
      subgraph.k_extent = choice.policy.k_extent;
      subgraph.serialized = choice.policy.serialized;
      subgraph.second_stage = choice.policy.second_stage;
      kept.insert(choice.policy.kept.begin(), choice.policy.kept.end());
    }
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (kept.contains(tensors[i])) draft_.kept.push_back(static_cast<int>(i));
    }
  }

  // The peak of a placement, the least one with `minimise`; nullopt where there is provably
  // none.
  std::optional<Bytes> Place(const Problem& problem, Bytes capacity, bool minimise) {
    search::allocate::AllocateOptions options;
    options.capacity = capacity;
    options.minimize = minimise;
    options.stop = &stop_;
    const auto result = search::allocate::Allocate(problem, nullptr, 0, UsualEngines(), options);
    if (!result) throw Limit{"engine fault: " + result.error().message};
    if (result->status == Status::kInfeasible) return std::nullopt;
    const bool decided = result->allocation && (!minimise || result->status == Status::kOptimal);
    if (!decided) throw Limit{"a placement undecided"};
    return result->peak;
  }

  bool Fits(TileConfig& config) {
    if (!config.fits) config.fits = Place(config.problem, capacity_, false).has_value();
    return *config.fits;
  }

  void FindLeastPeak(TileConfig& config) {
    config.low = std::max(config.low, Place(config.problem, capacity_, true).value());
    config.is_exact = true;
  }

  // Every tile configuration of the interval with these kept boundary tensors.
  std::vector<TileConfig>& ConfigsOf(const Walking& walking, Interval interval,
                                     const std::vector<int>& kept) {
    const auto from = walking.order.begin() + interval.first;
    const auto to = walking.order.begin() + interval.last + 1;
    // Only the set of operators done before matters, except for states: the order decides whether a
    // next value lies in its state's place.
    std::vector<int> before(walking.order.begin(), from);
    if (!hands_on_) std::sort(before.begin(), before.end());
    const auto [place, is_new] = configs_.try_emplace({before, std::vector<int>(from, to), kept});
    std::vector<TileConfig>& configs = place->second;
    if (!is_new) return configs;
    for (int op = interval.first; op <= interval.last && interval.first < interval.last; ++op) {
      if (IsHosted(walking.network, question_.profile, op)) return configs;
    }
    const std::vector<graph::tiling::TileShape> shapes = ShapesOf(walking.network, interval);
    std::set<std::pair<Sums, std::string>> seen;
    for (const Policy& policy : PoliciesOf(walking.network, interval, kept)) {
      for (const graph::tiling::TileShape& tile : shapes)
        AddConfig(walking, interval, tile, policy, seen, configs);
    }
    return configs;
  }

  void AddConfig(const Walking& walking, Interval interval, const graph::tiling::TileShape& tile,
                 const Policy& policy, std::set<std::pair<Sums, std::string>>& seen,
                 std::vector<TileConfig>& configs) {
    if (++choices_ > limits_.choices) throw Limit{"choices"};
    if (stop_.Requested()) throw Limit{"time"};
    const SubgraphChoice choice{interval, tile, policy};
    auto program = encoder::program::BuildProgram(walking.network, question_.profile, {&choice, 1});
    if (!program) return;
    const graph::tiling::TiledSubgraph tiling =
        encoder::program::CutTiles(walking.network, interval, tile, policy.halo);
    const plan::Metrics metrics =
        search::cost::Simulate(walking.network, question_.profile, tiling, policy);
    TileConfig config{.tile = tile, .policy = policy, .costs = {}, .problem = {}, .fits = {}};
    for (size_t i = 0; i < kSummed.size(); ++i)
      config.costs[i] = plan::ValueOf(metrics, std::string(kSummed[i]));
    config.costs[kOffChipPeak] = BytesOffChip(walking, interval, policy.kept);
    config.problem = std::move(program->problem);
    config.low = search::allocate::FindBound(config.problem, 0).bytes;
    if (config.low > capacity_ || !IsWithinLimits(config.costs)) return;
    if (!seen.emplace(config.costs, problem::files::WriteProblem(config.problem)).second) return;
    configs.push_back(std::move(config));
  }

  // Of all tensors that some subgraph made or makes, or that were there before, and that are not
  // read for the last time before this one.
  double BytesOffChip(const Walking& walking, Interval interval,
                      const std::vector<int>& kept) const {
    double sum = 0;
    for (int tensor = 0; tensor < static_cast<int>(walking.network.tensors.size()); ++tensor) {
      const graph::Tensor& facts = walking.network.tensors[static_cast<size_t>(tensor)];
      const graph::Usage& usage = walking.usages[static_cast<size_t>(tensor)];
      const base::TensorRole role = graph::RoleIn(walking.network, usage, tensor, interval);
      const bool is_lasting = facts.constant || facts.state;
      const bool is_over = !is_lasting && !facts.network_output && !usage.consumers.empty() &&
                           usage.consumers.back() < interval.first;
      const bool is_unused = role == base::TensorRole::kBoundary && usage.consumers.empty();
      if (usage.producer > interval.last || is_over || is_unused ||
          role == base::TensorRole::kFeature ||
          std::find(kept.begin(), kept.end(), tensor) != kept.end() ||
          encoder::program::HomeOf(walking.network, question_.profile, tensor, role) ==
              question_.profile.tile_memory)
        continue;
      sum += static_cast<double>(
          encoder::program::BytesAtHome(walking.network, question_.profile, usage, tensor, role));
    }
    return sum;
  }

  std::vector<graph::tiling::TileShape> ShapesOf(const Graph& network, Interval interval) const {
    const graph::Operator& last = network.operators[static_cast<size_t>(interval.last)];
    const graph::Shape& output = network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    if (IsHosted(network, question_.profile, interval.last)) return {output};
    std::vector<graph::tiling::TileShape> shapes = {{}};
    for (size_t axis = 0; axis < output.size(); ++axis) {
      std::vector<int64_t> extents = {output[axis]};
      for (const hw_profiles::AxisGranularity& cut : question_.profile.tiling.axes) {
        if (graph::tiling::AxisOf(output, cut.axis) != axis ||
            !graph::tiling::CanCut(network, interval, axis))
          continue;
        for (int64_t extent = cut.granularity; extent < output[axis]; extent += cut.granularity)
          extents.push_back(extent);
      }
      std::vector<graph::tiling::TileShape> longer;
      for (const graph::tiling::TileShape& shape : shapes) {
        for (const int64_t extent : extents) {
          longer.push_back(shape);
          longer.back().push_back(extent);
        }
      }
      shapes = std::move(longer);
    }
    return shapes;
  }

  std::vector<Policy> PoliciesOf(const Graph& network, Interval interval,
                                 const std::vector<int>& kept) const {
    const hw_profiles::Tiling& tiling = question_.profile.tiling;
    if (IsHosted(network, question_.profile, interval.first))
      return {{WeightPolicy::kDirect, false, HaloStorage::kRecompute, kept}};
    std::set<HaloStorage> halos(tiling.halo.begin(), tiling.halo.end());
    halos.insert(HaloStorage::kRecompute);
    std::vector<Policy> policies;
    for (const WeightPolicy weights : tiling.weights) {
      std::vector<int64_t> k_extents = {0};
      if (weights == WeightPolicy::kSplitK) {
        k_extents.clear();
        for (int64_t k_extent = 1; k_extent <= graph::kMostRandomElements; ++k_extent) {
          if (encoder::program::FindKCut(network, question_.profile, interval, k_extent))
            k_extents.push_back(k_extent);
        }
      }
      for (const int64_t k_extent : k_extents) {
        for (const HaloStorage halo : halos) {
          for (const bool in_place : {false, true}) {
            policies.push_back({weights, in_place, halo, kept, k_extent});
            if (!tiling.may_serialize) continue;
            policies.push_back(policies.back());
            policies.back().serialized = true;
          }
        }
      }
      for (int stage = 1; tiling.concurrent && stage <= interval.last - interval.first; ++stage) {
        policies.push_back({weights, false, HaloStorage::kRecompute, kept});
        policies.back().second_stage = stage;
      }
    }
    return policies;
  }

  const PlanRequest& question_;
  const Graph network_;  // with every tensor in its home
  const OracleLimits limits_;
  const base::Stop stop_;
  Sums weights_ = {};
  double peak_weight_ = 0;
  std::map<std::string, double> ratio_weights_;
  std::map<std::string, double> ratio_limits_;
  Sums most_ = {};
  Bytes capacity_ = 0;
  bool hands_on_ = false;  // whether some state has a next value
  std::vector<std::vector<int>> orders_;
  // By the operators done before, the operators in order, the kept tensors.
  std::map<std::tuple<std::vector<int>, std::vector<int>, std::vector<int>>,
           std::vector<TileConfig>>
      configs_;
  int64_t choices_ = 0;
  int64_t steps_ = 0;
  bool breaks_ties_ = false;
  Rank best_ = {};
  plan::files::Draft draft_;
  plan::Metrics totals_;
};

}  // namespace

namespace {

constexpr size_t kMostAssignments = 8;  // of engines

// The network once for each assignment of engines to the operators whose engine is open; empty if
// there are too many.
std::vector<Graph> OnAllEngines(const Graph& network, const Profile& profile) {
  std::vector<Graph> all = {network};
  for (size_t op = 0; op < network.operators.size(); ++op) {
    const graph::Operator& facts = network.operators[op];
    if (!facts.engine.empty() && !facts.engine_chosen) continue;
    const int first = facts.inputs.empty() ? facts.outputs.front() : facts.inputs.front();
    const base::DataType type = network.tensors[static_cast<size_t>(first)].type;
    std::vector<std::string> names;
    for (const hw_profiles::Engine& engine : profile.engines) {
      if (hw_profiles::ThroughputFor(engine, facts.kind, type) != nullptr)
        names.push_back(engine.name);
    }
    if (names.size() < 2) continue;
    std::vector<Graph> next;
    for (const Graph& each : all) {
      for (const std::string& name : names) {
        graph::Operator& changed = next.emplace_back(each).operators[op];
        changed.engine = name;
        changed.engine_chosen = false;
      }
    }
    if (next.size() > kMostAssignments) return {};
    all = std::move(next);
  }
  return all;
}

}  // namespace

OracleAnswer FindBest(const PlanRequest& question, const std::map<std::string, double>& weights,
                      const OracleLimits& limits) {
  const std::vector<Graph> networks = OnAllEngines(question.network, question.profile);
  OracleAnswer best;
  best.why = "too many assignments of engines";
  for (size_t i = 0; i < networks.size(); ++i) {
    PlanRequest pinned = question;
    pinned.network = networks[i];
    OracleAnswer answer = Oracle(pinned, weights, limits).Run();
    if (answer.verdict == OracleAnswer::EngineAnswer::kDeclined) return answer;
    const bool is_better =
        answer.verdict == OracleAnswer::EngineAnswer::kBest &&
        (best.verdict != OracleAnswer::EngineAnswer::kBest || Precedes(answer.least, best.least));
    const bool ties = answer.ties && (i == 0 || best.ties);
    if (i == 0 || is_better) best = std::move(answer);
    best.ties = ties;
  }
  return best;
}

std::map<std::string, double> WeightsOf(const plan::Objective& objective,
                                        const plan::Metrics& lower_bounds) {
  if (objective.weights.size() <= 1) return objective.weights;
  double sum = 0;
  for (const auto& [metric, weight] : objective.weights) sum += weight;
  std::map<std::string, double> weights;
  for (const auto& [metric, weight] : objective.weights) {
    weights[metric] =
        weight / sum / plan::DivisorOf(lower_bounds, *plan::FindMetric(metric), objective.limits);
  }
  return weights;
}

}  // namespace tessera::audit
