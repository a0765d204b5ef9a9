// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/allocate.h>
#include <tessera/plan.h>
#include <tessera/tessera.h>

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// The protocol of a session: requests and answers, each a line of JSON.
namespace tessera::serve {

// Requests of `tessera serve --jsonl`: a JSON object on one line (docs/serve.md).

enum class Method : uint8_t {
  kPlan,
  kEvaluate,
  kEvaluateAtMost,
  kAllocate,
  kCheck,
  kPing,
  kCancel,
  kQuit
};

// A document of a request: a file, a text with the name of its format, or JSON in the request.
struct Document {
  std::string file;  // or the name of the text
  std::string text;  // empty: the file is read
  bool IsFile() const { return text.empty(); }
};

struct Request {
  std::string id = "null";  // as JSON; the id of the client, even if the rest is wrong
  Method method = Method::kPing;
  std::optional<base::Diagnostic> fault;  // of the line, whose number it has
  bool lacked_memory = false;             // while the line was read: only the id may be known
  std::optional<Document> network;
  std::optional<Document> costs;  // of tiles of the network that were measured: a table
  std::vector<Document> profiles;
  std::optional<Document> plan;
  std::optional<Document> problem;
  std::optional<Document> allocation;
  PlanOptions plan_options;
  AllocateOptions allocate_options;
  std::string candidate;                                         // of an allocation
  std::vector<std::pair<std::string, std::int64_t>> capacities;  // of its memories
  std::vector<std::vector<MetricValue>> limits;  // of each profile, or one list for all
  std::optional<double> timeout_s;
  bool wants_document = false;  // the whole plan or allocation
  bool executes = false;
  std::string target;  // of a cancellation: the id as JSON
};

// Reads a line of a stream, whose number counts from 1. Never fails: see Request::fault and
// Request::lacked_memory.
Request ReadRequest(std::string_view line, int64_t number);

// Answers as lines of JSON. Each ends in a line break.

using Json = nlohmann::ordered_json;

// Returns the answer to request `id`, which is JSON, with the members of `rest`.
std::string Line(const std::string& id, bool is_ok, const Json& rest);

// Return the answer that a request failed: with the code `code`, with the code of the error, and,
// if memory ran out, with a short text.
std::string LineOfError(const std::string& id, std::string_view code, const Error& error);
std::string AnswerToError(const std::string& id, const Error& error);
std::string LineOfNoMemory(const std::string& id);

// Returns the fields of every answer about a question.
Json Begin(Outcome outcome, const std::string& reason, bool stopped);

Json MetricsOf(const std::vector<PlanMetric>& metrics);
Json BoundsOf(const std::vector<MetricValue>& bounds);

// Returns a fault of an input as an error of the library.
Error AsError(const base::Diagnostic& fault);

}  // namespace tessera::serve
