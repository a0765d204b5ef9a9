#include "tessera/plan/lowering/precedence.h"

#include <algorithm>
#include <utility>

namespace tessera::plan::lowering {

int Precedence::Add(const std::vector<int>& before) {
  Event event;
  for (const int each : before) {
    const Event& other = events_[static_cast<size_t>(each)];
    if (event.passed.size() < other.passed.size()) event.passed.resize(other.passed.size(), 0);
    for (size_t i = 0; i < other.passed.size(); ++i) {
      event.passed[i] = std::max(event.passed[i], other.passed[i]);
    }
    if (event.passed.size() <= other.chain) event.passed.resize(other.chain + 1, 0);
    event.passed[other.chain] = std::max(event.passed[other.chain], other.rank + 1);
  }
  event.chain = lengths_.size();
  for (size_t i = 0; i < event.passed.size(); ++i) {
    if (event.passed[i] == lengths_[i]) event.chain = i;
  }
  if (event.chain == lengths_.size()) lengths_.push_back(0);
  event.rank = lengths_[event.chain]++;
  events_.push_back(std::move(event));
  return static_cast<int>(events_.size()) - 1;
}

bool Precedence::Precedes(int earlier, int later) const {
  const Event& event = events_[static_cast<size_t>(earlier)];
  const std::vector<int>& passed = events_[static_cast<size_t>(later)].passed;
  return event.chain < passed.size() && passed[event.chain] > event.rank;
}

std::vector<int> Precedence::LatestOf(std::vector<int> events) const {
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  std::vector<int> latest;
  for (size_t i = events.size(); i-- > 0;) {
    const bool passed =
        std::any_of(latest.begin(), latest.end(), [&](int later) { return Precedes(events[i], later); });
    if (!passed) latest.push_back(events[i]);
  }
  std::reverse(latest.begin(), latest.end());
  return latest;
}

}  // namespace tessera::plan::lowering
