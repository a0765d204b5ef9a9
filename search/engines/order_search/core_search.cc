// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/core_search.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tessera/search/engines/order_search/quick_placements.h"

namespace tessera::search::engines::order_search {

namespace {

// The least contention in the core, as a share of the greatest load; episodes use these shares in
// turn.
constexpr std::array<double, 7> kShares = {0.9, 0.8, 0.95, 0.7, 0.85, 0.5, 0.0};

constexpr double kWorkPerEpisode = 500'000;
constexpr int64_t kStepsPerLimit = 20'000;        // of ejection, at first
constexpr int64_t kConstructionsPerEpisode = 12;  // at least
constexpr double kLonger = 1.3;                   // episodes of the next rotation
constexpr int kMostToFill = 20'000;               // for more, the core of ejection is the whole
constexpr int kMostFailures = 4;                  // of fills, in an episode
constexpr double kAlmostAll = 0.7;  // a region with this part of the buffers becomes the whole
constexpr uint64_t kSeedOfStrand = 0x9e3779b97f4a7c15;
constexpr size_t kManyBuffers = 200'000;  // more are placed by a sweep first; fills try one order

// A placement of all buffers before the first episode: on a skyline by a product of powers, or by
// first fit in a class order. Strand s begins with opening s and skips those of the other strands.
struct Opening {
  double angle;  // in units of pi
  ClassOrder classes = {.size_base = 0};
};
constexpr std::array<Opening, 5> kOpenings = {{
    {.angle = 0.25},
    {.angle = 0},
    {.angle = 0, .classes = {.size_base = 2, .life_base = 4}},
    {.angle = 0, .classes = {.size_base = 1.5, .life_base = 16}},
    {.angle = 0.5},
}};

}  // namespace

CoreSearch::CoreSearch(Instance instance, Offsets known, uint64_t seed, size_t strand)
    : instance_(std::move(instance)),
      contention_(ContentionOf(instance_)),
      best_(std::move(known)),
      top_(best_.empty() ? kNoTop : TopOf(instance_, best_)),
      random_(seed + strand * kSeedOfStrand),
      opened_(strand),
      turn_(strand),
      joined_(instance_.size.size(), false) {}

bool CoreSearch::Start(Effort& effort) {
  if (instance_.size.size() <= kManyBuffers) return instance_.Count() == 0 || Open(effort);
  std::optional<Offsets> first = PlaceBySweep(instance_, effort);
  if (!first) return false;
  const Bytes top = TopOf(instance_, *first);
  Keep(*std::move(first), top);
  return true;
}

void CoreSearch::Lower(Bytes target, Effort& effort) {
  while (top_ > target && !effort.IsOver()) {
    const bool opening = opened_ < kOpenings.size();
    if (!(opening ? Open(effort) : Step(target, effort))) break;
  }
}

// Places all buffers in a fixed order.
bool CoreSearch::Open(Effort& effort) {
  const Opening& opening = kOpenings[opened_];
  opened_ += kStrands;
  const Traits traits(instance_, contention_);
  Order order;
  if (opening.classes.size_base > 0) {
    SortByKeys(ClassKeys(instance_, traits, opening.classes, random_), order);
    PlacedBuffers placed(instance_);
    if (!PlaceByFirstFit(instance_, placed, order, trial_, effort)) return false;
  } else {
    SortByKeys(ProductKeys(traits, {.angle = opening.angle}, random_), order);
    if (!Skyline(instance_).Place(order, trial_, effort)) return false;
  }
  const Bytes top = TopOf(instance_, trial_);
  if (top < top_) Keep(trial_, top);
  return true;
}

void CoreSearch::Adopt(Offsets offsets) {
  const Bytes top = TopOf(instance_, offsets);
  if (top >= top_) return;
  Keep(std::move(offsets), top);
  episode_.reset();  // its obstacles may have moved
}

void CoreSearch::Keep(Offsets offsets, Bytes top) {
  best_ = std::move(offsets);
  top_ = top;
}

std::vector<int> CoreSearch::ChooseCore(double share) const {
  const auto least = static_cast<Bytes>(share * static_cast<double>(instance_.greatest_load));
  std::vector<int> members;
  for (int i = 0; i < instance_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (joined_[at] || contention_[at] >= least) members.push_back(i);
  }
  return members;
}

void CoreSearch::Begin() {
  const bool ejects = turn_ % 2 == 1;
  const bool whole = ejects && instance_.Count() > kMostToFill;
  const double share = whole ? 0 : kShares[turn_ / 2 % kShares.size()];
  if (++turn_ % (2 * kShares.size()) == 0) patience_ *= kLonger;
  const std::vector<int> members = ChooseCore(share);
  episode_ = std::make_unique<Episode>();
  Episode& episode = *episode_;
  episode.core = Extract(instance_, members);
  if (ejects) {
    Offsets start;
    start.reserve(members.size());
    for (const int i : members) start.push_back(best_[static_cast<size_t>(i)]);
    episode.ejection = std::make_unique<EjectionSearch>(episode.core, start, random_.Next());
    episode.steps = std::max<int64_t>(kStepsPerLimit, episode.core.Count() / 4);
  } else {
    std::vector<Bytes> contention;
    contention.reserve(members.size());
    for (const int i : members) contention.push_back(contention_[static_cast<size_t>(i)]);
    episode.wheel = std::make_unique<SqueakyWheel>(episode.core, contention, random_.Next());
  }
  episode.work_left = std::max(static_cast<int64_t>(patience_ * kWorkPerEpisode),
                               kConstructionsPerEpisode * static_cast<int64_t>(members.size()));
}

// Tries once to place the core and, if that beats the best top, to complete the placement with the
// fill. Returns false after a stop.
bool CoreSearch::Step(Bytes target, Effort& effort) {
  if (!episode_ || episode_->work_left <= 0 || episode_->failures >= kMostFailures) Begin();
  const int64_t before = effort.Spent();
  const bool goes_on = episode_->wheel ? Turn(target, effort) : Eject(target, effort);
  episode_->work_left -= effort.Spent() - before;
  return goes_on && !effort.IsStopped();
}

bool CoreSearch::Turn(Bytes target, Effort& effort) {
  SqueakyWheel& wheel = *episode_->wheel;
  if (!wheel.Construct(target, effort)) return false;
  if (wheel.HasGained() && wheel.Top() < top_) Complete(wheel.Placement(), target, effort);
  return true;
}

// Lowers the limit from the best top by a part of the gap: a smaller part after a failure, a larger
// one after a success.
bool CoreSearch::Eject(Bytes target, Effort& effort) {
  Episode& episode = *episode_;
  const Bytes before = top_;
  const Bytes line = std::max(target, episode.core.greatest_load);
  const auto part = static_cast<Bytes>(static_cast<double>(top_ - line) * episode.fraction);
  const Bytes limit = std::min(line + part, top_ - 1);
  if (episode.ejection->Reach(limit, episode.steps, effort)) {
    Complete(episode.ejection->Placement(), target, effort);
    if (top_ < before) {
      episode.ejection->Accept();
      episode.fraction = std::max(0.0, episode.fraction - 0.15);
      episode.steps = std::max<int64_t>(kStepsPerLimit, episode.core.Count() / 4);
    } else {
      episode.fraction = std::min(0.95, episode.fraction + 0.1);
    }
  } else {
    episode.fraction += (1 - episode.fraction) * 0.4;
    if (episode.fraction > 0.97) {
      episode.fraction = 0.3;
      episode.steps *= 2;
      episode.ejection->Relax();
    }
  }
  return true;
}

// Extends a placement of the core below the best top to all buffers.
void CoreSearch::Complete(const Offsets& core, Bytes target, Effort& effort) {
  if (episode_->core.Count() == instance_.Count()) return Keep(core, TopOf(instance_, core));
  if (!episode_->region) MakeRegion(target);
  Fill(core, effort);
}

// The fill consists of the buffers that live together with the core, and of those that end above
// the target. The other buffers that live together with the fill are obstacles.
void CoreSearch::MakeRegion(Bytes target) {
  Episode& episode = *episode_;
  const auto count = static_cast<size_t>(instance_.Count());
  std::vector<uint8_t> in_core(count, 0), in_fill(count, 0);
  for (const int i : episode.core.origin) in_core[static_cast<size_t>(i)] = 1;

  // For each section: the number of earlier sections in which some chosen buffer lives.
  std::vector<int> covered(instance_.load.size() + 1);
  const auto cover = [&](const std::vector<uint8_t>& chosen) {
    std::fill(covered.begin(), covered.end(), 0);
    for (size_t i = 0; i < count; ++i) {
      if (!chosen[i]) continue;
      ++covered[static_cast<size_t>(instance_.first[i])];
      --covered[static_cast<size_t>(instance_.last[i])];
    }
    int living = 0, sum = 0;
    for (int& section : covered) {
      living += section;
      section = sum;
      sum += living > 0 ? 1 : 0;
    }
  };
  const auto meets = [&](size_t i) {
    return covered[static_cast<size_t>(instance_.last[i])] >
           covered[static_cast<size_t>(instance_.first[i])];
  };

  cover(in_core);
  for (size_t i = 0; i < count; ++i) {
    const bool high = best_[i] + instance_.size[i] > target;
    in_fill[i] = !in_core[i] && (high || meets(i));
  }
  cover(in_fill);
  std::vector<int> members;
  for (size_t i = 0; i < count; ++i) {
    if (in_core[i] || in_fill[i] || meets(i)) members.push_back(static_cast<int>(i));
  }
  if (static_cast<double>(members.size()) > kAlmostAll * static_cast<double>(count)) {
    members.clear();
    for (size_t i = 0; i < count; ++i) {
      in_fill[i] = !in_core[i];
      members.push_back(static_cast<int>(i));
    }
  }

  episode.region = Extract(instance_, members);
  const Instance& region = *episode.region;
  std::vector<Bytes> contention;
  contention.reserve(members.size());
  std::vector<int> fill;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto origin = static_cast<size_t>(members[i]);
    contention.push_back(contention_[origin]);
    if (in_core[origin]) {
      episode.core_in_region.push_back(static_cast<int>(i));
    } else {
      (in_fill[origin] ? fill : episode.obstacles).push_back(static_cast<int>(i));
    }
  }
  episode.placed = std::make_unique<PlacedBuffers>(region);
  episode.fills = FillOrders(region, Traits(region, contention), fill, random_);
}

