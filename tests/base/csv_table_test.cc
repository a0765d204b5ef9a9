// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/csv_table.h"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace tessera::base {
namespace {

constexpr std::array<CsvColumn, 3> kColumns = {{{"name"}, {"bytes"}, {"note", false}}};

std::vector<std::vector<std::string>> CellsOf(const std::string& text) {
  const Expected<CsvTable> table = CsvTable::Read(text, "t.csv", kColumns);
  EXPECT_TRUE(table) << Format(table.error());
  std::vector<std::vector<std::string>> rows;
  for (const CsvTable::Row& row : table->Rows()) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (const CsvCell& cell : row.cells) cells.push_back(cell.text);
  }
  return rows;
}

using Rows = std::vector<std::vector<std::string>>;

TEST(CsvTable, GivesCellsInTheOrderOfTheColumnsAsked) {
  EXPECT_EQ(CellsOf("bytes,name\n1,a\n2,b\n"), (Rows{{"a", "1", ""}, {"b", "2", ""}}));
  EXPECT_EQ(CellsOf("note,name,bytes\nx,a,1"), (Rows{{"a", "1", "x"}}));
}

TEST(CsvTable, AcceptsWhatSpreadsheetsWrite) {
  EXPECT_EQ(CellsOf("\xef\xbb\xbfname , bytes\r\n\r\n a b ,\t1\r\n"), (Rows{{"a b", "1", ""}}));
  EXPECT_EQ(CellsOf("name,bytes\n\"a,\"\"b\"\"\",\"1\"\n"), (Rows{{"a,\"b\"", "1", ""}}));
  EXPECT_EQ(CellsOf("name,bytes,note\na,1,\n"), (Rows{{"a", "1", ""}}));
  EXPECT_EQ(CellsOf("name,bytes\n"), Rows());
}

void ExpectFault(const std::string& text, int line, int column, const std::string& message) {
  const Expected<CsvTable> table = CsvTable::Read(text, "t.csv", kColumns);
  ASSERT_FALSE(table) << text;
  EXPECT_EQ(table.error().file, "t.csv");
  EXPECT_EQ(table.error().line, line) << text;
  EXPECT_EQ(table.error().column, column) << text;
  EXPECT_EQ(table.error().message, message);
  EXPECT_FALSE(table.error().expected.empty());
}

TEST(CsvTable, RefusesOtherTables) {
  ExpectFault("name,byte\na,1\n", 1, 6, "unknown column");
  ExpectFault("name,bytes, name\n", 1, 13, "a column twice");
  ExpectFault("name\na\n", 1, 1, "there is no column 'bytes'");
  ExpectFault("name,bytes\n\na,1,2\n", 3, 1, "3 cells");
  ExpectFault("", 0, 1, "the table has no head");
  EXPECT_EQ(CsvTable::Read("name,byte\n", "t.csv", kColumns).error().hint, "did you mean 'bytes'?");
}

}  // namespace
}  // namespace tessera::base
