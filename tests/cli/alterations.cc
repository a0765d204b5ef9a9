// SPDX-License-Identifier: Apache-2.0

#include "alterations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::cli {
namespace {

using Json = nlohmann::ordered_json;
using Pointer = Json::json_pointer;

// Words of plan.json that are of one vocabulary.
constexpr std::array<std::string_view, 15> kVocabularies = {
    "optimal feasible infeasible",
    "given searched search",
    "resident streamed direct split_k",
    "recompute rolling_buffer line_buffer adjacent",
    "prologue load compute store epilogue copy",
    "tile whole resident slice scratch rolling buffer line halo accumulator",
    "any contiguous single",
    "read write",
    "colocate adjacent same_bank different_bank separate exclusive",
    "network_input network_output boundary feature constant state scratch",
    "double-buffered serialized",
    "int8 uint8 int16",
    "rows columns channels batch",
    "conv depthwise pool elementwise matmul reshape",
    "compute dma several",
};

// Members that objects under a key may have in addition, with meaningful and meaningless values.
struct Extra {
  std::string_view under;  // "": the document itself
  std::string key;
  std::vector<Json> values;
};

const std::vector<Extra>& Extras() {
  static const std::vector<Extra> extras = {
      {"", "kept", {Json::array(), Json{"a"}}},
      {"", "rules", {Json::array()}},
      {"", "constraints", {Json{{"schema", 1}}, Json{{"schema", 1}, {"apart", {"a"}}}}},
      {"", "lowering", {Json::array()}},
      {"weights", "latency", {0, 1}},
      {"weights", "macs", {0, 1}},
      {"limits", "latency", {1e12}},
      {"limits", "peak", {1e12}},
      {"energy_by_part", "another", {0, 1}},
      {"off_chip_by_cause", "another", {0, 1}},
      {"off_chip_by_cause", "weights", {0, 1}},
      {"policies", "k_extent", {8, 64}},
      {"policies", "prefetch", {Json{1}, Json{1, 0}, Json{2, 1}, Json{0}}},
      {"run", "file_order", {Json::array()}},
      {"run", "max_operators", {1, 64}},
      {"run", "switched_off", {Json::array(), Json{"hints"}}},
      {"steps", "mode", {"forward"}},
      {"steps", "operator", {"a"}},
      {"steps", "transfers", {Json::array(), Json{"x"}}},
      {"buffers", "hint", {0}},
      {"buffers", "fixed", {0}},
      {"buffers", "annotations", {Json{{"a", "b"}}}},
      {"buffers", "allowed_banks", {Json::array(), Json{0}}},
      {"buffers", "slot", {0, 1}},
      {"buffers", "phase", {0, 1}},
      {"relations", "delta", {0, 16}},
  };
  return extras;
}

bool IsIndex(const std::string& token) {
  return !token.empty() && std::all_of(token.begin(), token.end(), [](unsigned char letter) {
    return std::isdigit(letter) != 0;
  });
}

class Collector {
 public:
  explicit Collector(const Json& document) { CollectStrings(document, ""); }

  std::vector<Alteration> Run(const Json& document) {
    Visit(document, Pointer());
    return std::move(alterations_);
  }

 private:
  void CollectStrings(const Json& value, const std::string& key) {
    if (value.is_string()) strings_[key].insert(value.get<std::string>());
    for (const auto& [name, member] : value.items()) {
      if (value.is_object())
        CollectStrings(member, name);
      else if (value.is_array())
        CollectStrings(member, key);
    }
  }

