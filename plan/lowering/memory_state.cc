// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowering/memory_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/lowering/performer.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::lowering {

using execute::Contents;

TaggedMemories::TaggedMemories(const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) {
    const auto pages = static_cast<size_t>(base::CeilDiv(size, kPage));
    Memory& memory = memories_.emplace_back();
    memory.cells = size;
    memory.pages.resize(pages);
    memory.constants.assign(pages, -1);
  }
}

void TaggedMemories::BeginRuns(const RunOrder& order) {
  order_ = &order;
  first_ = latest_ + 1;
  first_set_ += static_cast<int32_t>(sets_.size());
  sets_.clear();
}

void TaggedMemories::Begin(int run) {
  current_ = first_ + run;
  latest_ = std::max(latest_, current_);
  joined_.clear();
  last_set_ = last_other_ = last_looked_ = -1;
  last_in_order_ = true;
  first_own_set_ = first_set_ + static_cast<int32_t>(sets_.size());
}

TaggedMemories::Cell& TaggedMemories::AtMissing(int memory, int64_t cell) {
  const int32_t constant = memories_[static_cast<size_t>(memory)].constants[PageOf(cell)];
  return constant < 0 ? Own(memory, cell) : constants_[static_cast<size_t>(constant)].shared;
}

TaggedMemories::Cell& TaggedMemories::Own(int memory, int64_t cell) {
  Memory& in = memories_[static_cast<size_t>(memory)];
  std::unique_ptr<Cell[]>& page = in.pages[PageOf(cell)];
  if (!page) {
    page = std::make_unique<Cell[]>(static_cast<size_t>(kPage));
    const int32_t constant = in.constants[PageOf(cell)];
    for (int64_t i = 0; constant >= 0 && i < kPage; ++i) {
      const Constant& around = constants_[static_cast<size_t>(constant)];
      page[static_cast<size_t>(i)] = around.shared;
      page[static_cast<size_t>(i)].tag +=
          static_cast<Tag>((cell & ~(kPage - 1)) + i - around.begin);
    }
  }
  return page[InPage(cell)];
}

Tag TaggedMemories::TagAt(int memory, int64_t cell) const {
  const Memory& in = memories_[static_cast<size_t>(memory)];
  if (const auto& page = in.pages[PageOf(cell)]) return page[InPage(cell)].tag;
  const int32_t constant = in.constants[PageOf(cell)];
  if (constant < 0) return execute::kNothing;
  const Constant& around = constants_[static_cast<size_t>(constant)];
  return around.shared.tag + static_cast<Tag>(cell - around.begin);
}

void TaggedMemories::SetConstant(int memory, const problem::AddressRange& cells, Tag first) {
  Memory& in = memories_[static_cast<size_t>(memory)];
  constants_.push_back({{first, -1, 0}, cells.begin});
  for (int64_t cell = cells.begin; cell < cells.end;) {
    const bool whole = (cell & (kPage - 1)) == 0 && cell + kPage <= cells.end;
    if (whole && !in.pages[PageOf(cell)]) {
      in.constants[PageOf(cell)] = static_cast<int32_t>(constants_.size()) - 1;
      cell += kPage;
    } else {
      Set(memory, cell, first + static_cast<Tag>(cell - cells.begin));
      ++cell;
    }
  }
}

bool TaggedMemories::LooksUpOrder(int32_t other) {
  last_other_ = other;
  last_in_order_ = order_->Precedes(other - first_, current_ - first_);
  return last_in_order_;
}

// A member that is not over before the current run begins, or -1.
int32_t TaggedMemories::OutOfOrderIn(int32_t set) {
  if (set == last_looked_) return last_out_of_order_;
  last_looked_ = set;
  last_out_of_order_ = -1;
  for (const int32_t reader : sets_[static_cast<size_t>(set - first_set_)]) {
    const bool over = reader == current_ || order_->Precedes(reader - first_, current_ - first_);
    if (!over) last_out_of_order_ = reader;
  }
  return last_out_of_order_;
}

