#include "tessera/plan/digest.h"

#include <fmt/core.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tessera/base/json_writer.h"
#include "tessera/graph/yaml.h"
#include "tessera/hw_profiles/writer.h"
#include "tessera/plan/json_demands.h"
#include "tessera/plan/json_run.h"
#include "tessera/plan/names.h"

namespace tessera::plan {
namespace {

using Json = nlohmann::ordered_json;

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

Json OffsetsOf(const problem::Problem& problem, const problem::Allocation& allocation) {
  std::map<std::string, problem::Bytes> offsets;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    offsets.emplace(problem.buffers[i].id, allocation.offsets[i]);
  return offsets;
}

Json AskedOf(const Plan& plan) {
  Json json = {{"made_by", plan.version}, {"seed", plan.seed}, {"run", RunToJson(plan)}};
  json["objective"] = {plan.objective.weights, plan.objective.limits};
  // Files list demands kind by kind, in whatever order of kinds.
  const Json demands = DemandsToJson(plan);
  std::map<std::string, Json> by_kind;
  for (const auto& [kind, list] : demands.items()) by_kind.emplace(kind, list);
  json["demands"] = by_kind;
  return json;
}

Json ChosenOf(const Plan& plan) {
  Json json = Json::object();
  for (const int tensor : plan.kept)
    json["kept"].push_back(plan.network.tensors[static_cast<size_t>(tensor)].id);
  for (const Subgraph& subgraph : plan.subgraphs) {
    json["subgraphs"].push_back({subgraph.interval.first, subgraph.interval.last, subgraph.tile,
                                 WordFor(subgraph.weights, kWeightPolicyNames), subgraph.in_place,
                                 WordFor(subgraph.halo, kHaloNames), subgraph.depth, subgraph.prefetch});
  }
  json["offsets"] = OffsetsOf(plan.problem, plan.allocation);
  for (const problem::ModeSchedule& schedule : plan.allocation.modes) {
    if (!schedule.empty()) json["modes"].push_back(schedule);
  }
  for (const Home& home : plan.homes)
    json["homes"].push_back({home.memory, OffsetsOf(home.problem, home.allocation)});
  return json;
}

}  // namespace

std::string DigestOf(const Plan& plan) {
  const Json given = {AskedOf(plan), ChosenOf(plan)};
  return fmt::format("fnv1a-{:016x}", Fnv1a(base::WriteJson(given) + graph::WriteNetworkJson(plan.network) +
                                            hw_profiles::WriteProfileJson(plan.profile)));
}

void CheckDigest(const Plan& plan, Findings& findings) {
  if (plan.digest.empty()) {
    findings.Note(ViolationKind::kDigest,
                  "the plan states no digest of what it is made from; `tessera eval` makes it whole again");
    return;
  }
  const std::string expected = DigestOf(plan);
  if (plan.digest == expected) return;
  findings.Note(
      ViolationKind::kDigest,
      fmt::format("the plan states {}, but what it is made from gives {}: its question, its "
                  "partition, an address or a mode was changed; `tessera eval` makes it whole again",
                  plan.digest, expected));
}

}  // namespace tessera::plan
