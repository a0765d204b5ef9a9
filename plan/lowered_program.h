#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A plan lowered: jobs for engines and links, with addresses, regions and what each waits for.
// docs/plan-format.md, "Lowering", says what each part means. Bytes, elements and counts; ranges
// are half-open.
namespace tessera::plan {

// A number that grows evenly from tile to tile of a class, and from round to round of a job.
struct Affine {
  int64_t base = 0;            // in the first tile of the class and the first round
  std::vector<int64_t> steps;  // one for each loop; empty: it does not grow
  int64_t per_round = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};

// What an operand is to its job. Sums stand for the result before all is added up: those of rounds
// before, which are read, and those of this round, which are written.
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

// Where the operand begins for tiles of that phase and rounds of that slot: a buffer, or a tensor
// in its home.
struct Spot {
  int phase = 0;
  int slot = 0;
  std::string buffer;  // empty: in its home
  int64_t address = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

// One thing that a job reads or writes, whatever the tile.
struct Operand {
  Part part = Part::kInput;
  int position = 0;    // in the operator's list; of moves: which one
  int tensor = -1;     // -1: scratch
  bool table = false;  // the table beside the constant, not the constant
  int memory = 0;      // index into the profile's memories
  std::vector<Spot> spots;
  std::vector<int64_t> strides;     // bytes from one index to the next, for each axis
  int64_t rolling_buffer_rows = 0;  // rows of a rolling buffer, 0: none; then the rows' axis turns
  bool stored_pads = false;         // what an input has in its padding stands beside it
  bool bordered =
      false;  // a whole buffer with stored pads: they stand around the tensor, not beside the box
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class Cause : uint8_t {
  kData,   // reads what the other writes
  kReuse,  // writes where the other reads or writes
  kMode,   // needs the mode that the other sets, or sets one that the other does not allow
};

// A job waits until the first rounds of another are over, or one round is. Tiles and rounds that do
// not exist are awaited by nobody.
struct Wait {
  int job = 0;
  int64_t tiles = 0;        // the other's tile is so many before
  int64_t first_round = 0;  // the rounds that wait
  int64_t end_round = 1;
  int64_t until_round = 1;             // for rounds of the other before this one
  std::optional<int64_t> rounds_back;  // instead: for one, so many before its own
  Cause cause = Cause::kData;
  friend bool operator==(const Wait&, const Wait&) = default;
};

enum class Does : uint8_t { kLoad, kRestore, kCompute, kSave, kStore, kMode };

// The steps for which modes are set.
enum class Before : uint8_t { kPrologue, kLoad, kCompute, kStore, kEpilogue, kRestore, kSave };

struct Job {
  Does does = Does::kCompute;
  int op = -1;      // restore, compute, save; load of a slice
  int tensor = -1;  // load, store
  Before before =
      Before::kCompute;    // mode: the step that it is set for, of the operator if that has one
  std::vector<int> modes;  // mode: the one of each phase; -1 where no tile of that phase has it
  std::string on;          // engine or link; empty for modes
  bool once = false;       // for the subgraph, before its tiles
  int64_t rounds = 1;
  std::vector<Operand> operands;
  std::vector<Wait> waits;
  friend bool operator==(const Job&, const Job&) = default;
};

// The elements of one operand that a job is about, a box of its tensor, and where the first lies.
// Of a kTo the box is that of the kFrom before it, and left out.
template <typename Number>
struct RegionOf {
  size_t operand = 0;
  bool fills = false;  // the buffer is begun anew: what it held is gone, pads and gaps included
  std::vector<Number> begin;
  std::vector<Number> extent;
  Number offset =
      {};  // of the box's first element behind the spot, of its first row in the rolling buffer if there is one
  Number turn = {};  // the box begins in this row of the rolling buffer, mod its rows
  std::vector<Number> pad_low =
      {};  // beside the box, or around the tensor: taps in the padding of an input, stored pads that are written
  std::vector<Number> pad_high = {};
  friend bool operator==(const RegionOf&, const RegionOf&) = default;
};
using Region = RegionOf<Affine>;
using FixedRegion = RegionOf<int64_t>;

// What a job does in some of its rounds.
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

// Tiles that all do the same, up to numbers that grow evenly.
struct TileClass {
  std::vector<Trips> trips;  // one range for each loop
  std::vector<Work> work;    // by job
  friend bool operator==(const TileClass&, const TileClass&) = default;
};

// Along one axis of the last operator's first output.
struct Loop {
  int axis = 0;
  int64_t extent = 1;
  int64_t tile = 1;
  int64_t trips = 1;
  friend bool operator==(const Loop&, const Loop&) = default;
};

struct Lowered {
  std::vector<Loop> loops;  // outermost first; axes of one trip are left out
  int64_t phases = 1;       // a tile's phase is its number mod this
  std::vector<Job> jobs;
  std::vector<Work> once;  // of the jobs that run once
  std::vector<TileClass> classes;
  friend bool operator==(const Lowered&, const Lowered&) = default;
};

// Parallel to the plan's subgraphs. All of one is over before the next begins.
struct Program {
  std::vector<Lowered> subgraphs;
  friend bool operator==(const Program&, const Program&) = default;
};

// Calls `visit` with each number of the region, in an order of their own.
template <typename Any, typename Visit>
void ForEachNumber(Any& region, const Visit& visit) {
  for (auto* list : {&region.begin, &region.extent, &region.pad_low, &region.pad_high}) {
    for (auto& number : *list) visit(number);
  }
  visit(region.offset);
  visit(region.turn);
}

// The region with each number made anew: make(number), in the order of ForEachNumber.
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

// The words of plan.json for what program.h enumerates, in the order of the enumerators, and what
// it says besides of classes.

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
