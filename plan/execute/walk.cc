#include "tessera/plan/execute/walk.h"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::plan::execute {

using problem::Step;

void Walk::Enter(Step step, int64_t tile) {
  EnterStep enter{step, tile, std::nullopt, true};
  const Step scheduled = step - first_scheduled_;
  const auto steps = plan_.allocation.modes.empty() ? 0 : plan_.allocation.modes.front().size();
  if (scheduled >= 0 && static_cast<size_t>(scheduled) < steps)
    enter.mode = plan_.allocation.modes.front()[static_cast<size_t>(scheduled)];
  enter.foreseen = before_ < 0 || MayFollow(before_, step);
  run_(enter);
  if (before_ >= 0) {
    const auto [known, fresh] = dying_.try_emplace({before_, step});
    if (fresh) known->second = DyingBetween(before_, step);
    if (!known->second.empty()) run_(Forget{known->second});
  }
  before_ = step;
}

void Walk::Start(const StartTransfer& transfer, std::vector<int64_t>& under_way) {
  run_(transfer);
  under_way.push_back(transfer.number);
}

void Walk::Finish(std::vector<int64_t>& under_way) {
  for (const int64_t number : under_way) run_(FinishTransfer{number});
  under_way.clear();
}

void Walk::Complain(Step step, int tensor) {
  run_(Complaint{fmt::format("step {} moves {}, which it has nothing to do with", step,
                             contents_.NameOf(tensor))});
}

// Whether the plan's loops lead from one step to the other.
bool Walk::MayFollow(Step from, Step to) const {
  bool follows = to == from + 1;
  for (const problem::Loop& loop : plan_.problem.loops) {
    const bool exits =
        std::find(loop.exits.begin(), loop.exits.end(), from + 1) != loop.exits.end();
    if (from + 1 == loop.end && to == loop.begin) return true;
    if (exits && to == loop.end) return true;
    if (from + 1 == loop.end && !exits) follows = false;
  }
  return follows;
}

problem::AddressRange Walk::CellsOf(size_t buffer) const {
  const int64_t offset = plan_.allocation.offsets[buffer];
  return {offset * contents_.CellsPerByte(),
          (offset + plan_.problem.buffers[buffer].size) * contents_.CellsPerByte()};
}

// Where a buffer lives at `from` and none does at `to`.
std::vector<problem::AddressRange> Walk::DyingBetween(Step from, Step to) const {
  std::vector<problem::AddressRange> living;
  for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
    if (LivesAt(plan_.problem.buffers[i], to)) living.push_back(CellsOf(i));
  }
  std::sort(living.begin(), living.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<problem::AddressRange> dying;
  for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = plan_.problem.buffers[i];
    if (!LivesAt(buffer, from) || LivesAt(buffer, to)) continue;
    problem::AddressRange rest = CellsOf(i);
    for (const problem::AddressRange& other : living) {
      if (other.begin > rest.begin) dying.push_back({rest.begin, std::min(rest.end, other.begin)});
      rest.begin = std::max(rest.begin, std::min(rest.end, other.end));
      if (rest.begin >= rest.end) break;
    }
    if (rest.begin < rest.end) dying.push_back(rest);
  }
  std::erase_if(dying, [](const auto& range) { return range.begin >= range.end; });
  return dying;
}

}  // namespace tessera::plan::execute
