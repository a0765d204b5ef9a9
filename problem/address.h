#pragma once

#include <cstdint>

namespace tessera::problem {

using Bytes = int64_t;

// Bytes [begin, end) of a memory.
struct AddressRange {
  Bytes begin = 0;
  Bytes end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

}  // namespace tessera::problem
