// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/explore/space.h"

// Tables in texts.
namespace tessera::explore {

// A number or a name as a cell: whole where it is large.
std::string Short(const Json& value);

// Columns wide enough for their cells, numbers on the right. The first row is the header.
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

// A cell of CSV, in quotes where it must be.
std::string CsvCell(const Json& value);

}  // namespace tessera::explore
