// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/measurements.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "tessera/base/csv_table.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_document.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"

namespace tessera::search::fit {
namespace {

using base::CsvCell;
using base::CsvTable;

constexpr std::array<base::CsvColumn, 5> kColumns = {
    {{"network"}, {"operators"}, {"rows", false}, {"weights", false}, {"cycles"}}};
enum Column : size_t { kNetwork, kOperators, kRows, kWeights, kCycles };

class Reader {
 public:
  Reader(const CsvTable& table, const hw_profiles::Profile& profile, const NetworkLoader& load)
      : table_(table), profile_(profile), load_(load) {}

  base::Expected<std::vector<Measurement>> Read() {
    std::vector<Measurement> measurements;
    for (const CsvTable::Row& row : table_.Rows()) {
      base::Expected<Measurement> measurement = ReadRow(row);
      if (!measurement) return base::Unexpected(measurement.error());
      measurements.push_back(*std::move(measurement));
    }
    return measurements;
  }

 private:
  base::Expected<Measurement> ReadRow(const CsvTable::Row& row) {
    Measurement measurement;
    measurement.line = row.line;
    base::Expected<std::shared_ptr<const graph::Graph>> network = NetworkOf(row);
    if (!network) return base::Unexpected(network.error());
    measurement.network = *std::move(network);
    for (const auto read :
         {&Reader::ReadOperators, &Reader::ReadTile, &Reader::ReadWeights, &Reader::ReadCycles}) {
      if (auto fault = (this->*read)(row, measurement)) return base::Unexpected(*fault);
    }
    const encoder::program::SubgraphChoice choice{
        measurement.interval, measurement.tile, measurement.policy, {}};
    const auto program =
        encoder::program::BuildProgram(*measurement.network, profile_, {&choice, 1});
    if (program) return measurement;
    base::Diagnostic fault = table_.Fault(row, row.cells[kOperators], program.error().message, "");
    fault.expected = program.error().expected;
    fault.hint = program.error().hint;
    return base::Unexpected(fault);
  }

  base::Expected<std::shared_ptr<const graph::Graph>> NetworkOf(const CsvTable::Row& row) {
    const CsvCell& cell = row.cells[kNetwork];
    const auto known = networks_.find(cell.text);
    if (known != networks_.end()) return known->second;
    base::Expected<std::shared_ptr<const graph::Graph>> network = load_(cell.text);
    if (!network && network.error().line > 0) return network;
    if (!network)  // no text to point at
      return base::Unexpected(table_.Fault(row, cell,
                                           "the network cannot be read: " + network.error().message,
                                           network.error().expected));
    auto with_homes = std::make_shared<const graph::Graph>(
        encoder::program::WithHomes(graph::Graph(**network), profile_));
    networks_.emplace(cell.text, with_homes);
    return with_homes;
  }

  std::optional<base::Diagnostic> ReadOperators(const CsvTable::Row& row,
                                                Measurement& measurement) {
    const CsvCell& cell = row.cells[kOperators];
    const size_t dots = cell.text.find("..");
    const std::string first = cell.text.substr(0, dots);
    const std::string last = dots == std::string::npos ? first : cell.text.substr(dots + 2);
    const auto find = [&](const std::string& id) {
      const auto& operators = measurement.network->operators;
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [&](const auto& op) { return op.id == id; });
      return found == operators.end() ? -1 : static_cast<int>(found - operators.begin());
    };
    measurement.interval = {find(first), find(last)};
    if (measurement.interval.first >= 0 && measurement.interval.last >= measurement.interval.first)
      return std::nullopt;
    return table_.Fault(row, cell, "no operators of the network",
                        "ID, or FIRST..LAST in their order");
  }

  std::optional<base::Diagnostic> ReadTile(const CsvTable::Row& row, Measurement& measurement) {
    const graph::Graph& network = *measurement.network;
    const auto& last = network.operators[static_cast<size_t>(measurement.interval.last)];
    measurement.tile = network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    const CsvCell& cell = row.cells[kRows];
    if (cell.text.empty()) return std::nullopt;
    const std::optional<int64_t> rows = base::ParseInteger(cell.text);
    const auto axis = graph::tiling::AxisOf(measurement.tile, base::Axis::kRows);
    if (!rows || *rows < 1)
      return table_.Fault(row, cell, "not a number of rows", "an integer from 1");
    if (!axis) return table_.Fault(row, cell, "the result has no rows", "no rows");
    if (*rows >= measurement.tile[*axis]) return std::nullopt;
    if (!graph::tiling::CanCut(network, measurement.interval, *axis))
      return table_.Fault(row, cell, "these operators cannot be cut along rows", "no rows");
    measurement.tile[*axis] = *rows;
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ReadWeights(const CsvTable::Row& row, Measurement& measurement) {
    const CsvCell& cell = row.cells[kWeights];
    if (cell.text.empty()) return std::nullopt;
    const auto names = hw_profiles::WeightPolicyNames();
    const auto name = std::find(names.begin(), names.end(), cell.text);
    if (name == names.end())
      return table_.Fault(row, cell, "unknown policy of weights", base::Join(names));
    measurement.policy.weights = static_cast<hw_profiles::WeightPolicy>(name - names.begin());
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ReadCycles(const CsvTable::Row& row, Measurement& measurement) {
    const CsvCell& cell = row.cells[kCycles];
    const std::optional<double> cycles = base::ParseNumber(cell.text);
    if (!cycles || !(*cycles > 0) || *cycles > 1e18)
      return table_.Fault(row, cell, "not a number of cycles", "a number above 0");
    measurement.cycles = *cycles;
    return std::nullopt;
  }

  const CsvTable& table_;
  const hw_profiles::Profile& profile_;
  const NetworkLoader& load_;
  std::map<std::string, std::shared_ptr<const graph::Graph>> networks_;
};

}  // namespace

base::Expected<std::vector<Measurement>> ReadMeasurements(std::string_view text,
                                                          const std::string& file,
                                                          const hw_profiles::Profile& profile,
                                                          const NetworkLoader& load) {
  const base::Expected<CsvTable> table = CsvTable::Read(text, file, kColumns);
  if (!table) return base::Unexpected(table.error());
  if (table->Rows().empty()) {
    base::Diagnostic fault;
    fault.file = file;
    fault.line = 1;
    fault.column = 1;
    fault.message = "there are no measurements";
    fault.expected = "a head and a row for each";
    return base::Unexpected(fault);
  }
  return Reader(*table, profile, load).Read();
}

}  // namespace tessera::search::fit
