// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"

// The possible contents of a cell.
namespace tessera::plan::execute {

// The content of one cell: a content number, and the number of a cell in that content. 0: the cell
// was never written.
using Tag = uint64_t;
inline constexpr Tag kNothing = 0;

// Numbers everything that cells may hold: first the tensors, by their index in the network, then
// the tables of constants, pads, scratch, partial sums, and undefined values. A cell is a byte, or
// half a byte if the network has elements of four bits.
class Contents {
 public:
  Contents(const graph::Graph& network, int64_t table_bytes_per_channel);

  int TablesOf(int constant) const { return tensors_ + constant; }
  int PaddingOf(int tensor) const { return 2 * tensors_ + tensor; }
  int ScratchOf(int op) const { return 3 * tensors_ + op; }
  int PartialSumsOf(int op) const { return 3 * tensors_ + operators_ + op; }
  // Gaps between elements.
  int Spoiled() const { return 3 * tensors_ + 2 * operators_; }
  int Lost() const { return Spoiled() + 1; }  // nothing lives there, or the bank was off

  int64_t CellsPerByte() const { return cells_per_byte_; }
  int64_t CellsPerElement(int content) const;

  // The shape of a tensor, a table or partial sums. A table is one row of bytes, with 0 bytes if
  // the constant has no table. Partial sums have the shape of the result.
  const graph::Shape& ShapeOf(int content) const;

  // The bytes of the operator's table, which is stored with its first constant; 0 if it has none. A
  // constant that several operators share has the longest of their tables.
  int64_t TableBytes(const graph::Operator& op) const;

  static Tag TagOf(int content, int64_t number) {
    return ((static_cast<Tag>(content) + 1) << kNumberBits) | static_cast<Tag>(number);
  }
  static int ContentOf(Tag tag) { return static_cast<int>(tag >> kNumberBits) - 1; }
  static int64_t NumberOf(Tag tag) {
    return static_cast<int64_t>(tag & ((Tag{1} << kNumberBits) - 1));
  }

  // "'x' [0, 3, 4, 0]", "a pad of 'x'", "nothing"; the number counts the cells of elements.
  std::string Describe(Tag tag) const;
  std::string NameOf(int content) const;
  std::vector<int64_t> CoordinatesOf(Tag tag) const;  // empty except for tensors and tables

  // Whether both tags are the same part of an element at the same coordinates, in two tensors of
  // one data type.
  bool IsSameElement(Tag a, Tag b) const;

 private:
  static constexpr int kNumberBits = 40;

  const graph::Graph& network_;
  int tensors_ = 0;
  int operators_ = 0;
  int64_t cells_per_byte_ = 1;
  int64_t table_bytes_per_channel_ = 0;
  std::vector<graph::Shape> tables_;
};

// "[0, 3, 4, 0]"
std::string TextOf(const std::vector<int64_t>& coordinates);

}  // namespace tessera::plan::execute
