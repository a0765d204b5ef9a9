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

// Whether the two have a byte in common.
inline bool Intersect(const AddressRange& a, const AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace tessera::problem
