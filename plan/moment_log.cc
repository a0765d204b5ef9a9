#include "tessera/plan/moment_log.h"

#include <algorithm>

namespace tessera::plan {

using problem::Step;

void MomentLog::Touch(const BufferUse& use, int64_t value, const std::string& engine,
                      problem::AccessKind kind) {
  records_[use].accesses.insert({moments_.back(), engine, kind});
  Hold(use, value, Now());
}

void MomentLog::Hold(const BufferUse& use, int64_t value, size_t moment) {
  Stay& stay = records_[use].stays.try_emplace(value, Stay{moment, moment}).first->second;
  stay.first = std::min(stay.first, moment);
  stay.last = std::max(stay.last, moment);
}

std::map<BufferUse, Sighting, UseOrder> MomentLog::Fold(size_t steps) const {
  std::map<BufferUse, Sighting, UseOrder> buffers;
  for (const auto& [use, record] : records_) {
    Sighting& sighting = buffers[use];
    sighting.lifespans = LifespansOf(record, steps);
    for (const auto& [step, engine, kind] : record.accesses)
      sighting.accesses.push_back({step, engine, kind});
  }
  return buffers;
}

std::vector<problem::Lifespan> MomentLog::LifespansOf(const Record& record, size_t steps) const {
  std::vector<char> alive(steps, 0);
  for (const auto& [value, stay] : record.stays) {
    for (size_t moment = stay.first; moment <= stay.last; ++moment)
      alive[static_cast<size_t>(moments_[moment])] = 1;
  }
  std::vector<problem::Lifespan> lifespans;
  for (size_t i = 0; i < steps; ++i) {
    if (alive[i] == 0) continue;
    const auto step = static_cast<Step>(i);
    if (!lifespans.empty() && lifespans.back().upper == step) {
      lifespans.back().upper = step + 1;
    } else {
      lifespans.push_back({step, step + 1});
    }
  }
  return lifespans;
}

}  // namespace tessera::plan
