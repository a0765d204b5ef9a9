// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/explore/space.h"

// Tables as text.
namespace tessera::explore {

// Returns a number or a name as a cell; large numbers are rounded to whole ones.
std::string Short(const Json& value);

// Returns columns that are wide enough for their cells. Numbers are right-aligned. The first row is
// the header.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

// Returns a cell of CSV, in quotes if necessary.
std::string CsvCell(const Json& value);

}  // namespace tessera::explore
