#include "tessera/plan/lowering/memory_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "tessera/base/arithmetic.h"

namespace tessera::plan::lowering {

TaggedMemories::TaggedMemories(const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) cells_.emplace_back(static_cast<size_t>(size));
}

void TaggedMemories::BeginSubgraph(const Precedence& order) {
  order_ = &order;
  first_ = latest_ + 1;
}

void TaggedMemories::Begin(int run) {
  current_ = first_ + run;
  latest_ = std::max(latest_, current_);
  joined_.clear();
  last_set_ = last_other_ = last_looked_ = -1;
  last_in_order_ = true;
}

bool TaggedMemories::IsInOrder(int32_t other) {
  if (other < first_ || other == current_) return true;
  if (other == last_other_) return last_in_order_;
  last_other_ = other;
  last_in_order_ = order_->Precedes(other - first_, current_ - first_);
  return last_in_order_;
}

// A member that is not over before the current run begins, or -1.
int32_t TaggedMemories::OutOfOrderIn(int32_t set) {
  if (set == last_looked_) return last_out_of_order_;
  last_looked_ = set;
  last_out_of_order_ = -1;
  for (const int32_t reader : sets_[static_cast<size_t>(set)]) {
    const bool over = reader < first_ || reader == current_ ||
                      order_->Precedes(reader - first_, current_ - first_);
    if (!over) last_out_of_order_ = reader;
  }
  return last_out_of_order_;
}

int32_t TaggedMemories::Join(int32_t set) {
  if (set == last_set_) return last_joined_;
  last_set_ = set;
  const auto [known, fresh] = joined_.emplace(set, 0);
  if (!fresh) return last_joined_ = known->second;
  std::vector<int32_t> members = {current_};
  for (const int32_t member : sets_[static_cast<size_t>(set)]) {
    if (!IsInOrder(member)) members.push_back(member);
  }
  sets_.push_back(std::move(members));
  const auto number = static_cast<int32_t>(sets_.size()) - 1;
  joined_[number] = number;
  return last_joined_ = joined_[set] = number;
}

int TaggedMemories::Read(int memory, int64_t byte) {
  Cell& cell = At(memory, byte);
  const bool in_order = IsInOrder(cell.writer);
  cell.readers = Join(cell.readers);
  return in_order ? -1 : cell.writer - first_;
}

int TaggedMemories::Write(int memory, int64_t byte, Tag tag) {
  Cell& cell = At(memory, byte);
  int32_t other = IsInOrder(cell.writer) ? -1 : cell.writer;
  if (cell.readers != 0) {
    const int32_t reader = OutOfOrderIn(cell.readers);
    if (reader >= 0) other = reader;
  }
  cell = {tag, current_, 0};
  return other < 0 ? -1 : other - first_;
}

bool TaggedMemories::HasRead(int memory, int64_t byte) const {
  const std::vector<int32_t>& readers = sets_[static_cast<size_t>(At(memory, byte).readers)];
  return std::find(readers.begin(), readers.end(), current_) != readers.end();
}

using problem::AccessKind;

void Modes::BeginSubgraph(const Precedence& order) {
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
  return fmt::format("may find mode '{}', which does not let '{}' do what it does",
                     rules_.Memory().modes[static_cast<size_t>(mode)].name, use.engine);
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

void WholeTensors::ForEachByte(int tensor, bool pads, const Visit& visit) const {
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
      if (home.tensors[i] == tensor) WalkHome(home, home.allocation.offsets[i], tensor, visit);
    }
  }
}

void WholeTensors::PutElement(int memory, int64_t address, int content, int64_t number,
                              const Visit& visit) const {
  const int64_t bytes = contents_.CellsPerElement(content);
  for (int64_t part = 0; part < bytes; ++part)
    visit({memory, address + part, execute::Contents::TagOf(content, number * bytes + part)});
}

// Order: batches, rows, columns, channels. A constant is visited element by element, then its
// table.
void WholeTensors::WalkHome(const Home& home, int64_t address, int tensor,
                            const Visit& visit) const {
  const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
  const size_t rank = facts.shape.size();
  const int64_t bytes = contents_.CellsPerElement(tensor);
  if (facts.constant || !execute::MeaningOf(rank, 0)) {
    const int64_t elements = graph::ElementsOf(facts.shape);
    for (int64_t i = 0; i < elements; ++i)
      PutElement(home.memory, address + i * bytes, tensor, i, visit);
    const int64_t table =
        facts.constant ? contents_.ShapeOf(contents_.TablesOf(tensor)).front() : 0;
    for (int64_t i = 0; i < table; ++i)
      PutElement(home.memory, address + elements * bytes + i, contents_.TablesOf(tensor), i, visit);
    return;
  }
  std::map<Axis, int64_t> extent = {
      {Axis::kBatch, 1}, {Axis::kRows, 1}, {Axis::kColumns, 1}, {Axis::kChannels, 1}};
  std::map<Axis, int64_t> step;  // row-major
  for (size_t axis = rank; axis-- > 0;) {
    const Axis meaning = *execute::MeaningOf(rank, axis);
    extent[meaning] = facts.shape[axis];
    step[meaning] = 1;
    for (size_t inner = axis + 1; inner < rank; ++inner) step[meaning] *= facts.shape[inner];
  }
  const hw_profiles::RoleLayout& layout =
      hw_profiles::LayoutOf(plan_.profile, places_.RoleOf(tensor));
  const int64_t blocks = base::CeilDiv(extent[Axis::kChannels], layout.channel_block);
  const int64_t column = blocks * layout.channel_block * bytes;
  for (int64_t b = 0; b < extent[Axis::kBatch]; ++b) {
    for (int64_t r = 0; r < extent[Axis::kRows]; ++r) {
      for (int64_t c = 0; c < extent[Axis::kColumns]; ++c) {
        const int64_t before =
            b * step[Axis::kBatch] + r * step[Axis::kRows] + c * step[Axis::kColumns];
        for (int64_t ch = 0; ch < extent[Axis::kChannels]; ++ch)
          PutElement(home.memory, address + c * column + ch * bytes, tensor,
                     before + ch * step[Axis::kChannels], visit);
      }
      address += base::RoundUp(extent[Axis::kColumns] * column, layout.row_pitch_bytes);
    }
  }
}

void WholeTensors::WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const {
  const execute::Box box = execute::WholeBox(contents_.ShapeOf(place.content));
  const int64_t bytes = place.element_cells;
  for (const execute::Run& run : RunsOf(place, pads ? WithPads(place, box) : AllOf(box))) {
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t address = run.address + i * run.address_step;
      if (!run.pad) {
        PutElement(plan_.profile.tile_memory, address, place.content,
                   run.number + i * run.number_step, visit);
        continue;
      }
      for (int64_t part = 0; part < bytes; ++part)
        visit({plan_.profile.tile_memory, address + part,
               execute::Contents::TagOf(contents_.PaddingOf(place.content), 0)});
    }
  }
}

}  // namespace tessera::plan::lowering
