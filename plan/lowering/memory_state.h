// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/lowering/run_order.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::lowering {

using execute::Tag;

// The memories of a plan, cell by cell (execute::Contents: a cell is a byte, or half of one): the
// content of each cell, the run that wrote it, and the runs that have read it since. Two runs that
// touch a cell must be in order if one of them writes it. Then the reads get the same values in
// every permitted order of the runs, and one order represents all (data-race freedom, Adve and Hill
// 1990).
//
// The readers of a cell are a set of runs, and sets are numbered: cells with the same readers share
// a set. A set drops a run that comes before a run that joins it, so it contains only runs that are
// concurrent.
//
// Cells are kept in pages, from the first touch on. Constants at home are the largest part of most
// plans and never change: a page that lies in one has no cells until something writes to it.
class TaggedMemories {
 public:
  explicit TaggedMemories(const std::vector<int64_t>& sizes);  // cells by memory

  // Ends all previous runs. The following runs are numbered by `order` from 0 on. `order` must
  // outlive them.
  void BeginRuns(const RunOrder& order);

  // The run of the following accesses.
  void Begin(int run);

  bool Contains(int memory, int64_t cell) const {
    return cell >= 0 && cell < memories_[static_cast<size_t>(memory)].cells;
  }
  Tag TagAt(int memory, int64_t cell) const;

  // The last run that wrote the cell, counted through all orders; -1 if none has.
  int32_t WriterAt(int memory, int64_t cell) { return At(memory, cell).writer; }

  // A run that touches the cell and is not in order with the current run, counted through all
  // orders; -1 if there is none.
  struct Conflict {
    int32_t run = -1;
    bool reads = false;  // it reads the cell; else it writes it
    Tag found = execute::kNothing;
  };

  // Cells of one memory in equal steps, all of them within it.
  struct Cells {
    int64_t first = 0;
    int64_t step = 1;
    int64_t count = 1;
  };

  // Calls look(i, tag, run) for each cell i: its content, and a run that writes it and is not in
  // order with the current one, or -1.
  template <typename Look>
  void Read(int memory, const Cells& cells, const Look& look) {
    const Memory& in = memories_[static_cast<size_t>(memory)];
    for (int64_t i = 0, cell = cells.first; i < cells.count; ++i, cell += cells.step) {
      Cell* page = in.pages[PageOf(cell)].get();
      Cell& at = page != nullptr ? page[InPage(cell)] : AtMissing(memory, cell);
      at.readers = Join(at.readers);
      look(i, page != nullptr ? at.tag : TagAt(memory, cell),
           IsInOrder(at.writer) ? -1 : at.writer);
    }
  }

  // Sets the tag of cell i to first + i * step. Calls clash(cell, conflict) for each cell with a
  // conflict.
  template <typename Clash>
  void Write(int memory, const Cells& cells, Tag first, Tag step, const Clash& clash) {
    const Memory& in = memories_[static_cast<size_t>(memory)];
    Tag tag = first;
    for (int64_t i = 0, cell = cells.first; i < cells.count; ++i, cell += cells.step, tag += step) {
      Cell* page = in.pages[PageOf(cell)].get();
      Cell& at = page != nullptr ? page[InPage(cell)] : Own(memory, cell);
      if (at.readers >= first_set_ || !IsInOrder(at.writer)) {
        const Conflict conflict = ConflictAt(at);
        if (conflict.run >= 0) clash(cell, conflict);
      }
      at = {tag, current_, 0};
    }
  }

  // Whether the current run has read the cell, and no run has written it since.
  bool HasRead(int memory, int64_t cell) { return At(memory, cell).readers >= first_own_set_; }

  // Sets the content of the cell without a run that writes it.
  void Set(int memory, int64_t cell, Tag tag) { Own(memory, cell).tag = tag; }

  // Sets the tags of the cells to `first` and the tags after it.
  void SetConstant(int memory, const problem::AddressRange& cells, Tag first);

 private:
  struct Cell {
    Tag tag = execute::kNothing;
    int32_t writer = -1;
    int32_t readers = 0;  // a set; those before first_set_ are empty
  };

  // All cells of a page that lies in a constant, up to their tags.
  struct Constant {
    Cell shared;
    int64_t begin = 0;
  };

  static constexpr int kPageBits = 12;
  static constexpr int64_t kPage = int64_t{1} << kPageBits;
  struct Memory {
    int64_t cells = 0;
    std::vector<std::unique_ptr<Cell[]>> pages;
    std::vector<int32_t> constants;  // by page: the constant around it, or -1
  };

  // The cell, or the one that it shares with a constant.
  Cell& At(int memory, int64_t cell) {
    const auto& page = memories_[static_cast<size_t>(memory)].pages[PageOf(cell)];
    return page ? page[InPage(cell)] : AtMissing(memory, cell);
  }
  static size_t InPage(int64_t cell) { return static_cast<size_t>(cell & (kPage - 1)); }
  Conflict ConflictAt(const Cell& cell);
  Cell& Own(int memory, int64_t cell);
  Cell& AtMissing(int memory, int64_t cell);
  static size_t PageOf(int64_t cell) { return static_cast<size_t>(cell >> kPageBits); }

