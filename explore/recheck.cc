// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/recheck.h"

#include <fmt/format.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/api/errors.h"
#include "tessera/base/files.h"
#include "tessera/base/random.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/pareto.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

namespace tessera::explore {
namespace {

base::Unexpected Refuse(std::string message, std::string expected = "") {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return base::Unexpected(fault);
}

base::Expected<Network> LoadNetwork(const StoredNetwork& stored) {
  const base::Expected<std::string> content = base::ReadInput(stored.file);
  if (!content) return base::Unexpected(content.error());
  if (!stored.digest.starts_with(DigestOf(*content)))
    return Refuse("'" + stored.file + "' has changed since it was explored");
  ImportOptions import;
  const Json json = Json::parse(stored.import);
  const Json dims = json.value("dims", Json::object());
  for (const auto& [name, extent] : dims.items())
    import.dims.emplace_back(name, extent.get<int64_t>());
  import.floats_as = json.value("floats_as", "");
  Result<Network> network = Network::Load(stored.file, import);
  if (!network) return base::Unexpected(api::AsDiagnostic(network.Error()));
  return *std::move(network);
}

PlanOptions ReadOptions(const std::string& text, const CallOptions& call) {
  const Json json = Json::parse(text);
  PlanOptions options;
  static_cast<CallOptions&>(options) = call;
  options.minimize = {{json.at("minimize").get<std::string>(), 1}};
  for (const auto& [metric, most] : json.at("limits").items())
    options.limits.emplace_back(metric, most.get<double>());
  options.budget = json.at("budget").get<int64_t>();
  options.seed = json.at("seed").get<uint64_t>();
  if (json.contains("max_operators")) options.max_operators = json.at("max_operators").get<int>();
  options.keep_order = json.contains("order");
  options.keep_boundaries = json.value("keep", true);
  options.transfers = Transfers::kPerSubgraph;
  return options;
}

class Sampler {
 public:
  Sampler(const Store& store, const Json& document, const RecheckOptions& options)
      : store_(store), document_(document), options_(options) {}

  base::Expected<RecheckReport> Run() {
    std::vector<size_t> order;
    const Json& pairs = document_.at("pairs");
    for (size_t i = 0; i < pairs.size(); ++i) {
      const Json& settled = pairs[i].at("settled");
      if (settled != "refused" && settled != "open") order.push_back(i);
    }
    base::Random random(options_.seed);
    random.Shuffle(std::span<size_t>(order));
    order.resize(std::min(order.size(), static_cast<size_t>(options_.sample)));
    for (const size_t i : order) {
      const auto fault =
          pairs[i].contains("answers") ? CheckPlanned(pairs[i]) : CheckSkipped(pairs[i]);
      if (fault) return base::Unexpected(*fault);
      if (!options_.progress) continue;
      const int64_t checked = report_.planned + report_.skipped;
      const std::string line = fmt::format("{} of {} pairs checked", checked, order.size());
      options_.progress({.line = line,
                         .phase = "pairs",
                         .done = checked,
                         .total = static_cast<int64_t>(order.size())});
    }
    return std::move(report_);
  }

 private:
  const Json& NetworkOf(const Json& pair) const {
    const Json& networks = document_.at("networks");
    return *std::find_if(networks.begin(), networks.end(), [&](const Json& network) {
      return network.at("name") == pair.at("network");
    });
  }

  const Json& PointOf(const Json& pair) const {
    return document_.at("points")[pair.at("point").get<size_t>()];
  }

  void Report(const Json& pair, const std::string& finding) {
    report_.findings.push_back(fmt::format("{} on point {}: {}",
                                           pair.at("network").get<std::string>(),
                                           pair.at("point").get<size_t>(), finding));
  }

  base::Expected<PlanAnswer> Ask(const Json& pair, const std::string& metric) const {
    StoredAnswer question;
    question.network = NetworkOf(pair).at("key");
    question.profile = PointOf(pair).at("digest");
    Json options = Json::parse(NetworkOf(pair).at("options").get<std::string>());
    options["minimize"] = metric;
    question.options = options.dump();
    base::Expected<PlanAnswer> answer = AskAgain(store_, question, options_.call);
    if (!answer || !answer->stopped) return answer;
    if (!options_.call.timeout_s && !options_.call.canceller) throw std::bad_alloc();
    base::Diagnostic fault;
    fault.message = "the check was stopped before all pairs of the sample were planned";
    return base::Unexpected(fault);
  }

  std::optional<base::Diagnostic> CheckPlanned(const Json& pair) {
    ++report_.planned;
    for (const Json& stated : pair.at("answers")) {
      if (stated.at("outcome") == kFailed) continue;
      const std::string metric = stated.at("minimized");
      const base::Expected<PlanAnswer> made = Ask(pair, metric);
      if (!made) return made.error();
      if (stated.at("outcome") != NameOf(made->outcome))
        Report(pair, fmt::format("{} minimised is {}, not {}", metric, NameOf(made->outcome),
                                 stated.at("outcome").get<std::string>()));
      if (!made->plan) continue;
      for (const PlanMetric& figure : made->plan->Metrics()) {
        const Json value = stated.value("metrics", Json::object()).value(figure.name, Json());
        if (!value.is_number() || value.get<double>() != figure.value)
          Report(pair, fmt::format("{} minimised, {} is {}, not {}", metric, figure.name,
                                   figure.value, value.dump()));
      }
    }
    return std::nullopt;
  }

