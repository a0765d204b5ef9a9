#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/plan/execute/place.h"

// The program of a plan, one instruction after another. Instructions name places and boxes; what
// they stand for in the plan has no more part in running them.
namespace tessera::plan::execute {

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

// Which run of a transfer, an operator or a copy: the tile that it is for, and its round of that
// tile's.
struct RunIndex {
  int64_t tile = -1;  // -1: for the subgraph, before its tiles
  int phase = 0;
  int64_t round = 0;
  int64_t rounds = 1;
  int slot = 0;  // of slices
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
    kPartialSums
  };  // kPartialSums: what rounds before have added up
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
  std::optional<Range>
      k_extent;  // what it adds up in this round; the result is then sums, but in the last
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
