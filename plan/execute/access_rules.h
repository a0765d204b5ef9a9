#pragma once

#include <cstdint>
#include <string>

#include "tessera/problem/problem.h"

namespace tessera::plan::execute {

// Banks, modes and reserved ranges of the tile memory: which cells may be touched how.
class AccessRules {
 public:
  using Banks = uint64_t;  // a bit for each of the first 64

  AccessRules(problem::Memory memory, int64_t cells_per_byte);

  // The banks that cells [begin, end) lie in.
  Banks BanksAt(int64_t begin, int64_t end) const;

  // Whether any of these cells may not be used at all.
  bool IsReserved(int64_t begin, int64_t end) const;

  // The first of the banks to which `mode` forbids this access; -1: none, as without modes.
  int FirstForbidden(int mode, Banks banks, const std::string& engine,
                     problem::AccessKind kind) const;

  bool MayFollow(int mode, int next) const;

  const problem::Memory& Memory() const { return memory_; }
  problem::AddressRange CellsOf(const problem::AddressRange& bytes) const {
    return {bytes.begin * cells_per_byte_, bytes.end * cells_per_byte_};
  }

 private:
  problem::Memory memory_;
  int64_t cells_per_byte_;
};

}  // namespace tessera::plan::execute
