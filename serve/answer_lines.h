// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/tessera.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// Answers as lines of JSON. Each ends in a line break.
namespace tessera::serve {

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
