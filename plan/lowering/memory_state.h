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

// The memories of a plan, byte by byte: the content of each byte, the run that wrote it, and the
// runs that have read it since. Two runs that touch a byte must be in order if one of them writes
// it. Then the reads get the same values in every order that the waits permit, and one run
// represents all (data-race freedom, Adve and Hill 1990).
//
// The readers of a byte are a set of runs, and sets are numbered: bytes with the same readers share
// a set. A set drops a run that comes before a run that joins it, so it contains only runs that are
// concurrent.
class TaggedMemories {
 public:
  explicit TaggedMemories(const std::vector<int64_t>& sizes);  // bytes by memory

  // All previous runs are over. The following runs are numbered by `order` from 0 on. `order` must
  // outlive them.
  void BeginSubgraph(const Precedence& order);

  // The run of the following accesses.
  void Begin(int run);

  bool Contains(int memory, int64_t byte) const {
    return byte >= 0 && byte < static_cast<int64_t>(cells_[static_cast<size_t>(memory)].size());
  }
  Tag TagAt(int memory, int64_t byte) const { return At(memory, byte).tag; }

  // Each returns a run for which the current run should have waited and did not, or -1. The byte is
  // within the memory.
  int Read(int memory, int64_t byte);
  int Write(int memory, int64_t byte, Tag tag);

  // Whether the current run has read the byte, and no run has written it since.
  bool HasRead(int memory, int64_t byte) const;

  // Sets the content of the byte without a run that writes it.
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
  // The last answers for the current run. Adjacent bytes have the same history.
  std::map<int32_t, int32_t> joined_;  // by set: the one with the current run in it
  int32_t last_set_ = -1;
  int32_t last_joined_ = 0;
  int32_t last_other_ = -1;
  bool last_in_order_ = true;
  int32_t last_looked_ = -1;
  int32_t last_out_of_order_ = -1;
};

// The accesses of a run to the banks of the tile memory.
struct BankUse {
  std::string engine;
  execute::AccessRules::Banks read = 0;
  execute::AccessRules::Banks written = 0;
};

// The modes that may be in force while a run executes: the mode of the last switch before it, and
// of every switch that is not ordered with it. All of them must allow the accesses of the run.
class Modes {
 public:
  explicit Modes(const execute::AccessRules& rules) : rules_(rules) {}

  // All previous runs are over. The following runs are numbered by `order`, which must outlive
  // them.
  void BeginSubgraph(const Precedence& order);

  // Each returns the fault in words; empty if there is none.
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

// A byte of a tensor that is stored whole.
struct WholeByte {
  int memory = 0;
  int64_t address = 0;
  execute::Tag tag = execute::kNothing;
};

// The bytes of tensors that are stored whole, in their home or in a whole buffer. Derived directly
// from docs/program.md, "Inside a buffer" and "Homes", without the strides of any lowering. The
// arguments must outlive it.
class WholeTensors {
 public:
  WholeTensors(const Plan& plan, const execute::Contents& contents, const execute::Places& places)
      : plan_(plan), contents_(contents), places_(places) {}

  using Visit = std::function<void(const WholeByte&)>;

  // Every byte of the elements, and of a constant's table; of pads too if `pads` is set.
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
