// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/api/answers/answer_text.h"
#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/report/plan_text.h"
#include "tessera/report/text_table.h"

namespace tessera::api::answers {

std::string Collision::Summary() const {
  return problem::Summarize(problem, explanation, capacity);
}

std::string Collision::Text(size_t indent) const {
  std::string text;
  for (const std::string& line : problem::Sentences(problem, explanation, capacity)) {
    text += (text.empty() ? "" : std::string(indent, ' ')) + line + '\n';
  }
  return text;
}

namespace {

using base::Printable;
using search::partition::analysis::Evidence;
using search::partition::analysis::Remedy;
using search::partition::placement::BrokenLimit;
using search::partition::placement::HeldPart;
using search::partition::placement::Obstacle;
using search::partition::placement::ObstacleKind;
using Json = nlohmann::ordered_json;

// The number of tensors that a text lists.
constexpr size_t kMostListed = 12;

std::string_view Assurance(Evidence evidence) {
  switch (evidence) {
    case Evidence::kPlan:
      return "a plan was found with it";
    case Evidence::kObstacle:
      return "removes this obstacle; no plan was found with it yet";
    case Evidence::kBound:
      break;
  }
  return "needed at least; not tried";
}

std::string TensorsOf(const Obstacle& obstacle) {
  if (obstacle.tensors.empty() || !obstacle.LacksBytes()) return "";
  const std::string_view where = obstacle.in_one_bank ? "one bank of " : "";
  std::string text = fmt::format(
      "\n{} bytes of {}'{}' are needed at once{}, {}\n", obstacle.needed, where,
      Printable(obstacle.memory), obstacle.step ? fmt::format(" at step {}", *obstacle.step) : "",
      obstacle.peak_is_limited ? fmt::format("the limit is {}", obstacle.available)
                               : fmt::format("{} are there", obstacle.available));
  for (size_t i = 0; i < std::min(kMostListed, obstacle.tensors.size()); ++i) {
    const HeldPart& held_part = obstacle.tensors[i];
    text += fmt::format("  {:>12}  {}, {}\n", held_part.bytes, Printable(held_part.tensor),
                        Printable(held_part.part));
  }
  if (obstacle.tensors.size() > kMostListed)
    text += fmt::format("  and {} more\n", obstacle.tensors.size() - kMostListed);
  return text;
}

std::string RemediesText(const std::vector<Remedy>& remedies) {
  if (remedies.empty()) return "";
  std::string text = "\nwhat would help\n";
  for (const Remedy& remedy : remedies)
    text += fmt::format("  {}: {}\n", Printable(remedy.what), Assurance(remedy.evidence));
  return text;
}

std::string HeadOf(const graph::Graph& network, const Obstacle& obstacle) {
  switch (obstacle.kind) {
    case ObstacleKind::kHome:
      return fmt::format("why the tensors at home in '{}' do not fit", Printable(obstacle.memory));
    case ObstacleKind::kJoint:
      return "why the subgraphs do not fit in one program";
    default:
      return fmt::format("why {} alone does not fit with tiles of {}",
                         Printable(network.operators[static_cast<size_t>(obstacle.op)].id),
                         report::ShapeText(obstacle.tile));
  }
}

Json ToJson(const graph::Graph& network, const Obstacle& obstacle) {
  const auto name_of = [&network](int op) { return network.operators[static_cast<size_t>(op)].id; };
  Json json = {{"kind", NameOf(obstacle.kind)}};
  if (obstacle.op >= 0) json["operator"] = name_of(obstacle.op);
  if (!obstacle.tile.empty()) {
    json["tile"] = obstacle.tile;
    json["policy"] = obstacle.policy;
  }
  if (!obstacle.memory.empty()) {
    json["memory"] = obstacle.memory;
    if (obstacle.in_one_bank) json["in_one_bank"] = true;
    json["needed_bytes"] = obstacle.needed;
    json["available_bytes"] = obstacle.available;
  }
  if (obstacle.step) json["step"] = *obstacle.step;
  for (const HeldPart& held_part : obstacle.tensors)
    json["tensors"].push_back(
        {{"tensor", held_part.tensor}, {"part", held_part.part}, {"bytes", held_part.bytes}});
  for (const BrokenLimit& limit : obstacle.limits) {
    Json& entry = json["limits"].emplace_back(
        Json{{"metric", limit.metric}, {"limit", limit.most}, {"bound", limit.bound}});
    if (limit.op < 0) continue;
    entry["operator"] = name_of(limit.op);
    entry["part"] = limit.part;
  }
  for (const int op : obstacle.blocked) json["do_not_fit_alone"].push_back(name_of(op));
  return json;
}

}  // namespace

std::string PlanRefusal::AsText() const {
  std::string text = fmt::format("{}: {}\n", NameOf(result.status), Printable(result.reason));
  if (result.obstacle) text += TensorsOf(*result.obstacle);
  text += RemediesText(remedies);
  if (collision)
    text += fmt::format("\n{}: {}", HeadOf(network, *result.obstacle), collision->Text(2));
  for (const std::string& note : notes) text += report::NoteLine(note);
  return text;
}

std::string PlanRefusal::AsJson() const {
  Json document;
  document["status"] = NameOf(result.status);
  document["reason"] = result.reason;
  if (!result.constraints.empty()) document["constraints"] = result.constraints;
  if (result.obstacle) document["obstacle"] = ToJson(network, *result.obstacle);
  for (const Remedy& remedy : remedies) {
    document["remedies"].push_back({{"kind", NameOf(remedy.kind)},
                                    {"subject", remedy.subject},
                                    {"value", remedy.value},
                                    {"evidence", NameOf(remedy.evidence)},
                                    {"text", remedy.what}});
  }
  if (collision) {
    if (result.obstacle->op >= 0) {
      document["operator"] = network.operators[static_cast<size_t>(result.obstacle->op)].id;
      document["tile"] = result.obstacle->tile;
    }
    document["explanation"] = problem::files::ExplanationToJson(
        collision->problem, collision->explanation, collision->capacity);
  }
  if (!notes.empty()) document["notes"] = notes;
  return base::WriteJson(document);
}

std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json document;
    document["status"] = "refused";
    document["violations"] = violations;
    return base::WriteJson(document);
  }
  std::string text = fmt::format("refused: {} violation{}\n", violations.size(),
                                 violations.size() == 1 ? "" : "s");
  for (const std::string& violation : violations) text += "  " + base::Printable(violation) + '\n';
  return text;
}

}  // namespace tessera::api::answers
