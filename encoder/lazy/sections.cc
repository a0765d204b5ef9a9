#include "tessera/encoder/lazy/sections.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tessera::encoder::lazy {
namespace {

using Members = std::vector<int>;
using Conflict = std::function<bool(int, int)>;

struct Event {
  problem::Step step = 0;
  bool enters = false;  // leavers first: lifespans are half-open
  int buffer = 0;
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(a.step, a.enters, a.buffer) < std::tie(b.step, b.enters, b.buffer);
  }
};

// The buffers alive just before somebody leaves after somebody entered: between two such moments sets only
// grow or only shrink, so nothing else can be maximal.
std::vector<Members> FindCrowds(const problem::Problem& problem, int memory) {
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].memory != memory) continue;
    for (const problem::Lifespan& life : problem.buffers[i].lifespans) {
      events.push_back({life.lower, true, static_cast<int>(i)});
      events.push_back({life.upper, false, static_cast<int>(i)});
    }
  }
  std::sort(events.begin(), events.end());
  std::vector<Members> crowds;
  std::set<int> alive;
  bool grew = false;
  for (const Event& event : events) {
    if (!event.enters && grew) crowds.emplace_back(alive.begin(), alive.end());
    grew = event.enters;
    event.enters ? static_cast<void>(alive.insert(event.buffer))
                 : static_cast<void>(alive.erase(event.buffer));
  }
  return crowds;
}

// The largest clique that greed finds around `seed`, larger buffers first.
Members GrowClique(const Members& by_size, int seed, const Conflict& conflict) {
  Members clique = {seed};
  for (const int candidate : by_size) {
    const bool fits = candidate != seed && std::all_of(clique.begin(), clique.end(), [&](int member) {
                        return conflict(std::min(member, candidate), std::max(member, candidate));
                      });
    if (fits) clique.push_back(candidate);
  }
  std::sort(clique.begin(), clique.end());
  return clique;
}

void AddCliques(const problem::Problem& problem, const Members& crowd, const Conflict& conflict,
                const base::Stop& stop, std::vector<Members>& sections) {
  Members by_size = crowd;
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return problem.buffers[static_cast<size_t>(a)].size > problem.buffers[static_cast<size_t>(b)].size;
  });
  for (const int seed : crowd) {
    if (stop.Requested()) return;
    sections.push_back(GrowClique(by_size, seed, conflict));
  }
}

bool IsClique(const Members& crowd, const Conflict& conflict) {
  for (size_t a = 0; a < crowd.size(); ++a) {
    for (size_t b = a + 1; b < crowd.size(); ++b) {
      if (!conflict(crowd[a], crowd[b])) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<Members> FindSections(const problem::Problem& problem, int memory, const Conflict& conflict,
                                  const base::Stop& stop) {
  std::vector<Members> sections;
  for (const Members& crowd : FindCrowds(problem, memory)) {
    if (stop.Requested()) return sections;
    if (IsClique(crowd, conflict)) {
      sections.push_back(crowd);
    } else {
      AddCliques(problem, crowd, conflict, stop, sections);
    }
  }
  std::set<Members> seen;
  std::erase_if(sections, [&](const Members& members) { return !seen.insert(members).second; });
  return sections;
}

}  // namespace tessera::encoder::lazy
