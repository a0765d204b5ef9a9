#include "tessera/serve/request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_reader.h"

namespace tessera::serve {
namespace {

using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;

constexpr double kMost = std::numeric_limits<double>::max();

// An object with the key "text" holds a text; any other is the document itself.
Document ReadDocument(const JsonValue& value, std::string_view name) {
  if (!value) return {};
  if (value.IsString()) return {value.String(), ""};
  Document document{std::string(name), ""};
  if (!value.IsObject()) {
    value.Refuse("this is no document",
                 "the name of a file, {\"text\": ...}, or the document as an object");
    return document;
  }
  std::optional<std::string> name_of_text;
  std::string other;
  for (const auto& [key, member] : value.Object().Members()) {
    if (key == "text") {
      document.text = member.String();
      if (document.text.empty()) member.Refuse("the text is empty", "a document");
    } else if (key == "name" && member.IsString()) {
      name_of_text = member.String();
    } else {
      other = key;
    }
  }
  if (document.text.empty()) {
    document.text = value.Text();
  } else if (!other.empty()) {
    value.Refuse("unknown key '" + other + "' beside 'text'", "text, name");
  } else if (name_of_text) {
    document.file = *name_of_text;
  }
  return document;
}

std::vector<MetricValue> ReadMetrics(const JsonValue& value) {
  std::vector<MetricValue> values;
  if (!value) return values;
  for (const auto& [name, member] : value.Object().Members())
    values.emplace_back(name, member.Number(0, kMost));
  return values;
}

void ReadLimitsOfCall(JsonObject& root, Request& request) {
  if (const JsonValue timeout = root.Optional("timeout"))
    request.timeout_s = timeout.Number(0, 365.0 * 24 * 3600);
}

void ReadSearch(JsonObject& root, SearchOptions& options) {
  options.seed = static_cast<uint64_t>(root.Integer("seed", {0, base::kMaxTotal}, 0));
  if (const JsonValue budget = root.Optional("budget"))
    options.budget = budget.Integer({0, base::kMaxTotal});
  options.engine = root.String("engine", "");
}

void ReadPlanOptions(JsonObject& root, PlanOptions& options) {
  constexpr std::array<std::string_view, 2> kOrders = {"search", "given"};
  ReadSearch(root, options);
  if (const JsonValue minimize = root.Optional("minimize")) {
    options.minimize = minimize.IsString() ? std::vector<MetricValue>{{minimize.String(), 1.0}}
                                           : ReadMetrics(minimize);
  }
  if (const JsonValue most = root.Optional("max_operators"))
    options.max_operators = static_cast<int>(most.Integer({1, 1000}));
  options.keep_order = root.OneOf("order", kOrders, 0) == 1;
  options.keep_boundaries = root.Boolean("keep", true);
  options.prefetch = root.Boolean("prefetch", false);
  options.constraints = root.String("constraints", "");
}

void ReadNetworkAndProfiles(JsonObject& root, Request& request, bool may_be_many) {
  request.network = ReadDocument(root.Required("network"), "network.json");
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

void ReadAllocateRequest(JsonObject& root, Request& request) {
  AllocateOptions& options = request.allocate_options;
  request.problem = ReadDocument(root.Required("problem"), "problem.json");
  if (const JsonValue capacity = root.Optional("capacity"))
    options.capacity = capacity.Integer({0, base::kMaxTotal});
  ReadSearch(root, options);
  options.minimize = root.Boolean("minimize", false);
  options.explain = root.Boolean("explain", true);
  request.wants_document = root.Boolean("document", false);
  ReadLimitsOfCall(root, request);
}

void ReadCheckRequest(JsonObject& root, Request& request) {
  ReadLimitsOfCall(root, request);
  request.executes = root.Boolean("execute", false);
  if (const JsonValue plan = root.Optional("plan")) {
    request.plan = ReadDocument(plan, "plan.json");
    return;
  }
  request.problem = ReadDocument(root.Required("problem"), "problem.json");
  request.allocation = ReadDocument(root.Required("allocation"), "allocation.json");
}

void ReadCancelRequest(JsonObject& root, Request& request) {
  request.target = root.Required("target").Text();
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

}  // namespace

Request ReadRequest(std::string_view line, int64_t number) {
  Request request;
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
  return request;
}

}  // namespace tessera::serve
