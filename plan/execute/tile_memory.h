#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/execute/contents.h"

namespace tessera::plan::execute {

// What every cell of the tile memory holds, who wrote it last, by a number of the ledger's, and how
// many transfers are reading it. Cost: 14 bytes a cell.
class TileMemory {
 public:
  explicit TileMemory(int64_t cells)
      : tags_(static_cast<size_t>(cells), kNothing),
        writers_(tags_.size(), 0),
        holds_(tags_.size(), 0) {}

  int64_t Cells() const { return static_cast<int64_t>(tags_.size()); }
  bool Contains(int64_t cell) const { return cell >= 0 && cell < Cells(); }

  Tag TagAt(int64_t cell) const { return tags_[static_cast<size_t>(cell)]; }
  uint32_t WriterAt(int64_t cell) const { return writers_[static_cast<size_t>(cell)]; }
  bool IsHeld(int64_t cell) const { return holds_[static_cast<size_t>(cell)] > 0; }

  void Write(int64_t cell, Tag tag, uint32_t writer) {
    tags_[static_cast<size_t>(cell)] = tag;
    writers_[static_cast<size_t>(cell)] = writer;
  }
  void Hold(int64_t cell) { ++holds_[static_cast<size_t>(cell)]; }
  void Release(int64_t cell) { --holds_[static_cast<size_t>(cell)]; }

 private:
  std::vector<Tag> tags_;
  std::vector<uint32_t> writers_;
  std::vector<uint16_t> holds_;
};

}  // namespace tessera::plan::execute