int32_t TaggedMemories::LooksUpJoined(int32_t set) {
  last_set_ = set;
  const auto [known, fresh] = joined_.emplace(set, 0);
  if (!fresh) return last_joined_ = known->second;
  std::vector<int32_t> members = {current_};
  if (set >= first_set_) {
    for (const int32_t member : sets_[static_cast<size_t>(set - first_set_)]) {
      if (!IsInOrder(member)) members.push_back(member);
    }
  }
  sets_.push_back(std::move(members));
  const int32_t number = first_set_ + static_cast<int32_t>(sets_.size()) - 1;
  joined_[number] = number;
  return last_joined_ = joined_[set] = number;
}

TaggedMemories::Conflict TaggedMemories::ConflictAt(const Cell& cell) {
  Conflict conflict;
  if (!IsInOrder(cell.writer)) conflict = {cell.writer, false, cell.tag};
  const int32_t reader = cell.readers >= first_set_ ? OutOfOrderIn(cell.readers) : -1;
  if (reader >= 0) conflict = {reader, true, cell.tag};
  return conflict;
}

using problem::AccessKind;

namespace {

constexpr size_t kMostBanks = 64;

bool Allows(const problem::BankMode& state, const std::string& engine, problem::AccessKind kind) {
  return !state.off &&
         std::any_of(state.allowed.begin(), state.allowed.end(), [&](const auto& permission) {
           return permission.kind == kind &&
                  (permission.engine.empty() || permission.engine == engine);
         });
}

}  // namespace

AccessRules::AccessRules(problem::Memory memory, int64_t cells_per_byte)
    : memory_(std::move(memory)), cells_per_byte_(cells_per_byte) {}

AccessRules::Banks AccessRules::BanksAt(int64_t begin, int64_t end) const {
  Banks banks = 0;
  for (size_t i = 0; i < std::min(memory_.banks.size(), kMostBanks); ++i) {
    const problem::AddressRange cells = CellsOf(memory_.banks[i].range);
    if (begin < cells.end && cells.begin < end) banks |= Banks{1} << i;
  }
  return banks;
}

bool AccessRules::IsReserved(int64_t begin, int64_t end) const {
  return std::any_of(memory_.reserved.begin(), memory_.reserved.end(), [&](const auto& reserved) {
    const problem::AddressRange cells = CellsOf(reserved.range);
    return begin < cells.end && cells.begin < end;
  });
}

int AccessRules::FirstForbidden(int mode, Banks banks, const std::string& engine,
                                problem::AccessKind kind) const {
  if (mode < 0 || static_cast<size_t>(mode) >= memory_.modes.size()) return -1;
  const std::vector<problem::BankMode>& states = memory_.modes[static_cast<size_t>(mode)].banks;
  for (size_t i = 0; i < std::min(states.size(), kMostBanks); ++i) {
    if ((banks >> i & 1) != 0 && !Allows(states[i], engine, kind)) return static_cast<int>(i);
  }
  return -1;
}

bool AccessRules::MayFollow(int mode, int next) const {
  const auto& allowed = memory_.transitions;
  return mode == next || !allowed ||
         std::find(allowed->begin(), allowed->end(), std::pair(mode, next)) != allowed->end();
}

void Modes::BeginRuns(const RunOrder& order) {
  order_ = &order;
  if (!switches_.empty()) before_ = switches_.back().mode;
  switches_.clear();
  running_.clear();
}

bool Modes::Allows(int mode, const BankUse& use) const {
  return rules_.FirstForbidden(mode, use.read, use.engine, AccessKind::kRead) < 0 &&
         rules_.FirstForbidden(mode, use.written, use.engine, AccessKind::kWrite) < 0;
}

std::string Modes::Refusal(int mode, const BankUse& use) const {
  const int unread = rules_.FirstForbidden(mode, use.read, use.engine, AccessKind::kRead);
  const int bank = unread >= 0
                       ? unread
                       : rules_.FirstForbidden(mode, use.written, use.engine, AccessKind::kWrite);
  const problem::Memory& memory = rules_.Memory();
  return fmt::format("may find mode '{}', which does not let '{}' {} bank '{}'",
                     memory.modes[static_cast<size_t>(mode)].name, use.engine,
                     unread >= 0 ? "read" : "write", memory.banks[static_cast<size_t>(bank)].name);
}

