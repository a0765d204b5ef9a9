// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/again.h"

#include <tessera/tessera.h>

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

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
  if (!network) return base::Unexpected(AsDiagnostic(network.Error()));
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
  return options;
}

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
  if (!profile) return base::Unexpected(AsDiagnostic(profile.Error()));
  Result<PlanAnswer> made = MakePlan(*network, *profile, ReadOptions(answer.options, call));
  if (!made) return base::Unexpected(AsDiagnostic(made.Error()));
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

}  // namespace tessera::explore
