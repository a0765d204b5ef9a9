// SPDX-License-Identifier: Apache-2.0

#include "tessera/serve/protocol.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "tessera/api/parts/engine_set.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"

namespace tessera::serve {
namespace {

using base::JsonObject;
using base::JsonReader;
using base::JsonValue;

constexpr double kMost = std::numeric_limits<double>::max();

constexpr std::string_view kDocument =
    "the name of a file, {\"text\": ...}, or the document as an object";

// Standard input cannot be a document, because it carries the requests.
Document ReadFileName(const JsonValue& value) {
  std::string file = value.String();
  if (file.empty()) value.Refuse("the name of the file is empty", std::string(kDocument));
  if (file == "-") value.Refuse("standard input holds the requests", std::string(kDocument));
  return {std::move(file), ""};
}

// An object with the key "text" contains a text; any other object is the document itself.
Document ReadDocument(const JsonValue& value, std::string_view name) {
  if (!value) return {};
  if (value.IsString()) return ReadFileName(value);
  Document document{std::string(name), ""};
  if (!value.IsObject()) {
    value.Refuse("this is no document", std::string(kDocument));
    return document;
  }
  const auto members = value.Object().Members();
  const auto find = [&members](std::string_view wanted) {
    return std::find_if(members.begin(), members.end(),
                        [wanted](const auto& member) { return member.first == wanted; });
  };
  const auto text = find("text");
  if (text == members.end()) {
    document.text = value.Text();
    return document;
  }
  document.text = text->second.String();
  if (document.text.empty()) text->second.Refuse("the text is empty", "a document");
  const auto name_of_text = find("name");
  if (name_of_text != members.end()) {
    document.file = name_of_text->second.String();
    if (document.file.empty()) name_of_text->second.Refuse("the name is empty", "a name");
  }
  for (const auto& [key, member] : members) {
    if (key != "text" && key != "name" && !key.starts_with("x-"))
      member.Refuse("unknown key '" + key + "' next to 'text'", "text, name");
  }
  return document;
}

// Reads a document that is not JSON.
Document ReadTable(const JsonValue& value, std::string_view name) {
  Document document = ReadDocument(value, name);
  if (value.IsObject() && document.text == value.Text())
    value.Refuse("a table is no object", "the name of a file, or {\"text\": ...}");
  return document;
}

// Returns the metrics of the library, which fails only if memory runs out.
std::vector<std::string> NamesOfMetrics() {
  Result<std::vector<std::string>> names = MetricNames();
  if (!names) throw std::bad_alloc();
  return *std::move(names);
}

std::vector<MetricValue> ReadMetrics(const JsonValue& value) {
  std::vector<MetricValue> values;
  if (!value) return values;
  const std::vector<std::string> names = NamesOfMetrics();
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const auto& [name, member] : value.Object().Members()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      member.Refuse("there is no metric '" + name + "'", "one of " + base::Join(known),
                    base::DidYouMean(name, known));
    values.emplace_back(name, member.Number(0, kMost));
  }
  return values;
}

// Reads a metric, or the weights of several.
std::vector<MetricValue> ReadObjective(const JsonValue& value) {
  if (!value.IsString()) {
    std::vector<MetricValue> weights = ReadMetrics(value);
    const auto counts = [](const MetricValue& weight) { return weight.second > 0; };
    if (std::none_of(weights.begin(), weights.end(), counts))
      value.Refuse("no metric has a weight", "a metric, or a weight above 0 of at least one");
    return weights;
  }
  const std::vector<std::string> names = NamesOfMetrics();
  const std::vector<std::string_view> known(names.begin(), names.end());
  return {{names[value.OneOf(known)], 1.0}};
}

void ReadLimitsOfCall(JsonObject& root, Request& request) {
  if (const JsonValue timeout = root.Optional("timeout"))
    request.timeout_s = timeout.Number(0, 365.0 * 24 * 3600);
}

void ReadSearch(JsonObject& root, SearchOptions& options) {
  options.seed = static_cast<uint64_t>(root.Integer("seed", {0, base::kMaxTotal}, 0));
  if (const JsonValue budget = root.Optional("budget"))
    options.budget = budget.Integer({0, base::kMaxTotal});
  if (const JsonValue engine = root.Optional("engine")) {
    const std::vector<std::string> names = api::parts::EngineSet::Names();
    options.engine = names[engine.OneOf(std::vector<std::string_view>(names.begin(), names.end()))];
  }
}

void ReadPlanOptions(JsonObject& root, PlanOptions& options) {
  constexpr std::array<std::string_view, 2> kOrders = {"search", "given"};
  constexpr std::array<std::string_view, 2> kTransfers = {"program", "per-subgraph"};
  ReadSearch(root, options);
  if (const JsonValue minimize = root.Optional("minimize"))
    options.minimize = ReadObjective(minimize);
  if (const JsonValue most = root.Optional("max_operators"))
    options.max_operators = static_cast<int>(most.Integer({1, 1000}));
  options.keep_order = root.OneOf("order", kOrders, 0) == 1;
  options.keep_boundaries = root.Boolean("keep", true);
  options.transfers =
      root.OneOf("transfers", kTransfers, 0) == 0 ? Transfers::kProgram : Transfers::kPerSubgraph;
  options.constraints = root.String("constraints", "");
}

void ReadNetworkAndProfiles(JsonObject& root, Request& request, bool may_be_many) {
  request.network = ReadDocument(root.Required("network"), "network.json");
  if (const JsonValue costs = root.Optional("costs")) request.costs = ReadTable(costs, "costs.csv");
  const JsonValue profile = root.Required("profile");
  if (!profile) return;
  if (!may_be_many || !profile.IsArray()) {
    request.profiles.push_back(ReadDocument(profile, "profile"));
    return;
  }
  for (const JsonValue& each : profile.Items())
    request.profiles.push_back(ReadDocument(each, "profile"));
  if (request.profiles.empty()) profile.Refuse("there is no profile", "at least one");
}

void ReadPlanRequest(JsonObject& root, Request& request) {
  ReadNetworkAndProfiles(root, request, false);
  ReadPlanOptions(root, request.plan_options);
  request.plan_options.limits = ReadMetrics(root.Optional("limits"));
  request.plan_options.explain = root.Boolean("explain", false);
  request.wants_document = root.Boolean("document", false);
  ReadLimitsOfCall(root, request);
}

void ReadEvaluateRequest(JsonObject& root, Request& request) {
  ReadNetworkAndProfiles(root, request, true);
  ReadPlanOptions(root, request.plan_options);
  ReadLimitsOfCall(root, request);
}

void ReadEvaluateAtMostRequest(JsonObject& root, Request& request) {
  ReadEvaluateRequest(root, request);
  const JsonValue limits = root.Required("limits");
  if (!limits) return;
  if (!limits.IsArray()) {
    request.limits = {ReadMetrics(limits)};
    return;
  }
  for (const JsonValue& each : limits.Items()) request.limits.push_back(ReadMetrics(each));
  if (request.limits.size() != request.profiles.size())
    limits.Refuse("there are not as many limits as profiles",
                  "one object for each profile, or one for all");
}

// Reads the capacity of the first memory, or capacities of memories by name.
void ReadCapacities(const JsonValue& value, Request& request) {
  if (!value) return;
  if (!value.IsObject()) {
    request.allocate_options.capacity = value.Integer({0, base::kMaxTotal});
    return;
  }
  for (const auto& [name, member] : value.Object().Members())
    request.capacities.emplace_back(name, member.Integer({0, base::kMaxTotal}));
}

// Reads whether to minimise, what to minimise, or the weights of memories.
void ReadPeaks(const JsonValue& value, AllocateOptions& options) {
  if (!value) return;
  if (value.IsString()) {
    options.peaks = {{value.String(), 1}};
  } else if (value.IsObject()) {
    for (const auto& [name, member] : value.Object().Members())
      options.peaks.emplace_back(name, member.Number(0, kMost));
    if (options.peaks.empty()) value.Refuse("no memory has a weight", "a weight of at least one");
  } else {
    options.minimize = value.Boolean();
  }
}

void ReadAllocateRequest(JsonObject& root, Request& request) {
  AllocateOptions& options = request.allocate_options;
  request.problem = ReadDocument(root.Required("problem"), "problem.json");
  request.candidate = root.String("candidate", "");
  ReadCapacities(root.Optional("capacity"), request);
  ReadSearch(root, options);
  ReadPeaks(root.Optional("minimize"), options);
  if (const JsonValue gap = root.Optional("gap_percent")) options.gap_percent = gap.Number(0, 1000);
  options.explain = root.Boolean("explain", true);
  request.wants_document = root.Boolean("document", false);
  ReadLimitsOfCall(root, request);
}

void ReadCheckRequest(JsonObject& root, Request& request) {
  if (const JsonValue plan = root.Optional("plan")) {
    request.plan = ReadDocument(plan, "plan.json");
    request.executes = root.Boolean("execute", false);
    ReadLimitsOfCall(root, request);
    return;
  }
  for (const char* const key : {"execute", "timeout"}) {
    if (const JsonValue value = root.Optional(key))
      value.Refuse("the check of an allocation has no '" + std::string(key) + "'", "",
                   "the check of a 'plan' has it");
  }
  request.problem = ReadDocument(root.Required("problem"), "problem.json");
  request.allocation = ReadDocument(root.Required("allocation"), "allocation.json");
}

void ReadCancelRequest(JsonObject& root, Request& request) {
  const JsonValue target = root.Required("target");
  if (!target) return;
  if (!target.IsString() && !target.IsInteger())
    target.Refuse("the target has another type", "the id of a request: a string or an integer");
  request.target = target.Text();
}

void ReadNothing(JsonObject& /*root*/, Request& /*request*/) {}

struct MethodEntry {
  std::string_view name;
  void (*read)(JsonObject&, Request&);
};

// In the order of Method.
constexpr std::array<MethodEntry, 8> kMethods = {{{"plan", ReadPlanRequest},
                                                  {"evaluate", ReadEvaluateRequest},
                                                  {"evaluate_at_most", ReadEvaluateAtMostRequest},
                                                  {"allocate", ReadAllocateRequest},
                                                  {"check", ReadCheckRequest},
                                                  {"ping", ReadNothing},
                                                  {"cancel", ReadCancelRequest},
                                                  {"quit", ReadNothing}}};

std::array<std::string_view, kMethods.size()> MethodNames() {
  std::array<std::string_view, kMethods.size()> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kMethods[i].name;
  return names;
}

void Read(std::string_view line, int64_t number, Request& request) {
  JsonReader reader(line, "");
  {
    JsonObject root = reader.Root().Object();
    if (const JsonValue id = root.Optional("id")) {
      if (id.IsString() || id.IsInteger()) {
        request.id = id.Text();
      } else {
        id.Refuse("the id has another type", "a string or an integer");
      }
    }
    const size_t method = root.OneOf("method", MethodNames());
    if (!reader.Failed()) {
      request.method = static_cast<Method>(method);
      kMethods[method].read(root, request);
    }
  }
  if (auto read = reader.Finish(0); !read) {
    request.fault = std::move(read.error());
    request.fault->line =
        static_cast<int>(std::min<int64_t>(number, std::numeric_limits<int>::max()));
  }
}

// The codes of errors of the library, by CallStatus.
constexpr std::array<std::string_view, 5> kCodes = {"ok", "bad_input", "unsupported", "stopped",
                                                    "internal"};

Json AsJson(std::string_view code, const Error& error) {
  Json json = {{"code", code}, {"message", error.message}};
  const auto add = [&json](const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  add("file", error.file);
  if (error.line > 0) json["line"] = error.line;
  if (error.column > 0) json["column"] = error.column;
  add("pointer", error.pointer);
  add("expected", error.expected);
  add("found", error.found);
  add("hint", error.hint);
  return json;
}

}  // namespace

Request ReadRequest(std::string_view line, int64_t number) {
  Request request;
  try {
    Read(line, number, request);
  } catch (const std::bad_alloc&) {
    Request lost;
    lost.id.swap(request.id);
    lost.lacked_memory = true;
    return lost;
  }
  return request;
}

std::string Line(const std::string& id, bool is_ok, const Json& rest) {
  std::string line = "{\"id\":" + id + ",\"ok\":" + (is_ok ? "true" : "false");
  const std::string text = base::WriteJsonLine(rest);
  return line + (rest.empty() ? "" : ",") + text.substr(1) + "\n";
}

std::string LineOfError(const std::string& id, std::string_view code, const Error& error) {
  return Line(id, false, {{"error", AsJson(code, error)}});
}

std::string AnswerToError(const std::string& id, const Error& error) {
  return LineOfError(id, kCodes[static_cast<size_t>(error.status)], error);
}

std::string LineOfNoMemory(const std::string& id) {
  return "{\"id\":" + id +
         ",\"ok\":false,\"error\":{\"code\":\"stopped\",\"message\":\"out of memory\"}}\n";
}

Json MetricsOf(const std::vector<PlanMetric>& metrics) {
  Json json = Json::object();
  for (const PlanMetric& metric : metrics)
    json[metric.name] = {{"value", metric.value}, {"at_least", metric.lower_bound}};
  return json;
}

Json BoundsOf(const std::vector<MetricValue>& bounds) {
  Json json = Json::object();
  for (const auto& [name, value] : bounds) json[name] = value;
  return json;
}

Json Begin(Outcome outcome, const std::string& reason, bool stopped) {
  Json json = {{"outcome", NameOf(outcome)}};
  if (!reason.empty()) json["reason"] = reason;
  if (stopped) json["stopped"] = true;
  return json;
}

Error AsError(const base::Diagnostic& fault) {
  Error error;
  error.status = CallStatus::kBadInput;
  error.message = fault.message;
  error.file = fault.file;
  error.line = fault.line;
  error.column = fault.column;
  error.pointer = fault.pointer;
  error.expected = fault.expected;
  error.found = fault.found;
  error.hint = fault.hint;
  return error;
}

}  // namespace tessera::serve
