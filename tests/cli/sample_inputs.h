// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

// Inputs that several tests give to the command.
namespace tessera::cli {

// Three buffers; a and b live together, and with c the least peak is 32.
inline const std::string kThreeBuffers =
    "id,lower,upper,size\n"
    "a,0,3,16\n"
    "b,1,4,16\n"
    "c,3,6,8\n";

// Two buffers that live together, and a second size for each.
inline const std::string kTwoCandidates = R"({
  "format": "tessera-problem", "version": 1,
  "memories": [{"name": "sram", "capacity": 20}],
  "buffers": [{"id": "a", "size": 1, "lifespans": [[0, 2]]}, {"id": "b", "size": 1, "lifespans": [[1, 3]]}],
  "tile_candidates": {"candidates": [{"name": "rows=1", "sizes": {"a": 8, "b": 12}}, {"name": "rows=2", "sizes": {"a": 9, "b": 12}}]}
})";

}  // namespace tessera::cli
