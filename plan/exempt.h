#pragma once

#include <array>
#include <string_view>

// The entries of plan.json that are for people alone: nothing follows from them, and `tessera check` holds them against nothing. It
// recomputes every other entry, or holds it against the digest (digest.h).
namespace tessera::plan {

// JSON pointers, with * for any index, and a pattern for the user's own keys.
inline constexpr std::array<std::string_view, 4> kExempt = {
    "/time_ms",               // of the run that printed it
    "/notes",                 // in words
    "/subgraphs/*/rejected",  // what else was looked at
    "x-*",                    // the user's own keys, wherever they stand
};

}  // namespace tessera::plan
