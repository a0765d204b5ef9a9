// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// Tables of figures that users state, in CSV (base/csv_table.h).
namespace tessera::explore {

struct TableRow {
  int line = 0;  // from 1
  std::vector<std::string> cells;
};

struct FigureTable {
  std::string file;
  std::vector<std::string> header;
  std::vector<TableRow> rows;  // each has as many cells as the header
};

// Empty lines are left out, and blanks around cells. Refuses a header that does not begin with
// `first`, and rows of another length. `file` is for messages.
base::Expected<FigureTable> ReadTable(std::string_view text, const std::string& file,
                                      std::string_view first);

// The number in a cell.
base::Expected<double> NumberIn(const FigureTable& table, const TableRow& row, size_t cell);

// A complaint about a line of the table.
base::Unexpected RefuseLine(const FigureTable& table, int line, std::string message,
                            std::string expected, std::string found);

}  // namespace tessera::explore
