// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// All alterations of one entry of a JSON document.
namespace tessera::cli {

enum class Edit : uint8_t { kReplace, kRemove, kDouble, kAppend, kAddKey };

struct Alteration {
  nlohmann::ordered_json::json_pointer at;  // the value; for kAppend and kAddKey the list or object
  Edit edit = Edit::kReplace;
  nlohmann::ordered_json value = nullptr;  // kReplace, kAppend, kAddKey
  std::string key = {};                    // kAddKey
};

// Each leaf gets other plausible values: numbers near it and 0, words of the same key or the same
// vocabulary, the other truth value. Each member and each element is removed, each element is
// doubled, and each object and list gets one more.
std::vector<Alteration> AlterationsOf(const nlohmann::ordered_json& document);

nlohmann::ordered_json Apply(nlohmann::ordered_json document, const Alteration& alteration);

// The place of the alteration, with * for any index: "/subgraphs/*/tile".
std::string PatternOf(const Alteration& alteration);

// "/subgraphs/0/tile/1 becomes 3".
std::string Describe(const Alteration& alteration);

}  // namespace tessera::cli