void CoreSearch::Fill(const Offsets& core, Effort& effort) {
  const Bytes core_top = TopOf(episode_->core, core);
  Episode& episode = *episode_;
  const size_t tries = episode.region->size.size() > kManyBuffers ? 1 : episode.fills.size();
  bool fits = false;
  for (size_t i = 0; i < tries; ++i) {
    const size_t choice = (preferred_fill_ + i) % episode.fills.size();
    const int failed = FillInOrder(core, episode.fills[choice], top_ - 1, effort);
    if (effort.IsStopped()) return;
    if (failed >= 0) {
      joined_[static_cast<size_t>(episode.region->origin[static_cast<size_t>(failed)])] = true;
      continue;
    }
    preferred_fill_ = choice;
    fits = true;
    if (top_ <= core_top) break;
  }
  if (fits) return;
  ++episode.failures;
  if (tries == 1) ++preferred_fill_;
}

// Places the fill around the core and the obstacles, and keeps the result. Returns the first buffer
// of the region that fits nowhere, or -1.
int CoreSearch::FillInOrder(const Offsets& core, const Order& order, Bytes limit, Effort& effort) {
  Episode& episode = *episode_;
  const Instance& region = *episode.region;
  PlacedBuffers& placed = *episode.placed;
  placed.Clear();
  trial_.assign(region.size.size(), 0);
  int64_t before = placed.Work();
  const auto place = [&](int buffer, Bytes offset) {
    trial_[static_cast<size_t>(buffer)] = offset;
    placed.Insert(buffer, offset);
    const int64_t work = placed.Work();
    return effort.Spend(work - std::exchange(before, work));
  };
  for (size_t i = 0; i < core.size(); ++i) {
    if (!place(episode.core_in_region[i], core[i])) return -1;
  }
  for (const int buffer : episode.obstacles) {
    const auto origin = static_cast<size_t>(region.origin[static_cast<size_t>(buffer)]);
    if (!place(buffer, best_[origin])) return -1;
  }
  for (const int buffer : order) {
    const Bytes offset = placed.FirstFit(buffer, limit);
    if (offset < 0) return buffer;
    if (!place(buffer, offset)) return -1;
  }
  Offsets offsets = best_;
  for (size_t i = 0; i < trial_.size(); ++i)
    offsets[static_cast<size_t>(region.origin[i])] = trial_[i];
  const Bytes top = TopOf(instance_, offsets);
  if (top < top_) Keep(std::move(offsets), top);
  return -1;
}

}  // namespace tessera::search::engines::order_search
