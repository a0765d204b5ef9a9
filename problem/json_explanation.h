#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tessera/base/json_reader.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"

// The "explanation" of an allocation document, and of other answers that hold one. Sentences are for people and not read back.
namespace tessera::problem {

nlohmann::ordered_json ExplanationToJson(const Problem& problem, const Explanation& explanation,
                                         Bytes capacity);

Explanation ReadExplanation(const base::JsonValue& value, const Problem& problem);

}  // namespace tessera::problem
