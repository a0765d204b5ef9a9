// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/passes.h"
#include "tessera/problem/problem.h"

// The program of a plan as a sequence of instructions. Instructions name places and boxes and can
// be executed without the plan.
namespace tessera::plan::execute {

using verify::RunIndex;

// One axis of a tensor as it is stored. Index i in [held.begin, held.end) lies i - held.begin steps
// after the base. Pads are adjacent to the held indices: index -p of the tensor lies p steps before
// the base, and index extent + p lies p + 1 steps after the last held index.
struct AxisPlace {
  Range held;
  int64_t extent = 1;        // of the tensor
  int64_t address_step = 0;  // cells
  int64_t number_step = 1;   // elements, row-major in the tensor
  int64_t pad_low = 0;       // stored pads
  int64_t pad_high = 0;
  // For the rows of a rolling buffer; otherwise 0. The j-th row ever made lies j mod `modulus`
  // steps after the base, low pads lie before the base, and high pads after all rows.
  int64_t modulus = 0;
  int64_t made_before = 0;  // of a rolling buffer: the number j of row held.begin
};

enum class Where : uint8_t {
  kTileMemory,
  kHome,  // the tensor's home in another memory; its address there is not used
  kNone,  // the plan has no buffer for it
};

// The location of the elements of one tensor, or of a part of it.
struct Place {
  Where where = Where::kNone;
  int content = -1;
  std::string buffer;           // its id, for messages
  problem::AddressRange cells;  // of the buffer
  int64_t base = 0;             // cell of the first element held
  int64_t element_cells = 1;    // adjacent cells of one element
  std::vector<AxisPlace> axes;  // of the tensor
  // Pads lie around the whole tensor, whichever part is written. This holds for whole buffers.
  bool padded_around = false;
  std::string refusal;  // why this access is not allowed, in words; empty if it is
};

// The next step begins. All instructions up to the next EnterStep belong to it.
struct EnterStep {
  int64_t step = 0;
  int64_t tile = -1;        // -1: outside tiles
  std::optional<int> mode;  // of the tile memory
  bool foreseen = true;     // the plan's loops lead to this step from the previous one
};

// Contents that exist before the program begins. In the tile memory they include their pads.
struct Provide {
  Place place;
};

// Cells in which nothing lives. Their old contents are lost.
struct Forget {
  std::vector<problem::AddressRange> cells;
};

// A box of one content moves from place to place.
struct Move {
  Box box;
  Place from;
  Place to;
  bool fills = false;  // the whole buffer `to` is filled again: gaps and pads are written too
};

// A transfer may read any byte of its sources and write any byte of its destinations at any moment
// up to the FinishTransfer with its number.
struct StartTransfer {
  int64_t number = 0;
  std::string link;
  std::vector<Move> moves;
  int tensor = -1;
  int op = -1;  // the user of a slice; otherwise -1
  bool out = false;
  bool gives_way = false;  // for a later subgraph
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
    kPartialSums  // the sums of the previous rounds
  };
  Kind kind = Kind::kInput;
  size_t position = 0;  // in the operator's list
  Place place;
};

struct Result {
  Box box;
  Place place;
  bool fills = false;  // as in Move
};

// The operator makes boxes of its results. It may read and write in any order.
struct Compute {
  int op = -1;
  std::string engine;
  std::vector<Operand> operands;
  std::vector<Result> results;
  std::optional<Place> scratch;  // all its cells
  // The range of K that this round adds up. The result is then partial sums, except in the last
  // round.
  std::optional<Range> k_extent;
  RunIndex turn = {};
};

// The engine of an operator moves boxes within the tile memory, one after another, each row by row
// from the top.
struct Copy {
  int op = -1;
  std::string engine;
  std::vector<Move> moves;
  bool restores = false;  // restores kept rows; otherwise saves rows
  RunIndex turn = {};
};

// All elements of the box must be present.
struct Expect {
  Place place;
  Box box;
};

// A fault of the plan that no instruction can express.
struct Refusal {
  std::string message;
};

using Instruction = std::variant<EnterStep, Provide, Forget, StartTransfer, FinishTransfer, Compute,
                                 Copy, Expect, Refusal>;

}  // namespace tessera::plan::execute
