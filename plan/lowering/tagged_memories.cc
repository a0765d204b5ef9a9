#include "tessera/plan/lowering/tagged_memories.h"

#include <algorithm>

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
    const bool over =
        reader < first_ || reader == current_ || order_->Precedes(reader - first_, current_ - first_);
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

}  // namespace tessera::plan::lowering
