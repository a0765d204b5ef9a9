// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A lowered plan: jobs for engines and links, with addresses, regions and waits.
// docs/plan-format.md, "Lowering", defines each part. Numbers are bytes, elements and counts;
// ranges are half-open.
namespace tessera::plan {

// A number that is linear in the tile's position within its class and in the round of a job.
struct Affine {
  int64_t base = 0;            // in the first tile of the class and the first round
  std::vector<int64_t> steps;  // one for each loop; empty: constant
  int64_t per_round = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};

// The role of an operand in its job. Partial sums stand for the result before all slices are added:
// the sums of previous rounds, which are read, and those of this round, which are written.
enum class Part : uint8_t {
  kInput,
  kConstant,
  kTable,
  kOutput,
  kScratch,
  kFrom,
  kTo,
  kAddend,
  kPartialSums
};

// The location of the operand for tiles of one phase and rounds of one slot: a buffer, or a tensor
// in its home.
struct Spot {
  int phase = 0;
  int slot = 0;
  std::string buffer;  // empty: in its home
  int64_t address = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// One operand that a job reads or writes, the same for all tiles.
struct Operand {
  Part part = Part::kInput;
  int position = 0;    // in the operator's list; for moves: which of the two
  int tensor = -1;     // -1: scratch
  bool table = false;  // the table next to the constant, not the constant
  int memory = 0;      // index into the profile's memories
  std::vector<Spot> spots;
  std::vector<int64_t> strides;  // bytes from one index to the next, for each axis
  // rows of a rolling buffer (the axis of rows wraps around), or 0
  int64_t rolling_buffer_rows = 0;
  bool stored_pads = false;  // the padding of an input is stored next to it
  // a whole buffer with stored pads: they lie around the tensor, not next to the box
  bool padded_around = false;
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class Cause : uint8_t {
  kData,   // reads the data that the other writes
  kReuse,  // writes bytes that the other reads or writes
  kMode,   // needs the mode that the other sets, or sets a mode that forbids the other
};

// A job waits until the first rounds of another job, or one of its rounds, are over. Waits for
// tiles and rounds that do not exist have no effect.
struct Wait {
  int job = 0;
  int64_t tiles = 0;        // the tile of the other job is this many tiles before
  int64_t first_round = 0;  // the rounds that wait
  int64_t end_round = 1;
  int64_t until_round = 1;  // they wait for rounds of the other job before this one
  // alternative: they wait for one round, this many before their own
  std::optional<int64_t> rounds_back;
  Cause cause = Cause::kData;
  friend bool operator==(const Wait&, const Wait&) = default;
};

enum class Does : uint8_t { kLoad, kRestore, kCompute, kSave, kStore, kMode };

// The steps before which modes are set.
enum class Before : uint8_t { kPrologue, kLoad, kCompute, kStore, kEpilogue, kRestore, kSave };

struct Job {
  Does does = Does::kCompute;
  int op = -1;      // restore, compute, save; load of a slice
  int tensor = -1;  // load, store
  // mode: the step for which it is set, with the operator if the step has one
  Before before = Before::kCompute;
  std::vector<int> modes;  // mode: the mode of each phase; -1 if no tile of that phase has one
  std::string on;          // engine or link; empty for modes
  bool once = false;       // runs once for the subgraph, before its tiles
  bool gives_way = false;  // load: other jobs that wait for the port come first
  int64_t rounds = 1;
  std::vector<Operand> operands;
  std::vector<Wait> waits;
  friend bool operator==(const Job&, const Job&) = default;
};

// The elements of one operand that a job accesses: a box of its tensor, and the position of its
// first element. For a kTo the box is that of the preceding kFrom and is left out.
template <typename Number>
struct RegionOf {
  size_t operand = 0;
  // the buffer is filled again: its old contents are lost, including pads and gaps
  bool fills = false;
  std::vector<Number> begin;
  std::vector<Number> extent;
  // offset of the box's first element from the spot, or of its first row in the rolling buffer
  Number offset = {};
  Number turn = {};  // the row of the rolling buffer in which the box begins, mod its rows
  // next to the box or around the tensor: taps in the padding of an input, stored pads that are
  // written
  std::vector<Number> pad_low = {};
  std::vector<Number> pad_high = {};
  friend bool operator==(const RegionOf&, const RegionOf&) = default;
};
using Region = RegionOf<Affine>;
using FixedRegion = RegionOf<int64_t>;

// The action of a job in some of its rounds.
struct Work {
  int job = 0;
  int64_t first_round = 0;
  int64_t end_round = 1;
  std::vector<Region> regions;
  friend bool operator==(const Work&, const Work&) = default;
};

struct Trips {
  int64_t begin = 0;
  int64_t end = 1;
  friend bool operator==(const Trips&, const Trips&) = default;
};

// Tiles with the same work, up to numbers that are linear in their position.
struct TileClass {
  std::vector<Trips> trips;  // one range for each loop
  std::vector<Work> work;    // by job
  friend bool operator==(const TileClass&, const TileClass&) = default;
};

// One axis of the last operator's first output.
struct Loop {
  int axis = 0;
  int64_t extent = 1;
  int64_t tile = 1;
  int64_t trips = 1;
  friend bool operator==(const Loop&, const Loop&) = default;
};

struct Lowered {
  std::vector<Loop> loops;  // outermost first; axes with one trip are left out
  int64_t phases = 1;       // the phase of a tile is its number mod this
  std::vector<Job> jobs;
  std::vector<Work> once;  // of the jobs that run once
  std::vector<TileClass> classes;
  friend bool operator==(const Lowered&, const Lowered&) = default;
};

// Parallel to the plan's subgraphs. Each subgraph completes before the next begins.
struct Program {
  std::vector<Lowered> subgraphs;
  friend bool operator==(const Program&, const Program&) = default;
};

// Calls `visit` with each number of the region, in a fixed order.
template <typename Any, typename Visit>
void ForEachNumber(Any& region, const Visit& visit) {
  for (auto* list : {&region.begin, &region.extent, &region.pad_low, &region.pad_high}) {
    for (auto& number : *list) visit(number);
  }
  visit(region.offset);
  visit(region.turn);
}

// The region with each number replaced by make(number), in the order of ForEachNumber.
template <typename Number, typename From, typename Make>
RegionOf<Number> MakeRegion(const RegionOf<From>& from, const Make& make) {
  RegionOf<Number> made{from.operand,
                        from.fills,
                        std::vector<Number>(from.begin.size()),
                        std::vector<Number>(from.extent.size()),
                        {},
                        {},
                        std::vector<Number>(from.pad_low.size()),
                        std::vector<Number>(from.pad_high.size())};
  std::vector<Number> numbers;
  ForEachNumber(from, [&](const From& number) { numbers.push_back(make(number)); });
  size_t next = 0;
  ForEachNumber(made, [&](Number& number) { number = std::move(numbers[next++]); });
  return made;
}

// The words of plan.json for the enumerations above, in the order of the enumerators, and its names
// of classes.

inline constexpr std::array<std::string_view, 9> kPartNames = {
    "input", "constant", "table", "output", "scratch", "from", "to", "addend", "partial_sums"};
inline constexpr std::array<std::string_view, 6> kDoesNames = {"load", "restore", "compute",
                                                               "save", "store",   "mode"};
inline constexpr std::array<std::string_view, 7> kBeforeNames = {
    "prologue", "load", "compute", "store", "epilogue", "restore", "save"};
inline constexpr std::array<std::string_view, 3> kCauseNames = {"data", "reuse", "mode"};

// "first", "steady", "last", "ragged", "all", or one of these for each loop: "first, steady".
std::string NameOf(const TileClass& tiles, const std::vector<Loop>& loops);

int64_t CountOf(const TileClass& tiles);

// The phases of its tiles, ascending.
std::vector<int64_t> PhasesOf(const TileClass& tiles, const Lowered& lowered);

}  // namespace tessera::plan
