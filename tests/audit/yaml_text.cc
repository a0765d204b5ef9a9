// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "texts.h"

namespace tessera::audit {
namespace {

using Json = nlohmann::ordered_json;

class YamlText {
 public:
  YamlText(base::Random& random, const graph::Graph& network, bool shuffles)
      : random_(random), json_(Json::parse(graph::import::yaml::WriteNetworkJson(network))) {
    if (shuffles) {
      std::vector<Json> operators(json_["operators"].begin(), json_["operators"].end());
      random_.Shuffle(std::span<Json>(operators));
      json_["operators"] = operators;
    }
  }

  std::string Write() {
    std::string text = "# drawn\nschema: 1\nname: " + json_["name"].get<std::string>() + "\n";
    if (random_.Chance(0.5)) text += "dtype: int8\n";  // which is the default
    for (const char* key : {"inputs", "constants", "operators"}) {
      if (json_[key].empty()) continue;
      text += fmt::format("{}:\n", key);
      for (Json& item : json_[key]) text += Item(std::move(item));
    }
    return text + "outputs: " + Value(json_["outputs"]) + "\n";
  }

 private:
  std::string Item(Json item) {
    LeaveOut(item);
    const bool flow = random_.Chance(0.5);
    std::string text = flow ? "  - {" : "";
    bool first = true;
    for (const auto& [key, value] : item.items()) {
      if (flow) {
        text += fmt::format("{}{}: {}", first ? "" : ", ", key, Value(value));
      } else {
        text += fmt::format("{}{}: {}\n", first ? "  - " : "    ", key, Value(value));
      }
      first = false;
    }
    return text + (flow ? "}\n" : "");
  }

  // Leaves out what the reader infers.
  void LeaveOut(Json& item) {
    static const std::map<std::string, Json> kDefaults = {
        {"dtype", "int8"},           {"groups", 1},
        {"stride", {1, 1}},          {"dilation", {1, 1}},
        {"pads", {0, 0, 0, 0}},      {"output_padding", {0, 0}},
        {"keep_axes", true},         {"multiplier", 1},
        {"mode", "constant"},        {"transpose_first", false},
        {"transpose_second", false}, {"order", "dcr"}};
    static const std::set<std::string> kStateTheirShape = {"reshape", "slice"};
    const std::string kind = item.value("kind", "");
    for (const auto& [key, value] : kDefaults) {
      if (kind == "resize" && key == "mode") continue;
      if (item.contains(key) && item[key] == value && random_.Chance(0.8)) item.erase(key);
    }
    if (!kind.empty() && !kStateTheirShape.contains(kind) && random_.Chance(0.8))
      item.erase("shape");
    for (const char* key : {"kernel", "stride", "dilation"}) {
      if (item.contains(key) && item[key][0] == item[key][1]) item[key] = Json(item[key][0]);
    }
    if (item.contains("pads")) {
      const Json pads = item["pads"];
      if (pads[0] == pads[2] && pads[1] == pads[3]) item["pads"] = Json::array({pads[0], pads[1]});
    }
  }

  std::string Value(const Json& value) {
    if (value.is_array()) {
      std::string text = "[";
      for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + Value(item);
      return text + "]";
    }
    if (value.is_object()) {
      std::string text = "{";
      for (const auto& [key, item] : value.items())
        text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", key, Value(item));
      return text + "}";
    }
    if (value.is_number_integer() && value.get<int64_t>() > 9 && random_.Chance(0.2))
      return fmt::format("0x{:x}", value.get<int64_t>());
    if (value.is_string() && random_.Chance(0.7)) return value.get<std::string>();
    return value.dump();
  }

  base::Random& random_;
  Json json_;
};

}  // namespace

std::string WriteYaml(base::Random& random, const graph::Graph& network, bool shuffles) {
  return YamlText(random, network, shuffles).Write();
}

}  // namespace tessera::audit
