#pragma once

#include <vector>

#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/trials.h"

// Profiles with one entry changed.
namespace tessera::search {

// Further ways to hold weights, smaller slices of them, transfers in steps of their own, further axes to cut. One key may have
// several values, the smallest change first.
std::vector<Trial> TilingTrials(const Trials& trials, const hw_profiles::Profile& profile);

// The tile memory with one mode more, in which all banks are read and written; then, with the modes that it has, each engine and link in one
// bank that a mode does not let it read and write. None without modes.
std::vector<Trial> ModeTrials(const Trials& trials, const hw_profiles::Profile& profile);

}  // namespace tessera::search
