// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// Tables of figures from users, in CSV (base/csv_table.h).
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

// Reads a table without its empty lines and the blanks around cells. Refuses a header that does not
// begin with `first`, and rows of another length. `file` is for messages.
base::Expected<FigureTable> ReadTable(std::string_view text, const std::string& file,
                                      std::string_view first);

// Returns the number in a cell.
base::Expected<double> NumberIn(const FigureTable& table, const TableRow& row, size_t cell);

// Returns a diagnostic about a line of the table.
base::Unexpected RefuseLine(const FigureTable& table, int line, std::string message,
                            std::string expected, std::string found);

}  // namespace tessera::explore