  // Returns the value of a name in an objective.
  std::optional<double> Lookup(const Json& pair, const Plan& plan, std::string_view name) const {
    if (const PlanMetric* metric = plan.FindMetric(name)) return metric->value;
    const Json& point = PointOf(pair);
    const std::string key(name);
    const Json& columns = NetworkOf(pair).at("columns");
    if (columns.contains(key)) return columns.at(key).get<double>();
    if (name == "area" && point.contains("area_mm2")) return point.at("area_mm2").get<double>();
    const Json& axes = document_.at("axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      const Json& value = point.at("values")[i];
      if (axes[i].at("name") == key && value.is_number()) return value.get<double>();
    }
    const std::optional<std::string> profile =
        store_.FindProfile(point.at("digest").get<std::string>());
    return profile ? NumberAt(Json::parse(*profile), name) : std::nullopt;
  }

  base::Expected<Values> ValuesOf(const Json& pair, const Plan& plan) const {
    Values values;
    for (const Json& objective : document_.at("objectives")) {
      const base::Expected<Expression> expression = Expression::Parse(objective.get<std::string>());
      if (!expression) return base::Unexpected(expression.error());
      const auto value =
          expression->Evaluate([&](std::string_view name) -> std::optional<NumberInterval> {
            const std::optional<double> number = Lookup(pair, plan, name);
            return number ? std::optional(NumberInterval::Of(*number)) : std::nullopt;
          });
      if (!value) return base::Unexpected(value.error());
      values.push_back(value->low);
    }
    return values;
  }

  std::optional<base::Diagnostic> CheckSkipped(const Json& pair) {
    ++report_.skipped;
    for (const Json& metric : document_.at("minimized")) {
      const base::Expected<PlanAnswer> made = Ask(pair, metric);
      if (!made) return made.error();
      if (!made->plan) continue;
      if (pair.value("outcome", "") == "infeasible") {
        Report(pair, "it is said to be infeasible, and has a plan");
        continue;
      }
      const base::Expected<Values> values = ValuesOf(pair, *made->plan);
      if (!values) return values.error();
      Compare(pair, *values, metric);
    }
    return std::nullopt;
  }

  void Compare(const Json& pair, const Values& values, const std::string& metric) {
    // Bounds and fronts have nine digits.
    constexpr double kRounding = 1e-8;
    for (size_t i = 0; i < values.size(); ++i) {
      const Json& least = pair.at("least")[i];
      if (least.is_number() &&
          values[i] < least.get<double>() - kRounding * std::abs(least.get<double>()))
        Report(pair, fmt::format("{} minimised costs {}, below the bound {}", metric, values[i],
                                 least.dump()));
    }
    const Json& fronts = document_.at("fronts");
    const std::string network = pair.at("network");
    if (!fronts.contains(network)) return;
    Values high = values;
    for (double& value : high) value += kRounding * std::abs(value);
    const bool is_dominated =
        std::any_of(fronts.at(network).begin(), fronts.at(network).end(), [&](const Json& each) {
          const auto found = each.at("values").get<Values>();
          return Dominates(found, high);
        });
    if (!is_dominated)
      Report(pair, fmt::format("{} minimised is on the front, and was skipped", metric));
  }

  const Store& store_;
  const Json& document_;
  const RecheckOptions& options_;
  RecheckReport report_;
};

}  // namespace

base::Expected<StoredAnswer> FindByPrefix(const Store& store, const std::string& id) {
  std::vector<StoredAnswer> found = store.FindAnswersByPrefix(id);
  if (found.empty())
    return Refuse("the store has no answer '" + id + "'", "an id of `tessera explore export`");
  if (found.size() > 1) return Refuse("several answers begin with '" + id + "'", "more digits");
  return std::move(found.front());
}

base::Expected<PlanAnswer> AskAgain(const Store& store, const StoredAnswer& answer,
                                    const CallOptions& call) {
  const std::optional<StoredNetwork> stored = store.FindNetwork(answer.network);
  const std::optional<std::string> document = store.FindProfile(answer.profile);
  if (!stored || !document) return Refuse("the store does not have the question of this answer");
  const base::Expected<Network> network = LoadNetwork(*stored);
  if (!network) return base::Unexpected(network.error());
  const Result<Profile> profile = Profile::Parse(*document, "profile");
  if (!profile) return base::Unexpected(api::AsDiagnostic(profile.Error()));
  Result<PlanAnswer> made = MakePlan(*network, *profile, ReadOptions(answer.options, call));
  if (!made) return base::Unexpected(api::AsDiagnostic(made.Error()));
  return *std::move(made);
}

base::Expected<Plan> MakePlanAgain(const Store& store, const StoredAnswer& answer,
                                   const CallOptions& call) {
  base::Expected<PlanAnswer> made = AskAgain(store, answer, call);
  if (!made) return base::Unexpected(made.error());
  if (made->stopped) {
    // A plan after a cancellation may differ from that of the store, and proves nothing about it.
    if (!call.canceller || !call.canceller->IsCancelled()) throw std::bad_alloc();
    return Refuse("the call was cancelled before the plan was made again");
  }
  if (!made->plan)
    return Refuse("there is no plan: " + answer.outcome +
                  (made->reason.empty() ? "" : ", " + made->reason));
  const Json figures = Json::parse(answer.figures);
  for (const auto& [metric, value] : figures.items()) {
    const PlanMetric* found = made->plan->FindMetric(metric);
    if (found == nullptr || found->value != value.get<double>())
      return Refuse("the plan made again has another " + metric + " than the store states");
  }
  return *std::move(made->plan);
}

base::Expected<RecheckReport> Recheck(const Store& store, const Json& document,
                                      const RecheckOptions& options) {
  return Sampler(store, document, options).Run();
}

}  // namespace tessera::explore
