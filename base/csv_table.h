// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// Tables in CSV with a head, for small files that people or scripts write. Cells are separated by
// commas; spaces around them do not count. A cell in double quotes may hold commas, and "" in it is
// a quote. Blank lines, CRLF and a byte order mark are accepted. No cell spans lines.
namespace tessera::base {

struct CsvColumn {
  std::string_view name;
  bool required = true;  // else cells of a table without the column are empty
};

struct CsvCell {
  std::string text;
  int column = 1;  // in bytes, from 1
};

// The cells of one line without its line break.
std::vector<CsvCell> CsvCellsOf(std::string_view line);

class CsvTable {
 public:
  struct Row {
    int line = 0;                // from 1
    std::string source;          // the line
    std::vector<CsvCell> cells;  // parallel to the columns that Read was given
  };

  // Refuses unknown, repeated and missing columns, a table without a head, and rows with another
  // number of cells than the head.
  static Expected<CsvTable> Read(std::string_view text, std::string file,
                                 std::span<const CsvColumn> columns);

  const std::vector<Row>& Rows() const { return rows_; }

  // The fault in a cell of the row.
  Diagnostic Fault(const Row& row, const CsvCell& cell, std::string message,
                   std::string expected) const;

 private:
  std::string file_;
  std::vector<Row> rows_;
};

}  // namespace tessera::base
