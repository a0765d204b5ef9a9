#include "tessera/search/allocate/positions.h"

#include <algorithm>

namespace tessera::search {

using problem::Buffer;
using problem::Memory;
using problem::Problem;
using problem::Span;

Positions::Positions(std::vector<AddressRange> windows, Bytes alignment, Bytes size)
    : windows_(std::move(windows)), alignment_(alignment), size_(size) {
  plain_ = alignment_ == 1 && windows_.size() == 1 && windows_[0] == AddressRange{0, kNowhere};
}

Bytes Positions::Search(Bytes offset) const {
  auto window = std::partition_point(windows_.begin(), windows_.end(),
                                     [&](const AddressRange& w) { return w.end < offset + size_; });
  for (; window != windows_.end(); ++window) {
    const Bytes position = base::RoundUp(std::max(offset, window->begin), alignment_);
    if (position + size_ <= window->end) return position;
  }
  return kNowhere;
}

Bytes Positions::SearchBelow(Bytes offset) const {
  auto window = std::partition_point(windows_.begin(), windows_.end(),
                                     [&](const AddressRange& w) { return w.begin < offset; });
  while (window != windows_.begin()) {
    --window;
    const Bytes position = base::RoundDown(std::min(offset - 1, window->end - size_), alignment_);
    if (position >= window->begin) return position;
  }
  return -1;
}

void Subtract(std::vector<AddressRange>& windows, AddressRange hole) {
  std::vector<AddressRange> rest;
  for (const AddressRange& window : windows) {
    const AddressRange low{window.begin, std::min(window.end, hole.begin)};
    const AddressRange high{std::max(window.begin, hole.end), window.end};
    if (low.begin < low.end) rest.push_back(low);
    if (high.begin < high.end) rest.push_back(high);
  }
  windows = std::move(rest);
}

void SubtractAll(std::vector<AddressRange>& windows, std::vector<AddressRange> holes) {
  std::sort(holes.begin(), holes.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  std::vector<AddressRange> rest;
  auto hole = holes.begin();
  for (const AddressRange& window : windows) {
    Bytes begin = window.begin;
    while (hole != holes.end() && hole->end <= begin) ++hole;
    for (auto next = hole; next != holes.end() && next->begin < window.end; ++next) {
      if (begin < next->begin) rest.push_back({begin, next->begin});
      begin = std::max(begin, next->end);
    }
    if (begin < window.end) rest.push_back({begin, window.end});
  }
  windows = std::move(rest);
}

namespace {

std::vector<AddressRange> AllowedBankRanges(const Memory& memory, const Buffer& buffer) {
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    const auto& allowed = buffer.allowed_banks;
    const bool all = allowed.empty();
    if (all || std::find(allowed.begin(), allowed.end(), static_cast<int>(i)) != allowed.end()) {
      ranges.push_back(memory.banks[i].range);
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.begin < b.begin; });
  return ranges;
}

// Ranges that touch become one: a contiguous buffer may cross the border.
std::vector<AddressRange> Fuse(const std::vector<AddressRange>& ranges) {
  std::vector<AddressRange> fused;
  for (const AddressRange& range : ranges) {
    if (!fused.empty() && fused.back().end == range.begin) {
      fused.back().end = range.end;
    } else {
      fused.push_back(range);
    }
  }
  return fused;
}

std::vector<AddressRange> WindowsInBanks(const Memory& memory, const Buffer& buffer) {
  if (memory.banks.empty()) return {{0, kNowhere}};
  if (buffer.span == Span::kSingle) return AllowedBankRanges(memory, buffer);
  if (buffer.span == Span::kContiguous) return Fuse(AllowedBankRanges(memory, buffer));
  std::vector<AddressRange> windows = {{0, kNowhere}};
  if (buffer.allowed_banks.empty()) return windows;
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    const auto& allowed = buffer.allowed_banks;
    const bool forbidden = std::find(allowed.begin(), allowed.end(), static_cast<int>(i)) == allowed.end();
    if (forbidden) Subtract(windows, memory.banks[i].range);
  }
  return windows;
}

}  // namespace

std::vector<AddressRange> WindowsOf(const Problem& problem, const Buffer& buffer) {
  const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
  std::vector<AddressRange> windows = WindowsInBanks(memory, buffer);
  for (const problem::Reserved& reserved : memory.reserved) Subtract(windows, reserved.range);
  return windows;
}

}  // namespace tessera::search
