// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/csv_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kSpaces = " \t\r";

// Returns the end of the cell that begins at `begin`: a comma outside quotes, or the end of the
// line.
size_t EndOfCell(std::string_view line, size_t begin) {
  bool quoted = false;
  for (size_t i = begin; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == ',' && !quoted) return i;
  }
  return line.size();
}

// Returns the text between quotes, or the whole text if there are none.
std::string Unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  std::string plain;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"' && text[i + 1] == '"') ++i;
  }
  return plain;
}

// Finds the place of each column in the head.
class Head {
 public:
  Head(const CsvTable& table, std::span<const CsvColumn> columns)
      : table_(table), columns_(columns), places_(columns.size()) {}

  std::optional<Diagnostic> Read(const CsvTable::Row& row) {
    std::vector<std::string_view> names;
    for (const CsvColumn& column : columns_) names.push_back(column.name);
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const auto known = std::find(names.begin(), names.end(), row.cells[i].text);
      if (known == names.end()) {
        Diagnostic fault = table_.Fault(row, row.cells[i], "unknown column", Join(names));
        fault.hint = DidYouMean(row.cells[i].text, names);
        return fault;
      }
      std::optional<size_t>& place = places_[static_cast<size_t>(known - names.begin())];
      if (place) return table_.Fault(row, row.cells[i], "a column twice", "each column once");
      place = i;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].required && !places_[i])
        return table_.Fault(row, {}, "there is no column '" + std::string(columns_[i].name) + "'",
                            "it is required");
    }
    size_ = row.cells.size();
    return std::nullopt;
  }

  size_t Size() const { return size_; }

  // The cells in the order of the columns.
  std::vector<CsvCell> Sorted(std::vector<CsvCell> cells) const {
    std::vector<CsvCell> sorted;
    for (const std::optional<size_t>& place : places_)
      sorted.push_back(place ? std::move(cells[*place]) : CsvCell{});
    return sorted;
  }

 private:
  const CsvTable& table_;
  std::span<const CsvColumn> columns_;
  std::vector<std::optional<size_t>> places_;  // parallel to columns_
  size_t size_ = 0;
};

}  // namespace

std::vector<CsvCell> CsvCellsOf(std::string_view line) {
  std::vector<CsvCell> cells;
  for (size_t begin = 0;;) {
    const size_t end = EndOfCell(line, begin);
    const size_t first = std::min(line.find_first_not_of(kSpaces, begin), end);
    std::string_view text = line.substr(first, end - first);
    text = text.substr(0, text.find_last_not_of(kSpaces) + 1);
    cells.push_back({Unquoted(text), static_cast<int>(first) + 1});
    if (end == line.size()) return cells;
    begin = end + 1;
  }
}

Expected<CsvTable> CsvTable::Read(std::string_view text, std::string file,
                                  std::span<const CsvColumn> columns) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  CsvTable table;
  table.file_ = std::move(file);
  Head head(table, columns);
  Row row;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++row.line;
    if (line.find_first_not_of(kSpaces) == std::string_view::npos) continue;
    row.source = line;
    row.cells = CsvCellsOf(line);
    if (head.Size() == 0) {
      if (auto fault = head.Read(row)) return Unexpected(*std::move(fault));
      continue;
    }
    if (row.cells.size() != head.Size())
      return Unexpected(table.Fault(row, {}, std::to_string(row.cells.size()) + " cells",
                                    std::to_string(head.Size()) + ", as in the head"));
    row.cells = head.Sorted(std::move(row.cells));
    table.rows_.push_back(row);
  }
  if (head.Size() == 0)
    return Unexpected(table.Fault(row, {}, "the table has no head", "a line with its columns"));
  return table;
}

Diagnostic CsvTable::Fault(const Row& row, const CsvCell& cell, std::string message,
                           std::string expected) const {
  Diagnostic fault;
  fault.file = file_;
  fault.line = row.line;
  fault.column = cell.column;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  if (!cell.text.empty()) fault.found = "'" + cell.text + "'";
  fault.excerpt = row.source;
  return fault;
}

}  // namespace tessera::base
