#include "tessera/search/fit/measurements.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "tessera/base/text.h"
#include "tessera/base/yaml_document.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/homes.h"

namespace tessera::search::fit {
namespace {

constexpr std::array<std::string_view, 5> kColumns = {"network", "operators", "rows", "weights",
                                                      "cycles"};

struct Cell {
  std::string text;
  int column = 1;  // in bytes, from 1
};

std::vector<Cell> CellsOf(std::string_view line) {
  std::vector<Cell> cells;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(line.find(',', begin), line.size());
    std::string_view text = line.substr(begin, end - begin);
    int column = static_cast<int>(begin) + 1;
    while (!text.empty() && text.front() == ' ') {
      text.remove_prefix(1);
      ++column;
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
    cells.push_back({std::string(text), column});
    if (end == line.size()) return cells;
    begin = end + 1;
  }
}

class Reader {
 public:
  Reader(std::string file, const hw_profiles::Profile& profile, const NetworkLoader& load)
      : file_(std::move(file)), profile_(profile), load_(load) {}

  base::Expected<std::vector<Measurement>> Read(std::string_view text) {
    std::vector<Measurement> measurements;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      line_ = text.substr(begin, end - begin);
      begin = end + 1;
      ++number_;
      if (line_.find_first_not_of(" \r") == std::string_view::npos) continue;
      if (columns_.empty()) {
        if (auto fault = ReadHead()) return base::Unexpected(*fault);
        continue;
      }
      base::Expected<Measurement> measurement = ReadRow();
      if (!measurement) return base::Unexpected(measurement.error());
      measurements.push_back(*std::move(measurement));
    }
    if (measurements.empty())
      return base::Unexpected(Fault({}, "there are no measurements", "a head and a row for each"));
    return measurements;
  }

 private:
  base::Diagnostic Fault(const Cell& cell, std::string message, std::string expected) const {
    base::Diagnostic fault;
    fault.file = file_;
    fault.line = number_;
    fault.column = cell.column;
    fault.message = std::move(message);
    fault.expected = std::move(expected);
    if (!cell.text.empty()) fault.found = "'" + cell.text + "'";
    fault.excerpt = std::string(line_);
    return fault;
  }

  std::optional<base::Diagnostic> ReadHead() {
    for (const Cell& cell : CellsOf(line_)) {
      const auto* known = std::find(kColumns.begin(), kColumns.end(), cell.text);
      if (known == kColumns.end()) {
        base::Diagnostic fault =
            Fault(cell, "unknown column", "network, operators, rows, weights, cycles");
        fault.hint = base::DidYouMean(cell.text, kColumns);
        return fault;
      }
      if (std::find(columns_.begin(), columns_.end(), cell.text) != columns_.end())
        return Fault(cell, "a column twice", "each column once");
      columns_.push_back(cell.text);
    }
    for (const char* column : {"network", "operators", "cycles"}) {
      if (std::find(columns_.begin(), columns_.end(), column) == columns_.end())
        return Fault({}, fmt::format("there is no column '{}'", column), "it is required");
    }
    return std::nullopt;
  }

  base::Expected<Measurement> ReadRow() {
    const std::vector<Cell> cells = CellsOf(line_);
    if (cells.size() != columns_.size())
      return base::Unexpected(Fault({}, fmt::format("{} cells", cells.size()),
                                    fmt::format("{}, as in the head", columns_.size())));
    std::map<std::string, Cell> row;
    for (size_t i = 0; i < cells.size(); ++i) row[columns_[i]] = cells[i];
    Measurement measurement;
    measurement.line = number_;
    base::Expected<std::shared_ptr<const graph::Graph>> network = NetworkOf(row["network"]);
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
    base::Diagnostic fault = Fault(row["operators"], program.error().message, "");
    fault.expected = program.error().expected;
    fault.hint = program.error().hint;
    return base::Unexpected(fault);
  }

  base::Expected<std::shared_ptr<const graph::Graph>> NetworkOf(const Cell& cell) {
    const auto known = networks_.find(cell.text);
    if (known != networks_.end()) return known->second;
    base::Expected<std::shared_ptr<const graph::Graph>> network = load_(cell.text);
    if (!network) return network;
    auto with_homes = std::make_shared<const graph::Graph>(
        encoder::program::WithHomes(graph::Graph(**network), profile_));
    networks_.emplace(cell.text, with_homes);
    return with_homes;
  }

  std::optional<base::Diagnostic> ReadOperators(std::map<std::string, Cell>& row,
                                                Measurement& measurement) {
    const Cell& cell = row["operators"];
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
    return Fault(cell, "no operators of the network", "ID, or FIRST..LAST in their order");
  }

  std::optional<base::Diagnostic> ReadTile(std::map<std::string, Cell>& row,
                                           Measurement& measurement) {
    const graph::Graph& network = *measurement.network;
    const auto& last = network.operators[static_cast<size_t>(measurement.interval.last)];
    measurement.tile = network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    const Cell& cell = row["rows"];
    if (cell.text.empty()) return std::nullopt;
    const std::optional<int64_t> rows = base::ParseInteger(cell.text);
    const auto axis = graph::tiling::AxisOf(measurement.tile, base::Axis::kRows);
    if (!rows || *rows < 1) return Fault(cell, "not a number of rows", "an integer from 1");
    if (!axis) return Fault(cell, "the result has no rows", "no rows");
    if (*rows >= measurement.tile[*axis]) return std::nullopt;
    if (!graph::tiling::CanCut(network, measurement.interval, *axis))
      return Fault(cell, "these operators cannot be cut along rows", "no rows");
    measurement.tile[*axis] = *rows;
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ReadWeights(std::map<std::string, Cell>& row,
                                              Measurement& measurement) {
    const Cell& cell = row["weights"];
    if (cell.text.empty()) return std::nullopt;
    const auto names = hw_profiles::WeightPolicyNames();
    const auto name = std::find(names.begin(), names.end(), cell.text);
    if (name == names.end()) return Fault(cell, "unknown policy of weights", base::Join(names));
    measurement.policy.weights = static_cast<hw_profiles::WeightPolicy>(name - names.begin());
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ReadCycles(std::map<std::string, Cell>& row,
                                             Measurement& measurement) {
    const Cell& cell = row["cycles"];
    const std::optional<double> cycles = base::ParseNumber(cell.text);
    if (!cycles || !(*cycles > 0) || *cycles > 1e18)
      return Fault(cell, "not a number of cycles", "a number above 0");
    measurement.cycles = *cycles;
    return std::nullopt;
  }

  std::string file_;
  const hw_profiles::Profile& profile_;
  const NetworkLoader& load_;
  std::string_view line_;
  int number_ = 0;
  std::vector<std::string> columns_;
  std::map<std::string, std::shared_ptr<const graph::Graph>> networks_;
};

}  // namespace

base::Expected<std::vector<Measurement>> ReadMeasurements(std::string_view text,
                                                          const std::string& file,
                                                          const hw_profiles::Profile& profile,
                                                          const NetworkLoader& load) {
  return Reader(file, profile, load).Read(text);
}

}  // namespace tessera::search::fit
