#include "tessera/plan/refutation/document.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tessera/base/json_parser.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/json_writer.h"
#include "tessera/graph/yaml.h"
#include "tessera/hw_profiles/writer.h"
#include "tessera/plan/json_demands.h"
#include "tessera/plan/json_partition.h"

namespace tessera::plan::refutation {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "tessera-refutation";

// JSON text of another writer as a value.
Json Embed(const std::string& text) {
  const base::Expected<Json> value = base::ParseJson(text, "");
  return value ? *value : Json();
}

}  // namespace

std::string WriteRefutation(const Plan& question, const Refutation& refutation) {
  Json json = Json::object();
  json["format"] = kFormat;
  json["version"] = 1;
  json["argument"] = refutation.argument;
  json["orders"] = refutation.orders;
  json["intervals"] = refutation.intervals;
  json["ways"] = refutation.ways;
  json["placements"] = refutation.proofs.size();
  json["objective"] = {{"weights", question.objective.weights}, {"limits", question.objective.limits}};
  if (!question.demands.empty()) json["demands"] = DemandsToJson(question);
  Json& run = json["run"] = Json::object();
  run["searches_order"] = question.run.searches_order;
  run["keeps_borders"] = question.run.keeps_borders;
  run["prefetches"] = question.run.prefetches;
  json["network"] = Embed(graph::WriteNetworkJson(question.network));
  json["profile"] = Embed(hw_profiles::WriteProfileJson(question.profile));
  return base::WriteJson(json);
}

base::Expected<Document> ReadRefutation(std::string_view text, std::string file) {
  base::JsonReader reader(text, std::move(file));
  Document document;
  Plan& question = document.question;
  {
    base::JsonObject root = reader.Root().Object();
    root.Format(kFormat, 1);
    document.stated.argument = root.String("argument");
    document.stated.orders = root.Integer("orders", {});
    document.stated.intervals = root.Integer("intervals", {});
    document.stated.ways = root.Integer("ways", {});
    document.placements = root.Integer("placements", {});
    question.network = ReadEmbeddedNetwork(root.Required("network"));
    question.profile = ReadEmbeddedProfile(root.Required("profile"));
    question.objective = ReadObjective(root.Required("objective"));
    const base::JsonValue demands = root.Optional("demands");
    if (demands && !reader.Failed()) question.demands = ReadDemands(demands, question);
    base::JsonObject run = root.Required("run").Object();
    question.run.searches_order = run.Boolean("searches_order", true);
    question.run.keeps_borders = run.Boolean("keeps_borders", true);
    question.run.prefetches = run.Boolean("prefetches", false);
  }
  return reader.Finish(std::move(document));
}

std::string FindDifference(const Document& document, const Refutation& found) {
  const Refutation& stated = document.stated;
  if (stated.argument != found.argument)
    return fmt::format("it states '{}', and the check finds '{}'", stated.argument, found.argument);
  const std::array<std::tuple<std::string_view, int64_t, int64_t>, 4> counts = {
      {{"orders", stated.orders, found.orders},
       {"intervals", stated.intervals, found.intervals},
       {"ways", stated.ways, found.ways},
       {"placements", document.placements, static_cast<int64_t>(found.proofs.size())}}};
  for (const auto& [name, its, right] : counts) {
    if (its != right) return fmt::format("it states {} {}, and the check finds {}", its, name, right);
  }
  return "";
}

}  // namespace tessera::plan::refutation
