// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/base/vocabulary.h"
#include "tessera/graph/import/yaml/read_sections.h"

// Reads the attributes of every kind: graph/ops/ lists the keys of a kind with the places of their
// values, and each type of place has one reader.
namespace tessera::graph::import::yaml {
namespace {

using base::YamlNode;
using ops::Field;

// One number for rows and columns, or one for each.
std::array<int64_t, 2> ReadPair(const YamlNode& node, int64_t least, int64_t most) {
  if (!node.IsList()) {
    const int64_t both = node.Integer(least, most);
    return {both, both};
  }
  const std::vector<int64_t> values = node.Integers(least, most);
  if (values.size() == 2) return {values[0], values[1]};
  node.Complain("a list of " + std::to_string(values.size()) + " numbers",
                "one number, or [rows, columns]");
  return {least, least};
}

void ReadPads(const YamlNode& node, int64_t most, const Field::Pads& pads) {
  if (node.IsScalar()) {
    static constexpr std::array<std::string_view, 2> kNames = {"valid", "same"};
    *pads.same = node.OneOf(kNames) == 1;
    return;
  }
  const std::vector<int64_t> read = node.Integers(0, most);
  if (read.size() == 2) {
    pads.window->pad_low = pads.window->pad_high = {read[0], read[1]};
  } else if (read.size() == 4) {
    pads.window->pad_low = {read[0], read[1]};
    pads.window->pad_high = {read[2], read[3]};
  } else {
    node.Complain("a list of " + std::to_string(read.size()) + " pads",
                  "valid, same, [rows, columns] or [top, left, bottom, right]");
  }
}

// "3/2", or a whole number.
Ratio ReadRatio(const YamlNode& node) {
  constexpr int64_t kMostTerm = int64_t{1} << 40;
  const std::string text = node.Text();
  const auto read = [&text](size_t begin, size_t end) -> int64_t {
    int64_t value = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    return error == std::errc() && rest == text.data() + end && value <= kMostTerm ? value : 0;
  };
  const size_t bar = std::min(text.find('/'), text.size());
  const Ratio ratio{read(0, bar), bar == text.size() ? 1 : read(bar + 1, text.size())};
  if (ratio.numerator > 0 && ratio.denominator > 0) return ratio;
  node.Complain("scale '" + text + "'",
                "a positive whole number or fraction, as 3/2, of terms up to 2^40");
  return {};
}

std::vector<int64_t> ReadList(const YamlNode& node, const Field& field) {
  const bool is_list = field.single == ops::Single::kRefused || node.IsList();
  if (field.is_list != nullptr) *field.is_list = is_list;
  if (is_list) return node.Integers(field.least, field.most);
  const size_t times = field.single == ops::Single::kRowsAndColumns ? 2 : 1;
  return std::vector<int64_t>(times, node.Integer(field.least, field.most));
}

// Reads a value into the place of its field.
struct ValueReader {
  const YamlNode& node;
  const Field& field;

  void operator()(int64_t* value) const { *value = node.Integer(field.least, field.most); }
  void operator()(int* value) const {
    *value = static_cast<int>(node.Integer(field.least, field.most));
  }
  void operator()(std::optional<int64_t>* value) const {
    *value = node.Integer(field.least, field.most);
  }
  void operator()(std::array<int64_t, 2>* value) const {
    *value = ReadPair(node, field.least, field.most);
  }
  void operator()(std::vector<int64_t>* value) const { *value = ReadList(node, field); }
  void operator()(std::vector<int>* value) const {
    const std::vector<int64_t> read = ReadList(node, field);
    value->assign(read.begin(), read.end());
  }
  void operator()(std::vector<Ratio>* value) const {
    for (const YamlNode& ratio : node.Items()) value->push_back(ReadRatio(ratio));
  }
  void operator()(std::vector<OperandAccess>* value) const {
    for (const YamlNode& access : node.Items()) value->push_back(ReadAccess(access));
  }
  void operator()(bool* value) const { *value = node.Boolean(); }
  void operator()(std::string* value) const {
    *value = field.names.empty() ? node.Text() : std::string(field.names[node.OneOf(field.names)]);
  }
  template <typename Choice>
  std::enable_if_t<std::is_enum_v<Choice>> operator()(Choice* value) const {
    *value = static_cast<Choice>(node.OneOf(ops::NamesOf(*value)));
  }
  void operator()(const Field::Pads& pads) const { ReadPads(node, field.most, pads); }
  void operator()(const Field::OutputShape& output) const { *output.shape = ReadShape(node); }
  void operator()(const Field::WeightsType&) const {}
};

void ReadFields(const YamlNode& entry, const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    const bool required = field.presence == ops::Presence::kRequired &&
                          (field.unless.empty() || !entry.Maybe(field.unless));
    if (required && !field.unless.empty() && !entry.Maybe(field.key))
      entry.Complain("missing key '" + std::string(field.key) + "'",
                     std::string(field.key) + " or " + std::string(field.unless));
    const YamlNode node = required ? entry.At(field.key) : entry.Maybe(field.key);
    if (required || node) std::visit(ValueReader{node, field}, field.place);
  }
}

void OnlyKeysOf(const YamlNode& entry, std::vector<std::string_view> keys,
                const std::vector<Field>& fields) {
  for (const Field& field : fields) {
    if (!std::holds_alternative<Field::OutputShape>(field.place)) keys.push_back(field.key);
  }
  entry.OnlyKeys(keys);
}

}  // namespace

