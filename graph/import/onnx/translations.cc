// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/onnx/translations.h"

#include <map>
#include <string>
#include <string_view>

#include "tessera/graph/ops/shape_inference.h"

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

common::Outcome ExpectShape(const common::Translation& node, size_t i, const Shape& shape) {
  if (!node.Has(i) || !node.IsConstant(i) || node.ShapeOf(i) == shape) return {};
  return common::Fault(
      "operand " + std::to_string(i + 1) + " has shape " + ops::ToText(node.ShapeOf(i)),
      ops::ToText(shape));
}

common::Outcome ExpectBroadcast(const common::Translation& node, size_t i, const Shape& shape) {
  if (!node.Has(i) || !node.IsConstant(i) || ops::Broadcast(node.ShapeOf(i), shape) == shape)
    return {};
  return common::Fault(
      "operand " + std::to_string(i + 1) + " has shape " + ops::ToText(node.ShapeOf(i)),
      "a shape that broadcasts to " + ops::ToText(shape));
}

}  // namespace tessera::graph::import::onnx