  void Visit(const Json& value, const Pointer& at) {
    if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i) {
        alterations_.push_back({at / i, Edit::kRemove});
        alterations_.push_back({at / i, Edit::kDouble});
        Visit(value[i], at / i);
      }
      alterations_.push_back({at, Edit::kAppend, value.empty() ? Json("x") : value.front()});
      alterations_.push_back({at, Edit::kAppend, 1});
    } else if (value.is_object() || value.is_null()) {
      for (const auto& [key, member] : value.items()) {
        alterations_.push_back({at / key, Edit::kRemove});
        Visit(member, at / key);
      }
      alterations_.push_back({at, Edit::kAddKey, 1, "unknown"});
      for (const Extra& extra : Extras()) {
        if (value.contains(extra.key) || KeyOf(at) != extra.under) continue;
        for (const Json& member : extra.values)
          alterations_.push_back({at, Edit::kAddKey, member, extra.key});
      }
    } else {
      for (Json& other : OthersThan(value, at))
        alterations_.push_back({at, Edit::kReplace, std::move(other)});
    }
  }

  std::vector<Json> OthersThan(const Json& value, const Pointer& at) const {
    std::vector<Json> others;
    if (value.is_boolean()) {
      others = {!value.get<bool>()};
    } else if (value.is_number_integer()) {
      const auto number = value.get<int64_t>();
      others = {number + 1, number - 1, 0, number * 2 + 16};
    } else if (value.is_number()) {
      const auto number = value.get<double>();
      others = {number + 1, number - 1, 0.0, number * 1.0001};
    } else {
      others = OtherWordsThan(value.get<std::string>(), KeyOf(at));
    }
    std::erase(others, value);
    return others;
  }

  // The last name in a pointer.
  static std::string KeyOf(Pointer at) {
    while (!at.empty() && IsIndex(at.back())) at.pop_back();
    return at.empty() ? "" : at.back();
  }

  std::vector<Json> OtherWordsThan(const std::string& word, const std::string& key) const {
    std::set<std::string> others = {"", word + "x"};
    for (const std::string_view vocabulary : kVocabularies) {
      std::set<std::string> words;
      for (size_t begin = 0; begin < vocabulary.size();) {
        const size_t end = std::min(vocabulary.find(' ', begin), vocabulary.size());
        words.emplace(vocabulary.substr(begin, end - begin));
        begin = end + 1;
      }
      if (words.contains(word)) others.merge(words);
    }
    if (const auto known = strings_.find(key); known != strings_.end()) {
      const auto next = known->second.upper_bound(word);
      others.insert(next == known->second.end() ? *known->second.begin() : *next);
    }
    others.erase(word);
    return {others.begin(), others.end()};
  }

  std::map<std::string, std::set<std::string>> strings_;  // by the key of the string
  std::vector<Alteration> alterations_;
};

}  // namespace

std::vector<Alteration> AlterationsOf(const Json& document) {
  return Collector(document).Run(document);
}

Json Apply(Json document, const Alteration& alteration) {
  const Pointer& at = alteration.at;
  if (alteration.edit == Edit::kReplace) {
    document[at] = alteration.value;
  } else if (alteration.edit == Edit::kAppend) {
    document[at].push_back(alteration.value);
  } else if (alteration.edit == Edit::kAddKey) {
    document[at][alteration.key] = alteration.value;
  } else if (Json& parent = document[at.parent_pointer()]; parent.is_object()) {
    parent.erase(at.back());
  } else {
    const auto element = parent.begin() + std::stol(at.back());
    if (alteration.edit == Edit::kRemove)
      parent.erase(element);
    else
      parent.insert(element, Json(*element));
  }
  return document;
}

std::string PatternOf(const Alteration& alteration) {
  std::string pattern = alteration.key.empty() ? "" : '/' + alteration.key;
  for (Pointer at = alteration.at; !at.empty(); at.pop_back())
    pattern = '/' + (IsIndex(at.back()) ? "*" : at.back()) + pattern;
  return pattern;
}

std::string Describe(const Alteration& alteration) {
  static constexpr std::array<std::string_view, 5> kEdits = {"becomes", "is removed", "is doubled",
                                                             "gets", "gets the key"};
  std::string text = alteration.at.to_string() + ' ';
  text += kEdits.at(static_cast<size_t>(alteration.edit));
  if (!alteration.key.empty()) text += ' ' + alteration.key;
  if (alteration.edit == Edit::kRemove || alteration.edit == Edit::kDouble) return text;
  return text + ' ' + alteration.value.dump();
}

}  // namespace tessera::cli
