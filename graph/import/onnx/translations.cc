#include "tessera/graph/import/onnx/translations.h"

#include <map>
#include <string_view>

namespace tessera::graph::import::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

using Rules = std::map<std::string, TranslationRule, std::less<>>;

const Rules& AllRules() {
  static const Rules rules = [] {
    Rules all;
    for (const auto& table :
         {TranslationsOfWindows(), TranslationsOfMatmul(), TranslationsOfElementwise(),
          TranslationsOfReductions(), TranslationsOfShapes(), TranslationsOfDataMovement()}) {
      for (const TranslationEntry& entry : table) {
        for (const std::string_view type : entry.types) all.emplace(type, entry.rule);
      }
    }
    return all;
  }();
  return rules;
}

}  // namespace

const TranslationRule* FindTranslation(const common::Node& node) {
  if (!node.domain.empty() && node.domain != kMicrosoft) return nullptr;
  const auto found =
      AllRules().find(node.domain.empty() ? node.type : node.domain + ":" + node.type);
  return found == AllRules().end() ? nullptr : &found->second;
}

std::vector<std::string> TranslatedTypes() {
  std::vector<std::string> types;
  for (const auto& [type, rule] : AllRules()) types.push_back(type);
  return types;
}

}  // namespace tessera::graph::import::onnx
