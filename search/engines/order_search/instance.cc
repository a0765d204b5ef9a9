// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/instance.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::engines::order_search {

using problem::Buffer;
using problem::Problem;

namespace {

// Computes the range of sections of each life, and returns the number of sections. A section begins
// with a birth and ends with the next death.
int Compress(std::span<const SectionRange> lives, std::vector<int>& first, std::vector<int>& last) {
  std::vector<int64_t> births, deaths;
  births.reserve(lives.size());
  deaths.reserve(lives.size());
  for (const SectionRange& life : lives) {
    births.push_back(life.first);
    deaths.push_back(life.last);
  }
  if (!std::is_sorted(births.begin(), births.end())) std::sort(births.begin(), births.end());
  std::sort(deaths.begin(), deaths.end());

  // The last birth and the death of each section overwrite the arrays from the front.
  size_t sections = 0, born = 0;
  for (const int64_t death : deaths) {
    if (born == births.size() || births[born] >= death) continue;
    while (born < births.size() && births[born] < death) ++born;
    births[sections] = births[born - 1];
    deaths[sections++] = death;
  }
  births.resize(sections);
  deaths.resize(sections);

  first.reserve(lives.size());
  last.reserve(lives.size());
  for (const SectionRange& life : lives) {
    const auto begin = std::lower_bound(births.begin(), births.end(), life.first);
    const auto end = std::upper_bound(deaths.begin(), deaths.end(), life.last);
    first.push_back(static_cast<int>(begin - births.begin()));
    last.push_back(static_cast<int>(end - deaths.begin()));
  }
  return static_cast<int>(sections);
}

void AddLoad(Instance& instance, int sections) {
  std::vector<Bytes>& load = instance.load;
  load.assign(static_cast<size_t>(sections) + 1, 0);
  for (size_t i = 0; i < instance.size.size(); ++i) {
    load[static_cast<size_t>(instance.first[i])] += instance.size[i];
    load[static_cast<size_t>(instance.last[i])] -= instance.size[i];
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  load.pop_back();
  instance.greatest_load = load.empty() ? 0 : *std::max_element(load.begin(), load.end());
}

// Sorts by birth, then number. Copies the keys, because buffers are large.
void SortByBirth(const Problem& problem, std::vector<int>& buffers) {
  std::vector<std::pair<problem::Step, int>> births;
  births.reserve(buffers.size());
  for (const int i : buffers)
    births.emplace_back(problem.buffers[static_cast<size_t>(i)].lifespans[0].lower, i);
  std::sort(births.begin(), births.end());
  for (size_t i = 0; i < births.size(); ++i) buffers[i] = births[i].second;
}

}  // namespace

std::optional<std::string> FindUnsupportedBuffer(const Problem& problem, size_t memory) {
  const problem::Memory& home = problem.memories[memory];
  if (!home.reserved.empty()) return "the reserved ranges of memory '" + home.name + "'";
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != static_cast<int>(memory)) continue;
    if (buffer.offset) return "the fixed offset of " + buffer.id;
    if (buffer.lifespans.size() > 1) return "the gaps in the life of " + buffer.id;
  }
  for (const problem::Relation& relation : problem.relations) {
    const Buffer& first = problem.buffers[static_cast<size_t>(relation.first)];
    if (first.memory != static_cast<int>(memory)) continue;
    return "the relation between " + first.id + " and " +
           problem.buffers[static_cast<size_t>(relation.second)].id;
  }
  return std::nullopt;
}

Bytes CommonAlignment(const Problem& problem, size_t memory) {
  Bytes common = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory == static_cast<int>(memory))
      common = std::gcd(common, AlignmentOf(problem, buffer));
  }
  return std::max<Bytes>(common, 1);
}