std::string Modes::Switch(int run, int mode) {
  std::string fault;
  const std::optional<int> last =
      switches_.empty() ? before_ : std::optional(switches_.back().mode);
  if (!switches_.empty() && !order_->Precedes(switches_.back().run, run))
    fault = fmt::format("does not wait for #{}, which sets a mode too", switches_.back().run);
  if (fault.empty() && last && !rules_.MayFollow(*last, mode))
    fault = fmt::format("sets mode {}, which may not follow mode {}", mode, *last);
  for (const Running& running : running_) {
    if (fault.empty() && !order_->Precedes(running.run, run) && !Allows(mode, running.use))
      fault = fmt::format("does not wait for #{}, which its mode does not allow", running.run);
  }
  std::erase_if(running_,
                [&](const Running& running) { return order_->Precedes(running.run, run); });
  switches_.push_back({run, mode});
  return fault;
}

std::string Modes::Use(int run, const BankUse& use) {
  if (rules_.Memory().modes.empty() || (use.read == 0 && use.written == 0)) return "";
  running_.push_back({run, use});
  for (size_t i = switches_.size(); i-- > 0;) {
    if (!Allows(switches_[i].mode, use)) return Refusal(switches_[i].mode, use);
    if (order_->Precedes(switches_[i].run, run)) return "";
  }
  if (before_) return Allows(*before_, use) ? "" : Refusal(*before_, use);
  for (size_t mode = 0; mode < rules_.Memory().modes.size(); ++mode) {
    if (!Allows(static_cast<int>(mode), use)) return Refusal(static_cast<int>(mode), use);
  }
  return "";
}

using base::Axis;

void WholeTensors::Provide(int tensor, TaggedMemories& memories) const {
  const bool constant = plan_.network.tensors[static_cast<size_t>(tensor)].constant;
  if (constant && !places_.IsWhole(tensor)) return ProvideConstant(tensor, memories);
  ForEachCell(tensor, /*pads=*/true, [&memories](const WholeCell& cell) {
    if (memories.Contains(cell.memory, cell.address))
      memories.Set(cell.memory, cell.address, cell.tag);
  });
}

// Elements are in row-major order, so that their tags are consecutive. The same holds for the
// table, which follows them.
void WholeTensors::ProvideConstant(int constant, TaggedMemories& memories) const {
  for (const Home& home : plan_.homes) {
    for (size_t i = 0; i < home.tensors.size(); ++i) {
      if (home.tensors[i] != constant) continue;
      int64_t begin = home.allocation.offsets[i] * contents_.CellsPerByte();
      for (const int content : {constant, contents_.TablesOf(constant)}) {
        const int64_t end = begin + graph::ElementsOf(contents_.ShapeOf(content)) *
                                        contents_.CellsPerElement(content);
        if (begin < end && memories.Contains(home.memory, begin) &&
            memories.Contains(home.memory, end - 1))
          memories.SetConstant(home.memory, {begin, end}, Contents::TagOf(content, 0));
        begin = base::RoundUp(end, contents_.CellsPerByte());
      }
    }
  }
}

std::string WholeTensors::FindMissing(int tensor, const TaggedMemories& memories) const {
  int64_t missing = 0;
  std::string first;
  ForEachCell(tensor, /*pads=*/false, [&](const WholeCell& cell) {
    const bool exists = memories.Contains(cell.memory, cell.address);
    const Tag found = exists ? memories.TagAt(cell.memory, cell.address) : execute::kNothing;
    if (found == cell.tag || missing++ > 0) return;
    first = fmt::format("{} should lie at address {}, which holds {}", contents_.Describe(cell.tag),
                        cell.address / contents_.CellsPerByte(), contents_.Describe(found));
  });
  if (missing == 0) return "";
  return fmt::format("{} is not complete: {}; {} cells in all", contents_.NameOf(tensor), first,
                     missing);
}

void WholeTensors::ForEachCell(int tensor, bool pads, const Visit& visit) const {
  const bool constant = plan_.network.tensors[static_cast<size_t>(tensor)].constant;
  if (places_.IsWhole(tensor)) {
    WalkBuffer(constant ? places_.OfConstantWhole(tensor, {}, false) : places_.OfWhole(tensor, {}),
               pads, visit);
    if (constant && places_.HasTable(tensor))
      WalkBuffer(places_.OfConstantWhole(tensor, {}, true), pads, visit);
    return;
  }
  for (const Home& home : plan_.homes) {
    for (size_t i = 0; i < home.tensors.size(); ++i) {
      if (home.tensors[i] == tensor)
        WalkHome(home, home.allocation.offsets[i] * contents_.CellsPerByte(), tensor, visit);
    }
  }
}

