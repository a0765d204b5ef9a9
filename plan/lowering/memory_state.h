#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/access_rules.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/lowering/run_order.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::lowering {

using execute::Tag;

// The memories of a plan, byte by byte: what each byte holds, which run wrote it, and which have
// read it since. Two runs that touch a byte, one of them writing, must be in order: then every
// order that the waits permit gives the reads the same values as the one that is tried, and one run
// stands for all (data-race freedom, Adve and Hill 1990).
//
// Who has read a byte is a set of runs, and sets are numbered: bytes that the same runs have read
// share one. A set drops a run that comes before one that joins it, so it holds only what runs side
// by side.
class TaggedMemories {
 public:
  explicit TaggedMemories(const std::vector<int64_t>& sizes);  // bytes by memory

  // All runs so far are over; those that follow are numbered by `order` from 0 on, which outlives
  // them.
  void BeginSubgraph(const Precedence& order);

  // Who touches from here on.
  void Begin(int run);

  bool Contains(int memory, int64_t byte) const {
    return byte >= 0 && byte < static_cast<int64_t>(cells_[static_cast<size_t>(memory)].size());
  }
  Tag TagAt(int memory, int64_t byte) const { return At(memory, byte).tag; }

  // Each gives the run that it should have waited for and did not, or -1. The byte is within the
  // memory.
  int Read(int memory, int64_t byte);
  int Write(int memory, int64_t byte, Tag tag);

  // Whether the current run has read the byte, and nobody has written it since.
  bool HasRead(int memory, int64_t byte) const;

  // What the byte holds, without a run that would have put it there.
  void Set(int memory, int64_t byte, Tag tag) { At(memory, byte).tag = tag; }

 private:
  struct Cell {
    Tag tag = execute::kNothing;
    int32_t writer = -1;  // counted through all subgraphs
    int32_t readers = 0;  // a set
  };

  Cell& At(int memory, int64_t byte) {
    return cells_[static_cast<size_t>(memory)][static_cast<size_t>(byte)];
  }
  const Cell& At(int memory, int64_t byte) const {
    return cells_[static_cast<size_t>(memory)][static_cast<size_t>(byte)];
  }
  bool IsInOrder(int32_t other);
  int32_t OutOfOrderIn(int32_t set);
  int32_t Join(int32_t set);

  std::vector<std::vector<Cell>> cells_;
  const Precedence* order_ = nullptr;
  int32_t first_ = 0;  // run 0 of this subgraph
  int32_t current_ = -1;
  int32_t latest_ = -1;
  std::vector<std::vector<int32_t>> sets_ = {{}};
  // The last answers for the current run: neighbouring bytes have the same history.
  std::map<int32_t, int32_t> joined_;  // by set: the one with the current run in it
  int32_t last_set_ = -1;
  int32_t last_joined_ = 0;
  int32_t last_other_ = -1;
  bool last_in_order_ = true;
  int32_t last_looked_ = -1;
  int32_t last_out_of_order_ = -1;
};

// What a run does to the banks of the tile memory.
struct BankUse {
  std::string engine;
  execute::AccessRules::Banks read = 0;
  execute::AccessRules::Banks written = 0;
};

// Which modes may be in force while a run is under way: that of the last switch before it, and of
// every switch that is not in order with it. All of them must allow what it does.
class Modes {
 public:
  explicit Modes(const execute::AccessRules& rules) : rules_(rules) {}

  // All runs so far are over; those that follow are numbered by `order`, which outlives them.
  void BeginSubgraph(const Precedence& order);

  // Each gives what is wrong, in words; empty if nothing is.
  std::string Switch(int run, int mode);
  std::string Use(int run, const BankUse& use);

 private:
  struct Switched {
    int run = 0;
    int mode = 0;
  };
  struct Running {
    int run = 0;
    BankUse use;
  };

  bool Allows(int mode, const BankUse& use) const;
  std::string Refusal(int mode, const BankUse& use) const;

  const execute::AccessRules& rules_;
  const Precedence* order_ = nullptr;
  std::optional<int> before_;  // the mode in which the subgraph begins; nullopt: any
  std::vector<Switched> switches_;
  std::vector<Running> running_;
};

// A byte of a tensor where it lies whole.
struct WholeByte {
  int memory = 0;
  int64_t address = 0;
  execute::Tag tag = execute::kNothing;
};

// The bytes of tensors where they lie whole, in their home or in a whole buffer, straight from
// docs/program.md, "Inside a buffer" and "Homes", without the strides of any lowering. What it
// refers to outlives it.
class WholeTensors {
 public:
  WholeTensors(const Plan& plan, const execute::Contents& contents, const execute::Places& places)
      : plan_(plan), contents_(contents), places_(places) {}

  using Visit = std::function<void(const WholeByte&)>;

  // Every byte of the elements, and of a constant's table; of pads too where asked for.
  void ForEachByte(int tensor, bool pads, const Visit& visit) const;

 private:
  void WalkHome(const Home& home, int64_t address, int tensor, const Visit& visit) const;
  void WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const;
  void PutElement(int memory, int64_t address, int content, int64_t number,
                  const Visit& visit) const;

  const Plan& plan_;
  const execute::Contents& contents_;
  const execute::Places& places_;
};

}  // namespace tessera::plan::lowering
