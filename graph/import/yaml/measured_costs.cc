// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/yaml/measured_costs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/csv_table.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_document.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::yaml {
namespace {

using base::CsvCell;
using base::CsvTable;

// The last three are for people who read what `tessera plan` writes.
constexpr std::array<base::CsvColumn, 8> kColumns = {{{"operator"},
                                                      {"tile"},
                                                      {"engine"},
                                                      {"cycles"},
                                                      {"pj", false},
                                                      {"signature", false},
                                                      {"tiles", false},
                                                      {"source", false}}};
enum Column : size_t { kOperator, kTile, kEngine, kCycles, kPicojoules };

// FNV-1a with 64 bits.
uint64_t DigestOf(std::string_view text) {
  uint64_t digest = 0xcbf29ce484222325U;
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return digest;
}

// "1x32x14x14".
std::optional<Shape> ParseTile(std::string_view text) {
  Shape tile;
  while (true) {
    const size_t sign = std::min(text.find('x'), text.size());
    const std::optional<int64_t> extent = base::ParseInteger(text.substr(0, sign));
    if (!extent) return std::nullopt;
    tile.push_back(*extent);
    if (sign == text.size()) return tile;
    text.remove_prefix(sign + 1);
  }
}

// "conv-5d41402abc4b2a76".
bool IsSignature(std::string_view name) {
  constexpr size_t kDigits = 16;
  const size_t dash = name.rfind('-');
  return dash != std::string_view::npos && name.size() - dash - 1 == kDigits &&
         name.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos &&
         base::ParseOperatorKind(name.substr(0, dash));
}

class Reader {
 public:
  Reader(const CsvTable& table, Graph& graph) : table_(table), graph_(graph) {
    for (size_t i = 0; i < graph.operators.size(); ++i) {
      by_id_[graph.operators[i].id].push_back(i);
      by_signature_[SignatureOf(graph, graph.operators[i])].push_back(i);
    }
  }

  // Reads rows with signatures first, so that rows with ids replace their values.
  std::optional<base::Diagnostic> TakeAll() {
    for (const Names* names : {&by_signature_, &by_id_}) {
      taken_.clear();
      for (const CsvTable::Row& row : table_.Rows()) {
        const auto named = names->find(row.cells[kOperator].text);
        const bool goes_by_id = by_id_.contains(row.cells[kOperator].text);
        if (named == names->end() || goes_by_id != (names == &by_id_)) continue;
        if (auto fault = Take(row, named->second)) return fault;
      }
    }
    return CountOthers();
  }

  size_t OfOthers() const { return of_others_; }

 private:
  using Names = std::map<std::string, std::vector<size_t>>;  // operators

  std::optional<base::Diagnostic> Take(const CsvTable::Row& row,
                                       const std::vector<size_t>& operators) {
    base::Expected<MeasuredTile> measured = Read(row, OutputOf(operators.front()));
    if (!measured) return measured.error();
    for (const size_t op : operators) {
      if (!taken_.emplace(op, measured->tile, measured->engine).second)
        return table_.Fault(row, row.cells[kTile],
                            "this tile of '" + graph_.operators[op].id + "' comes twice",
                            "each tile of an operator once for each engine");
      AddMeasured(graph_.operators[op], *measured);
    }
    return std::nullopt;
  }

  // Signatures that no operator has. Any other name is a fault.
  std::optional<base::Diagnostic> CountOthers() {
    for (const CsvTable::Row& row : table_.Rows()) {
      const std::string& name = row.cells[kOperator].text;
      if (by_id_.contains(name) || by_signature_.contains(name)) continue;
      if (!IsSignature(name)) return UnknownOperator(row);
      ++of_others_;
    }
    return std::nullopt;
  }

  const Shape& OutputOf(size_t op) const {
    return ShapeOf(graph_, graph_.operators[op].outputs.front());
  }