void WholeTensors::PutElement(int memory, int64_t address, int content, int64_t number,
                              const Visit& visit) const {
  const int64_t cells = contents_.CellsPerElement(content);
  for (int64_t part = 0; part < cells; ++part)
    visit({memory, address + part, Contents::TagOf(content, number * cells + part)});
}

// Order: batches, rows, columns, channels. A constant is visited element by element, then its
// table.
void WholeTensors::WalkHome(const Home& home, int64_t address, int tensor,
                            const Visit& visit) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
  const size_t rank = facts.shape.size();
  const int64_t cells = contents_.CellsPerElement(tensor);
  if (facts.constant || !plan::MeaningOf(rank, 0)) {
    const int64_t elements = graph::ElementsOf(facts.shape);
    for (int64_t i = 0; i < elements; ++i)
      PutElement(home.memory, address + i * cells, tensor, i, visit);
    const int table = contents_.TablesOf(tensor);
    const int64_t behind = address + base::RoundUp(elements * cells, contents_.CellsPerByte());
    for (int64_t i = 0; facts.constant && i < contents_.ShapeOf(table).front(); ++i)
      PutElement(home.memory, behind + i * contents_.CellsPerByte(), table, i, visit);
    return;
  }
  std::map<Axis, int64_t> extent = {
      {Axis::kBatch, 1}, {Axis::kRows, 1}, {Axis::kColumns, 1}, {Axis::kChannels, 1}};
  std::map<Axis, int64_t> step;  // row-major
  int64_t inside = 1;            // elements of all axes inside this one
  for (size_t axis = rank; axis-- > 0; inside *= facts.shape[axis]) {
    const Axis meaning = plan::MeaningOf(rank, axis).value_or(Axis::kBatch);
    extent[meaning] *= facts.shape[axis];
    step.try_emplace(meaning, inside);
  }
  const hw_profiles::RoleLayout& layout =
      hw_profiles::LayoutOf(plan_.profile, verify::RoleAtHome(facts));
  const int64_t blocks = base::CeilDiv(extent[Axis::kChannels], layout.channel_block);
  const int64_t column = blocks * layout.channel_block * cells;
  const int64_t row = base::RoundUp(extent[Axis::kColumns] * column,
                                    layout.row_pitch_bytes * contents_.CellsPerByte());
  for (int64_t b = 0; b < extent[Axis::kBatch]; ++b) {
    for (int64_t r = 0; r < extent[Axis::kRows]; ++r) {
      for (int64_t c = 0; c < extent[Axis::kColumns]; ++c) {
        const int64_t before =
            b * step[Axis::kBatch] + r * step[Axis::kRows] + c * step[Axis::kColumns];
        for (int64_t ch = 0; ch < extent[Axis::kChannels]; ++ch)
          PutElement(home.memory, address + c * column + ch * cells, tensor,
                     before + ch * step[Axis::kChannels], visit);
      }
      address += row;
    }
  }
}

void WholeTensors::WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const {
  const plan::Box box = plan::WholeOf(contents_.ShapeOf(place.content));
  const plan::ElementSet elements = pads ? execute::WithPads(place, box) : plan::AllOf(box);
  Walk walk;
  for (size_t axis = 0; axis < place.axes.size(); ++axis) {
    const execute::AxisPlace& at = place.axes[axis];
    std::vector<Point>& points = walk.emplace_back();
    for (const int64_t index : elements.axes[axis])
      points.push_back({execute::PositionOf(at, index) * at.address_step, index * at.number_step,
                        index < 0 || index >= at.extent});
  }
  const Tag pad = Contents::TagOf(contents_.PaddingOf(place.content), 0);
  ForEachSeries(walk, [&](const Series& series) {
    for (int64_t i = 0; i < series.count; ++i) {
      const int64_t address = place.base + series.first.address + i * series.address_step;
      if (!series.first.pad) {
        PutElement(plan_.profile.tile_memory, address, place.content,
                   series.first.number + i * series.number_step, visit);
        continue;
      }
      for (int64_t part = 0; part < place.element_cells; ++part)
        visit({plan_.profile.tile_memory, address + part, pad});
    }
  });
}

}  // namespace tessera::plan::lowering
