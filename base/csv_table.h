// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// Tables in CSV with a head, for small files that people or scripts write. Commas separate cells;
// spaces around them are ignored. A cell in double quotes may contain commas, and "" in it is a
// quote. Blank lines, CRLF and a byte order mark are accepted. No cell spans several lines.
namespace tessera::base {

struct CsvColumn {
  std::string_view name;
  bool required = true;  // else cells of a table without the column are empty
};

struct CsvCell {
  std::string text;
  int column = 1;  // in bytes, from 1
};

// Returns the cells of one line, given without its line break.
std::vector<CsvCell> CsvCellsOf(std::string_view line);

class CsvTable {
 public:
  struct Row {
    int line = 0;                // from 1
    std::string source;          // the line
    std::vector<CsvCell> cells;  // parallel to the columns that Read was given
  };

  // Refuses unknown, repeated and missing columns, a table without a head, and rows whose number of
  // cells differs from that of the head.
  static Expected<CsvTable> Read(std::string_view text, std::string file,
                                 std::span<const CsvColumn> columns);

  const std::vector<Row>& Rows() const { return rows_; }

  // Returns a diagnostic about a cell of the row.
  Diagnostic Fault(const Row& row, const CsvCell& cell, std::string message,
                   std::string expected) const;

 private:
  std::string file_;
  std::vector<Row> rows_;
};

}  // namespace tessera::base