  base::Diagnostic UnknownOperator(const CsvTable::Row& row) const {
    const CsvCell& cell = row.cells[kOperator];
    std::vector<std::string_view> names;
    for (const auto& [name, operators] : by_id_) names.push_back(name);
    base::Diagnostic fault = table_.Fault(row, cell, "the network has no such operator",
                                          "the id of an operator, or a signature");
    fault.hint = base::DidYouMean(cell.text, names);
    return fault;
  }

  base::Expected<MeasuredTile> Read(const CsvTable::Row& row, const Shape& made) const {
    const auto refuse = [&](Column column, std::string message, std::string expected) {
      return base::Unexpected(
          table_.Fault(row, row.cells[column], std::move(message), std::move(expected)));
    };
    MeasuredTile measured;
    std::optional<Shape> tile = ParseTile(row.cells[kTile].text);
    const auto is_part = [](int64_t part, int64_t whole) { return part >= 1 && part <= whole; };
    if (!tile || !std::ranges::equal(*tile, made, is_part))
      return refuse(kTile, "no tile of the operator's output, which is " + ops::ToText(made),
                    "an extent for each axis, as 1x32x14x14");
    measured.tile = *std::move(tile);
    measured.engine = row.cells[kEngine].text;
    if (measured.engine.empty()) return refuse(kEngine, "no engine", "its name in the profile");
    const std::optional<int64_t> cycles = base::ParseInteger(row.cells[kCycles].text);
    if (!cycles || *cycles < 0 || *cycles > kMostMeasuredCycles)
      return refuse(kCycles, "no number of cycles", "a whole number from 0 to 2^50");
    measured.cycles = *cycles;
    if (row.cells[kPicojoules].text.empty()) return measured;
    measured.pj = base::ParseNumber(row.cells[kPicojoules].text);
    if (!measured.pj || !(*measured.pj >= 0) || *measured.pj > kMostMeasuredPicojoules)
      return refuse(kPicojoules, "no energy", "picojoules from 0 to 1e18");
    return measured;
  }

  const CsvTable& table_;
  Graph& graph_;
  Names by_id_;
  Names by_signature_;
  size_t of_others_ = 0;  // rows
  std::set<std::tuple<size_t, Shape, std::string>> taken_;
};

}  // namespace

std::string SignatureOf(const Graph& graph, const Operator& op) {
  Graph alone;
  Operator bare = op;
  bare.id = "o";
  bare.annotations.clear();
  bare.measured.clear();
  bare.engine.clear();
  const auto add = [&](std::vector<int>& tensors, char letter, bool constant, bool input) {
    for (int& tensor : tensors) {
      Tensor copy;
      const Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
      copy.id = letter + std::to_string(alone.tensors.size());
      copy.shape = facts.shape;
      copy.type = facts.type;
      copy.constant = constant;
      copy.network_input = input;
      tensor = static_cast<int>(alone.tensors.size());
      alone.tensors.push_back(std::move(copy));
    }
  };
  add(bare.inputs, 'i', false, true);
  add(bare.weights, 'w', true, false);
  add(bare.outputs, 'o', false, false);
  alone.operators.push_back(std::move(bare));
  return fmt::format("{}-{:016x}", base::NameOf(op.kind), DigestOf(WriteNetworkJson(alone)));
}

base::Expected<std::optional<std::string>> ReadMeasuredCosts(std::string_view csv,
                                                             const std::string& file_name,
                                                             Graph& graph) {
  const base::Expected<CsvTable> table = CsvTable::Read(csv, file_name, kColumns);
  if (!table) return base::Unexpected(table.error());
  Reader reader(*table, graph);
  if (auto fault = reader.TakeAll()) return base::Unexpected(*std::move(fault));
  if (reader.OfOthers() == 0) return std::optional<std::string>();
  return fmt::format("rows of {} with signatures of other networks: {}", file_name,
                     reader.OfOthers());
}

}  // namespace tessera::graph::import::yaml
