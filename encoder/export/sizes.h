#pragma once

#include <string>
#include <string_view>

#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// A table of a formula's size, a line for each topic that occurs, and the sum:
//
//     topic       variables     clauses
//     offsets            12          14
//     total              12          14
//
// `conditions` is what the second column counts: "clauses".
std::string TabulateSizes(const TopicCounts& variables, const TopicCounts& counts,
                          std::string_view conditions);

}  // namespace tessera::encoder
