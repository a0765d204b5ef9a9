// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"

// The possible contents of a cell.
namespace tessera::plan::execute {

// The content of one cell: which part of which element of what. 0: nothing was ever written here.
using Tag = uint64_t;
inline constexpr Tag kNothing = 0;

// Everything that cells may hold gets a number: the tensors first, by their own; then the
// tables of constants, pads, scratch, partial sums, and cells whose value is undefined. A cell is a
// byte, or half of one where the network has elements of four bits.
class Contents {
 public:
  Contents(const graph::Graph& network, int64_t table_bytes_per_channel);

  int TablesOf(int constant) const { return tensors_ + constant; }
  int PaddingOf(int tensor) const { return 2 * tensors_ + tensor; }
  int ScratchOf(int op) const { return 3 * tensors_ + op; }
  int PartialSumsOf(int op) const { return 3 * tensors_ + operators_ + op; }
  // Gaps between elements.
  int Spoiled() const { return 3 * tensors_ + 2 * operators_; }
  int Lost() const { return Spoiled() + 1; }  // where nothing lives, or the bank was off

  int64_t CellsPerByte() const { return cells_per_byte_; }
  int64_t CellsPerElement(int content) const;

  // Of tensors, tables and sums; a table is a row of bytes, none where the constant has none, sums
  // have the shape of the result.
  const graph::Shape& ShapeOf(int content) const;

  // The bytes of the table of an operator, which stands with its first constant; 0 where it has
  // none. A constant that several operators share has the longest of their tables.
  int64_t TableBytes(const graph::Operator& op) const;

  static Tag TagOf(int content, int64_t number) {
    return ((static_cast<Tag>(content) + 1) << kNumberBits) | static_cast<Tag>(number);
  }
  static int ContentOf(Tag tag) { return static_cast<int>(tag >> kNumberBits) - 1; }
  static int64_t NumberOf(Tag tag) {
    return static_cast<int64_t>(tag & ((Tag{1} << kNumberBits) - 1));
  }

  // "'x' [0, 3, 4, 0]", "a pad of 'x'", "nothing"; the number counts elements' cells.
  std::string Describe(Tag tag) const;
  std::string NameOf(int content) const;
  std::vector<int64_t> CoordinatesOf(Tag tag) const;  // empty but for tensors and tables

  // Whether both are the same part of an element at the same coordinates, of two tensors of one
  // type.
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
