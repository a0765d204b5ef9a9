#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/plan/lowering/program.h"

// The words of plan.json for what program.h enumerates, in the order of the enumerators, and what it says besides of classes.
namespace tessera::plan::lowering {

inline constexpr std::array<std::string_view, 9> kPartNames = {
    "input", "constant", "table", "output", "scratch", "from", "to", "addend", "sums"};
inline constexpr std::array<std::string_view, 6> kDoesNames = {"load", "restore", "compute",
                                                               "save", "store",   "mode"};
inline constexpr std::array<std::string_view, 7> kBeforeNames = {"prologue", "load",    "compute", "store",
                                                                 "epilogue", "restore", "save"};
inline constexpr std::array<std::string_view, 3> kCauseNames = {"data", "reuse", "mode"};

// "first", "steady", "last", "ragged", "all", or one of these for each loop: "first, steady".
std::string NameOf(const TileClass& tiles, const std::vector<Loop>& loops);

int64_t CountOf(const TileClass& tiles);

// The parities of its tiles, ascending.
std::vector<int64_t> ParitiesOf(const TileClass& tiles, const Lowered& lowered);

}  // namespace tessera::plan::lowering
