// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>

// Programs that link failing_new.cc have an operator new that can be told to fail.
namespace tessera {

// Allocations of this process until the failing one. 0: none fails any more.
std::atomic<int64_t>& UntilFailure();

// Blocks that operator new gave and that were not deleted.
std::atomic<int64_t>& Blocks();

}  // namespace tessera
