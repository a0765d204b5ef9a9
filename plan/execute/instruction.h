// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/passes.h"
#include "tessera/problem/problem.h"

// The program of a plan, one instruction after another. Instructions name places and boxes; what
// they stand for in the plan has no more part in running them.
namespace tessera::plan::execute {

using verify::RunIndex;

// One axis of a tensor as it is stored. Index i in [held.begin, held.end) lies i - held.begin steps
// behind the base. Pads are adjacent to the held indices: index -p of the tensor lies p steps
// before the base, index extent + p one more than p steps behind the last one held.
struct AxisPlace {
  Range held;
  int64_t extent = 1;        // of the tensor
  int64_t address_step = 0;  // cells
  int64_t number_step = 1;   // elements, row-major in the tensor
  int64_t pad_low = 0;       // stored pads
  int64_t pad_high = 0;
  // Of the rows of a rolling buffer, else 0: the j-th row ever made lies j mod `modulus` steps
  // behind the base, low pads before the base, high ones behind all rows.
  int64_t modulus = 0;
  int64_t made_before = 0;  // of a rolling buffer: the number j of row held.begin
};

enum class Where : uint8_t {
  kTileMemory,
  kHome,  // the tensor's own store in another memory; its address there is not looked at
  kNone,  // the plan has no buffer for it
};

// Where the elements of one tensor, or of a part of it, lie.
struct Place {
  Where where = Where::kNone;
  int content = -1;
  std::string buffer;           // its id, for messages
  problem::AddressRange cells;  // of the buffer
  int64_t base = 0;             // cell of the first element held
  int64_t element_cells = 1;    // cells of one element, side by side
  std::vector<AxisPlace> axes;  // of the tensor
  // Pads stand around all of it, whatever part is written: a whole buffer.
  bool padded_around = false;
  std::string refusal;  // why it may not be touched so, in words; empty if it may
};

// The next step begins. Everything up to the next EnterStep happens in it.
struct EnterStep {
  int64_t step = 0;
  int64_t tile = -1;        // -1: outside tiles
  std::optional<int> mode;  // of the tile memory
  bool foreseen = true;     // the plan's loops lead here from the step before
};

// Contents that are there before the program begins. In the tile memory with their pads.
struct Provide {
  Place place;
};

// Cells in which nothing lives: whatever they held is lost.
struct Forget {
  std::vector<problem::AddressRange> cells;
};

// A box of one content moves from place to place.
struct Move {
  Box box;
  Place from;
  Place to;
  bool fills = false;  // the whole buffer `to` is begun anew: gaps and pads are written too
};

// A transfer may read any byte of its sources and write any byte of its destinations at any moment
// from here to the FinishTransfer of its number.
struct StartTransfer {
  int64_t number = 0;
  std::string link;
  std::vector<Move> moves;
  int tensor = -1;
  int op = -1;  // that a slice is for
  bool out = false;
  RunIndex turn = {};
};

struct FinishTransfer {
  int64_t number = 0;
};

struct Operand {
  enum class Kind : uint8_t {
    kInput,
    kConstant,
    kTable,
    kPartialSums  // the sums of the rounds before
  };
  Kind kind = Kind::kInput;
  size_t position = 0;  // in the operator's list
  Place place;
};

struct Result {
  Box box;
  Place place;
  bool fills = false;  // as of a Move
};

// The operator makes boxes of its results, reading and writing in any order.
struct Compute {
  int op = -1;
  std::string engine;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::optional<Place> scratch;  // all its cells
  // What it adds up in this round; the result is then sums, but in the last.
  std::optional<Range> k_extent;
  RunIndex turn = {};
};

// The engine of an operator moves boxes within the tile memory: each by itself and row by row, from
// the uppermost on.
struct Copy {
  int op = -1;
  std::string engine;
  std::vector<Move> moves;
  bool restores = false;  // rows that come back, not rows put aside
  RunIndex turn = {};
};

// All that the box names must be there.
struct Expect {
  Place place;
  Box box;
};

// Something that the plan says and no instruction can.
struct Complaint {
  std::string message;
};

using Instruction = std::variant<EnterStep, Provide, Forget, StartTransfer, FinishTransfer, Compute,
                                 Copy, Expect, Complaint>;

}  // namespace tessera::plan::execute
