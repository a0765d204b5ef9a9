#include "tessera/plan/refutation/document.h"

#include <nlohmann/json.hpp>

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

base::Expected<Plan> ReadQuestion(std::string_view text, std::string file) {
  base::JsonReader reader(text, std::move(file));
  Plan question;
  {
    base::JsonObject root = reader.Root().Object();
    root.Format(kFormat, 1);
    for (const char* told : {"argument", "orders", "intervals", "ways", "placements"}) root.Required(told);
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
  return reader.Finish(std::move(question));
}

}  // namespace tessera::plan::refutation
