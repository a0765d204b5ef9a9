#include "tessera/search/allocate/sections.h"

#include <algorithm>

namespace tessera::search {

using problem::Lifespan;
using problem::Problem;
using problem::Step;

Sections FindSections(const Problem& problem, std::span<const int> buffers) {
  std::vector<Step> births, deaths;
  for (const int buffer : buffers) {
    for (const Lifespan& life : problem.buffers[static_cast<size_t>(buffer)].lifespans) {
      births.push_back(life.lower);
      deaths.push_back(life.upper);
    }
  }
  std::sort(births.begin(), births.end());
  std::sort(deaths.begin(), deaths.end());

  // A death closes a maximal section if a birth came since the last death.
  Sections sections;
  std::vector<Step> closings;
  size_t born = 0;
  for (const Step death : deaths) {
    if (born == births.size() || births[born] >= death) continue;
    while (born < births.size() && births[born] < death) ++born;
    sections.steps.push_back(births[born - 1]);
    closings.push_back(death);
  }

  // A life holds section s when it begins no later than the section's last birth and ends no sooner than its
  // death.
  sections.ranges.reserve(buffers.size());
  for (const int buffer : buffers) {
    std::vector<SectionRange>& ranges = sections.ranges.emplace_back();
    for (const Lifespan& life : problem.buffers[static_cast<size_t>(buffer)].lifespans) {
      const auto first = std::lower_bound(sections.steps.begin(), sections.steps.end(), life.lower);
      const auto last = std::upper_bound(closings.begin(), closings.end(), life.upper);
      ranges.push_back(
          {static_cast<int>(first - sections.steps.begin()), static_cast<int>(last - closings.begin())});
    }
  }
  return sections;
}

std::vector<int> BuffersOf(const Problem& problem, int memory) {
  std::vector<int> indices;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].memory == memory) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

}  // namespace tessera::search