OperandAccess ReadAccess(const YamlNode& node) {
  OperandAccess access;
  if (node.IsScalar()) {
    static constexpr std::array<std::string_view, 2> kNames = {"full", "elementwise"};
    access.kind = static_cast<ReadPattern>(node.OneOf(kNames));
    return access;
  }
  access.kind = ReadPattern::kWindow;
  bool same_pads = false;
  const std::vector<Field> fields = ops::FieldsOf(access, same_pads);
  OnlyKeysOf(node, {}, fields);
  ReadFields(node, fields);
  if (same_pads)
    node.At("pads").Complain("pads that nothing determines", "valid, or a list of pads");
  return access;
}

void ReadAttributes(const YamlNode& entry, size_t operands, Operator& op, ops::Wanted& wanted) {
  const std::vector<Field> fields = ops::DefinitionOf(op.kind).fields(op, wanted, operands);
  if (op.kind == base::OperatorKind::kOpaque) {
    OnlyKeysOf(
        entry,
        {"id", "kind", "inputs", "outputs", "weights", "measured", "engine", "engine_chosen"},
        fields);
  } else {
    OnlyKeysOf(entry,
               {"id", "kind", "inputs", "output", "shape", "dtype", "activation", "weights",
                "measured", "engine", "engine_chosen"},
               fields);
    if (const YamlNode activation = entry.Maybe("activation")) op.activation = activation.Text();
  }
  if (const YamlNode engine = entry.Maybe("engine")) op.engine = engine.Text();
  if (const YamlNode chosen = entry.Maybe("engine_chosen")) {
    op.engine_chosen = chosen.Boolean();
    if (op.engine_chosen && op.engine.empty())
      chosen.Complain("'engine_chosen' without 'engine'", "both keys, or neither");
  }
  ReadFields(entry, fields);
  const YamlNode accesses = entry.Maybe("accesses");
  if (accesses && (op.accesses.size() != operands || operands == 0)) {
    accesses.Complain(std::to_string(op.accesses.size()) + " accesses for " +
                          std::to_string(operands) + " inputs",
                      "one for each input, and at least one");
  }
}

// The result of an activation function of indices may have any type.
void CheckIndices(const YamlNode& entry, const Operator& op, const std::vector<Shape>& operands,
                  base::DataType type) {
  const auto greatest = ops::GreatestIndexOf(op, operands.front());
  if (!greatest || !op.activation.empty()) return;
  if (ops::HoldsIndex(type, *greatest)) return;
  std::vector<std::string_view> names;
  for (const std::string_view name : base::DataTypeNames()) {
    if (ops::HoldsIndex(*base::ParseDataType(name), *greatest)) names.push_back(name);
  }
  const YamlNode stated = entry.Maybe("dtype");
  (stated ? stated : entry.At("result"))
      .Complain("operator " + InQuotes(op.id) + " makes indices up to " +
                    std::to_string(*greatest) + " of dtype " + std::string(base::NameOf(type)),
                (stated ? "one of " : "a dtype of the operator, one of ") + base::Join(names),
                "the smallest is dtype: " + std::string(names.front()));
}

void ReadMeasured(const YamlNode& entry, const Shape& made, Operator& op) {
  const YamlNode list = entry.Maybe("measured");
  if (!list) return;
  for (const YamlNode& node : list.Items()) {
    node.OnlyKeys({"tile", "engine", "cycles", "pj"});
    MeasuredTile measured;
    const YamlNode tile = node.At("tile");
    measured.tile = tile.Integers(1, base::kMaxTotal);
    measured.engine = node.At("engine").Text();
    measured.cycles = node.At("cycles").Integer(0, kMostMeasuredCycles);
    if (const YamlNode pj = node.Maybe("pj")) measured.pj = pj.Number(0, kMostMeasuredPicojoules);
    if (!std::ranges::equal(measured.tile, made, std::ranges::less_equal())) {
      tile.Complain(
          "a tile of " + ops::ToText(measured.tile) + " where the output is " + ops::ToText(made),
          "an extent for each axis of the output, at most its own");
    } else if (FindMeasured(op, measured.tile, measured.engine) != nullptr) {
      tile.Complain("the tile " + ops::ToText(measured.tile) + " on '" + measured.engine +
                        "' is measured twice",
                    "each tile once for each engine");
    }
    AddMeasured(op, std::move(measured));
  }
}

void CheckAccesses(const YamlNode& entry, const Operator& op, const std::vector<Shape>& operands,
                   const std::vector<Tensor>& made) {
  if (op.accesses.empty()) {
    if (op.in_place.empty()) return;
    return entry.At("in_place")
        .Complain("a place to overwrite in a barrier", "accesses that allow it");
  }
  if (made.size() > 1) {
    entry.At("outputs").Complain(std::to_string(made.size()) + " outputs of a described operator",
                                 "one");
  }
  const std::vector<YamlNode> nodes = entry.At("accesses").Items();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::optional<ops::ShapeFault> fault =
        ops::CheckAccess(op.accesses[i], operands[i], made.front().shape);
    if (fault) nodes[i].Complain(fault->message, fault->expected, fault->hint);
  }
}

}  // namespace tessera::graph::import::yaml
