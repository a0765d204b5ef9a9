// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/space.h"

// Tables: those of figures from users, in CSV (base/csv_table.h), and those of answers as text.
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

// Returns a number or a name as a cell; large numbers are rounded to whole ones.
std::string Short(const Json& value);

// Returns columns that are wide enough for their cells. Numbers are right-aligned. The first row is
// the header.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

// Returns a cell of CSV, in quotes if necessary.
std::string CsvCell(const Json& value);

}  // namespace tessera::explore
