#pragma once

#include <cstdint>

namespace tessera::base {

// Bytes of memory that the process holds now; 0 where the system does not say. Cost: one read of a
// small file.
int64_t ResidentBytes();

// Bytes of memory that the process may hold: the least of what the machine has, what its control
// groups allow and what the limits of the process allow.
int64_t UsableBytes();

}  // namespace tessera::base
