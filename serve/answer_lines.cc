// SPDX-License-Identifier: Apache-2.0

#include "tessera/serve/answer_lines.h"

#include <array>

#include "tessera/base/json_document.h"

namespace tessera::serve {
namespace {

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
