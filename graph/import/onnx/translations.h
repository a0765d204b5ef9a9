// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::onnx {

// Translates a node that reads at least one feature into operators. Each source of a family of ONNX
// operators has one function for each of them, and lists them in a table.
using Translator = common::Outcome (*)(common::Translation&);

// How operators of a type are translated into operators of known kinds.
struct TranslationRule {
  Translator translate = nullptr;
  size_t least_operands = 1;  // that the node must have; the function relies on it
  // the first operand may be a constant; otherwise the function relies on a feature
  bool constant_first = false;
};

// The types that a source translates: "Conv", "com.microsoft:FusedConv".
struct TranslationEntry {
  TranslationRule rule;
  std::vector<std::string_view> types;
};
using TranslationTable = std::vector<TranslationEntry>;

// The tables, one for each source of translations.
TranslationTable TranslationsOfWindows();
TranslationTable TranslationsOfMatmul();
TranslationTable TranslationsOfElementwise();
TranslationTable TranslationsOfReductions();
TranslationTable TranslationsOfShapes();
TranslationTable TranslationsOfDataMovement();

// Both functions check operand `i` if it is a constant. ExpectShape refuses another shape,
// ExpectBroadcast a shape that does not broadcast to `shape`.
common::Outcome ExpectShape(const common::Translation& node, size_t i, const Shape& shape);
common::Outcome ExpectBroadcast(const common::Translation& node, size_t i, const Shape& shape);

// Whether the node is a pool that rounds its number of windows up.
bool RoundsUp(const common::Node& node);

// The rule for this operator, or null.
const TranslationRule* FindTranslation(const common::Node& node);

// All types that have a rule: "Conv", "com.microsoft:FusedConv".
std::vector<std::string> TranslatedTypes();

}  // namespace tessera::graph::import::onnx