Instance MakeInstance(const Problem& problem, size_t memory) {
  Instance instance;
  const Bytes common = CommonAlignment(problem, memory);
  bool equal = true;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.memory != static_cast<int>(memory)) continue;
    instance.origin.push_back(static_cast<int>(i));
    equal = equal && AlignmentOf(problem, buffer) == common;
  }
  const auto life = [&](int i) { return problem.buffers[static_cast<size_t>(i)].lifespans[0]; };
  SortByBirth(problem, instance.origin);
  std::vector<SectionRange> lives;
  lives.reserve(instance.origin.size());
  instance.size.reserve(instance.origin.size());
  instance.life.reserve(instance.origin.size());
  for (const int i : instance.origin) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
    lives.push_back({life(i).lower, life(i).upper});
    instance.life.push_back(static_cast<float>(life(i).upper - life(i).lower));
    instance.size.push_back(base::RoundUp(buffer.size, common));
    if (!equal) instance.alignment.push_back(AlignmentOf(problem, buffer));
  }
  const int sections = Compress(lives, instance.first, instance.last);
  AddLoad(instance, sections);
  return instance;
}

Instance Extract(const Instance& whole, std::span<const int> buffers) {
  Instance part;
  std::vector<SectionRange> lives;
  lives.reserve(buffers.size());
  for (const int buffer : buffers) {
    const auto i = static_cast<size_t>(buffer);
    lives.push_back({whole.first[i], whole.last[i]});
    part.size.push_back(whole.size[i]);
    part.life.push_back(whole.life[i]);
    part.origin.push_back(buffer);
    if (!whole.alignment.empty()) part.alignment.push_back(whole.alignment[i]);
  }
  const int sections = Compress(lives, part.first, part.last);
  AddLoad(part, sections);
  return part;
}

std::vector<Bytes> ContentionOf(const Instance& instance) {
  const size_t sections = instance.load.size();
  // Row k holds the maxima of 2^k neighbours. Queries are answered row by row, so that one row is
  // kept at a time.
  std::vector<Bytes> contention(instance.size.size(), 0);
  std::vector<std::vector<int>> by_row(static_cast<size_t>(std::bit_width(sections)));
  for (int i = 0; i < instance.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    const auto width = static_cast<unsigned>(instance.last[at] - instance.first[at]);
    by_row[static_cast<size_t>(std::bit_width(width)) - 1].push_back(i);
  }
  std::vector<Bytes> row = instance.load;
  for (size_t k = 0; k < by_row.size(); ++k) {
    const size_t width = size_t{1} << k;
    if (k > 0) {
      for (size_t i = 0; i + width <= sections; ++i) row[i] = std::max(row[i], row[i + width / 2]);
    }
    for (const int buffer : by_row[k]) {
      const auto at = static_cast<size_t>(buffer);
      contention[at] = std::max(row[static_cast<size_t>(instance.first[at])],
                                row[static_cast<size_t>(instance.last[at]) - width]);
    }
  }
  return contention;
}

Bytes TopOf(const Instance& instance, std::span<const Bytes> offsets) {
  Bytes top = 0;
  for (size_t i = 0; i < offsets.size(); ++i) top = std::max(top, offsets[i] + instance.size[i]);
  return top;
}

std::vector<int> FirstBuffers(const Instance& instance) {
  std::vector<int> first(static_cast<size_t>(instance.Sections()) + 1);
  int buffer = 0;
  for (int section = 0; section <= instance.Sections(); ++section) {
    while (buffer < instance.Count() && instance.first[static_cast<size_t>(buffer)] < section)
      ++buffer;
    first[static_cast<size_t>(section)] = buffer;
  }
  return first;
}

std::vector<SectionRange> ComponentsOf(const Instance& instance) {
  std::vector<SectionRange> components;
  int end = -1;
  for (int i = 0; i < instance.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (instance.first[at] >= end) components.push_back({i, i});
    end = std::max(end, instance.last[at]);
    components.back().last = i + 1;
  }
  return components;
}

}  // namespace tessera::search::engines::order_search