  bool IsInOrder(int32_t other) {
    if (other < first_ || other == current_) return true;
    return other == last_other_ ? last_in_order_ : LooksUpOrder(other);
  }
  bool LooksUpOrder(int32_t other);
  int32_t OutOfOrderIn(int32_t set);
  int32_t Join(int32_t set) { return set == last_set_ ? last_joined_ : LooksUpJoined(set); }
  int32_t LooksUpJoined(int32_t set);

  std::vector<Memory> memories_;
  std::vector<Constant> constants_;
  const RunOrder* order_ = nullptr;
  int32_t first_ = 0;  // run 0 of this order
  int32_t current_ = -1;
  int32_t latest_ = -1;
  std::vector<std::vector<int32_t>> sets_;
  int32_t first_set_ = 1;      // the number of sets_[0]
  int32_t first_own_set_ = 1;  // sets from here on contain the current run
  // The last answers for the current run. Adjacent cells have the same history.
  std::map<int32_t, int32_t> joined_;  // by set: the one with the current run in it
  int32_t last_set_ = -1;
  int32_t last_joined_ = 0;
  int32_t last_other_ = -1;
  bool last_in_order_ = true;
  int32_t last_looked_ = -1;
  int32_t last_out_of_order_ = -1;
};

// The accesses that the banks, modes and reserved ranges of the tile memory allow.
class AccessRules {
 public:
  using Banks = uint64_t;  // a bit for each of the first 64

  AccessRules(problem::Memory memory, int64_t cells_per_byte);

  // The banks that cells [begin, end) lie in.
  Banks BanksAt(int64_t begin, int64_t end) const;

  // Whether any of these cells may not be used at all.
  bool IsReserved(int64_t begin, int64_t end) const;

  // The first of the banks to which `mode` forbids this access; -1: none, as without modes.
  int FirstForbidden(int mode, Banks banks, const std::string& engine,
                     problem::AccessKind kind) const;

  bool MayFollow(int mode, int next) const;

  const problem::Memory& Memory() const { return memory_; }
  problem::AddressRange CellsOf(const problem::AddressRange& bytes) const {
    return {bytes.begin * cells_per_byte_, bytes.end * cells_per_byte_};
  }

 private:
  problem::Memory memory_;
  int64_t cells_per_byte_;
};

// The accesses of a run to the banks of the tile memory.
struct BankUse {
  std::string engine;
  AccessRules::Banks read = 0;
  AccessRules::Banks written = 0;
};

// The modes that may be in force while a run executes: the mode of the last switch before it, and
// of every switch that is not ordered with it. All of them must allow the accesses of the run.
class Modes {
 public:
  explicit Modes(const AccessRules& rules) : rules_(rules) {}

  // Ends all previous runs. The following runs are numbered by `order`, which must outlive them.
  void BeginRuns(const RunOrder& order);

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

  const AccessRules& rules_;
  const RunOrder* order_ = nullptr;
  std::optional<int> before_;  // the mode in which the runs begin; nullopt: any
  std::vector<Switched> switches_;
  std::vector<Running> running_;
};

// A cell of a tensor that is stored whole.
struct WholeCell {
  int memory = 0;
  int64_t address = 0;
  execute::Tag tag = execute::kNothing;
};

// The cells of tensors that are stored whole, in their home or in a whole buffer. Derived directly
// from docs/program.md, "Inside a buffer" and "Homes", without the strides of any lowering. The
// arguments must outlive it.
class WholeTensors {
 public:
  WholeTensors(const Plan& plan, const execute::Contents& contents, const execute::Places& places)
      : plan_(plan), contents_(contents), places_(places) {}

  // Writes the tensor, with its table and its pads, as it is before the program begins.
  void Provide(int tensor, TaggedMemories& memories) const;

  // Returns why the tensor is not complete ("'x' should be complete .."); empty if it is.
  std::string FindMissing(int tensor, const TaggedMemories& memories) const;

 private:
  using Visit = std::function<void(const WholeCell&)>;

  // Every cell of the elements, and of a constant's table; of pads too if `pads` is set.
  void ForEachCell(int tensor, bool pads, const Visit& visit) const;
  void ProvideConstant(int constant, TaggedMemories& memories) const;
  void WalkHome(const Home& home, int64_t address, int tensor, const Visit& visit) const;
  void WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const;
  void PutElement(int memory, int64_t address, int content, int64_t number,
                  const Visit& visit) const;

  const Plan& plan_;
  const execute::Contents& contents_;
  const execute::Places& places_;
};

}  // namespace tessera::plan::lowering
