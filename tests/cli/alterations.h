#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Everything that can be done to one entry of a JSON document.
namespace tessera::cli {

enum class Edit : uint8_t { kReplace, kRemove, kDouble, kAppend, kAddKey };

struct Alteration {
  nlohmann::ordered_json::json_pointer at;  // the value; of kAppend and kAddKey the list or object
  Edit edit = Edit::kReplace;
  nlohmann::ordered_json value = nullptr;  // kReplace, kAppend, kAddKey
  std::string key = {};                    // kAddKey
};

// Each leaf gets other plausible values: numbers near it and 0, words that stand under the same key
// or in the same vocabulary, the other truth value. Each member and each element is removed, each
// element is doubled, and each object and list gets one more.
std::vector<Alteration> AlterationsOf(const nlohmann::ordered_json& document);

nlohmann::ordered_json Apply(nlohmann::ordered_json document, const Alteration& alteration);

// "/subgraphs/*/tile": where the alteration is, with * for any index.
std::string PatternOf(const Alteration& alteration);

// "/subgraphs/0/tile/1 becomes 3".
std::string Describe(const Alteration& alteration);

}  // namespace tessera::cli
