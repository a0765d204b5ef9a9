// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/generate/families.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/random.h"

namespace tessera::problem::generate {

using base::Random;

namespace {

Problem EmptyProblem(std::string name, Bytes capacity) {
  Problem problem;
  problem.name = std::move(name);
  problem.memories.emplace_back();
  problem.memories[0].name = "memory";
  problem.memories[0].capacity = capacity;
  return problem;
}

Buffer& AddBuffer(Problem& problem, Step lower, Step upper, Bytes size) {
  Buffer& buffer = problem.buffers.emplace_back();
  buffer.id = "b" + std::to_string(problem.buffers.size() - 1);
  buffer.lifespans = {{lower, upper}};
  buffer.size = size;
  return buffer;
}

Bytes TotalSize(const Problem& problem) {
  Bytes total = 0;
  for (const Buffer& buffer : problem.buffers) total += buffer.size;
  return total;
}

// A number from `least` to `most`. Its logarithm is uniform: every factor is as likely as any
// other.
int64_t DrawLogUniform(Random& random, double least, double most) {
  return static_cast<int64_t>(std::llround(least * std::pow(most / least, random.Real())));
}

// A multiple of 64 B up to 16 MiB.
Bytes DrawSize(Random& random) {
  static constexpr Bytes kGranularity = 64;
  static constexpr double kLeastSize = 64, kMostSize = 16 << 20;
  return DrawLogUniform(random, kLeastSize, kMostSize) / kGranularity * kGranularity;
}

// The longest log-uniform life for which `alive` buffers live on average, with one birth per step:
// the mean of log-uniform lives up to L is (L - 1) / ln L.
double LongestLife(double alive) {
  double low = 1.5, high = 1e12;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    ((middle - 1) / std::log(middle) < alive ? low : high) = middle;
  }
  return low;
}

// Of a rectangle, in steps times bytes. Both may be so large that 64 bits do not hold it.
__extension__ typedef __int128 Area;

struct Rectangle {
  Step lower;
  Step upper;
  Bytes bottom;
  Bytes top;
};

// Cuts one side in two. Returns false if the side is one unit long.
bool Cut(Random& random, std::vector<Rectangle>& rectangles, size_t at, bool across_time) {
  Rectangle rest = rectangles[at];
  if (across_time) {
    if (rest.upper - rest.lower < 2) return false;
    rest.lower = rectangles[at].upper = random.Uniform(rest.lower + 1, rest.upper - 1);
  } else {
    if (rest.top - rest.bottom < 2) return false;
    rest.bottom = rectangles[at].top = random.Uniform(rest.bottom + 1, rest.top - 1);
  }
  rectangles.push_back(rest);
  return true;
}

// The load of each step, kept within a limit while buffers change.
class Profile {
 public:
  Profile(Step steps, Bytes limit) : loads_(static_cast<size_t>(steps), 0), limit_(limit) {}

  bool Add(Step lower, Step upper, Bytes size) {
    for (Step step = lower; step < upper; ++step) {
      if (At(step) + size > limit_) return false;
    }
    for (Step step = lower; step < upper; ++step) loads_[static_cast<size_t>(step)] += size;
    return true;
  }
  Bytes At(Step step) const { return loads_[static_cast<size_t>(step)]; }
  Bytes Free(Step step) const { return limit_ - At(step); }
  Bytes Greatest() const { return *std::max_element(loads_.begin(), loads_.end()); }

 private:
  std::vector<Bytes> loads_;
  Bytes limit_;
};

// Moves bytes from one buffer to another.
void MoveSize(Random& random, Profile& profile, Buffer& from, Buffer& to) {
  const Bytes bytes = random.Uniform(0, from.size / 2);
  profile.Add(from.lifespans[0].lower, from.lifespans[0].upper, -bytes);
  if (profile.Add(to.lifespans[0].lower, to.lifespans[0].upper, bytes)) {
    from.size -= bytes;
    to.size += bytes;
  } else {
    profile.Add(from.lifespans[0].lower, from.lifespans[0].upper, bytes);
  }
}

void GrowLife(Random& random, Profile& profile, Buffer& buffer, Step steps) {
  Lifespan& life = buffer.lifespans[0];
  if (random.Chance(0.5)) {
    if (life.lower > 0 && profile.Add(life.lower - 1, life.lower, buffer.size)) --life.lower;
  } else {
    if (life.upper < steps && profile.Add(life.upper, life.upper + 1, buffer.size)) ++life.upper;
  }
}

}  // namespace

KnownPacking MakePerfectPacking(const PackingShape& shape, uint64_t seed) {
  Random random(seed);
  std::vector<Rectangle> rectangles = {{0, shape.steps, 0, shape.capacity}};
  while (rectangles.size() < static_cast<size_t>(shape.buffers)) {
    // Takes the larger of two random pieces, so that no tiny pieces arise while large ones are
    // left.
    const auto last = static_cast<int64_t>(rectangles.size()) - 1;
    const auto area = [&](size_t i) {
      return static_cast<Area>(rectangles[i].upper - rectangles[i].lower) *
             (rectangles[i].top - rectangles[i].bottom);
    };
    const auto a = static_cast<size_t>(random.Uniform(0, last)),
               b = static_cast<size_t>(random.Uniform(0, last));
    const size_t larger = area(a) >= area(b) ? a : b;
    const bool across_time = random.Chance(0.5);
    if (!Cut(random, rectangles, larger, across_time))
      Cut(random, rectangles, larger, !across_time);
  }
  KnownPacking packing;
  packing.problem = EmptyProblem("perfect " + std::to_string(seed), shape.capacity);
  for (const Rectangle& rectangle : rectangles) {
    AddBuffer(packing.problem, rectangle.lower, rectangle.upper, rectangle.top - rectangle.bottom);
    packing.offsets.push_back(rectangle.bottom);
  }
  return packing;
}

Problem MakePerfect(const PackingShape& shape, uint64_t seed) {
  return MakePerfectPacking(shape, seed).problem;
}

Problem MakeBroken(const PackingShape& shape, uint64_t seed) {
  static constexpr int kGrowthsPerBuffer = 20;
  Problem problem = MakePerfect(shape, seed);
  problem.name = "broken " + std::to_string(seed);
  Random random(seed + 1);
  Profile profile(shape.steps, shape.capacity);
  for (const Buffer& buffer : problem.buffers) {
    profile.Add(buffer.lifespans[0].lower, buffer.lifespans[0].upper, buffer.size);
  }
  const auto draw = [&]() -> Buffer& {
    return problem.buffers[static_cast<size_t>(random.Uniform(0, shape.buffers - 1))];
  };
  for (int i = 0; i < shape.buffers; ++i) {
    Buffer& from = draw();
    Buffer& to = draw();
    if (&from != &to) MoveSize(random, profile, from, to);
  }
  for (int i = 0; i < kGrowthsPerBuffer * shape.buffers; ++i)
    GrowLife(random, profile, draw(), shape.steps);
  return problem;
}

Problem MakeFlat(int buffers, uint64_t seed) {
  static constexpr Bytes kLeastCapacity = 1 << 16;
  static constexpr int kTries = 200;
  // The capacity is large enough that the smallest size, 0.3 times that of an average full step, is
  // at least a byte.
  const Bytes capacity = std::max<Bytes>(kLeastCapacity, buffers);
  Random random(seed);
  const Step steps = random.Uniform(8, 24);
  const double full = static_cast<double>(capacity) / (0.3 * buffers);
  Problem problem = EmptyProblem("flat " + std::to_string(seed), capacity);
  Profile profile(steps, capacity);
  for (int i = 0; i < buffers; ++i) {
    auto size = static_cast<Bytes>(std::llround(full * (0.3 + 1.6 * random.Real())));
    Step lower = random.Uniform(0, steps - 1);
    for (int tries = 0; profile.Free(lower) < size && tries < kTries; ++tries)
      lower = random.Uniform(0, steps - 1);
    if (profile.Free(lower) < size) {
      for (Step step = 0; step < steps; ++step)
        lower = profile.Free(step) > profile.Free(lower) ? step : lower;
      size = profile.Free(lower);
      if (size == 0) break;
    }
    const double width = -0.3 * static_cast<double>(steps) * std::log(1.0 - random.Real());
    const Step wanted = std::min(steps, lower + std::max<Step>(1, std::llround(width)));
    Step upper = lower + 1;
    while (upper < wanted && profile.Free(upper) >= size) ++upper;
    profile.Add(lower, upper, size);
    AddBuffer(problem, lower, upper, size);
  }
  problem.memories[0].capacity = profile.Greatest();
  return problem;
}

Problem MakeRandom(int buffers, double concurrency, uint64_t seed) {
  static constexpr double kLeastSize = 64, kMostSize = 16 << 20, kLongestLife = 1000;
  Random random(seed);
  std::vector<Step> lives;
  Step sum = 0;
  for (int i = 0; i < buffers; ++i) {
    lives.push_back(DrawLogUniform(random, 1, kLongestLife));
    sum += lives.back();
  }
  const auto horizon =
      std::max(static_cast<Step>(kLongestLife),
               static_cast<Step>(std::llround(static_cast<double>(sum) / concurrency)));
  Problem problem = EmptyProblem("random " + std::to_string(seed), 0);
  for (const Step life : lives) {
    const Step lower = random.Uniform(0, horizon - life);
    AddBuffer(problem, lower, lower + life, DrawLogUniform(random, kLeastSize, kMostSize));
  }
  problem.memories[0].capacity = TotalSize(problem);
  return problem;
}

Problem MakeLogUniform(int buffers, double alive, uint64_t seed) {
  const double longest = LongestLife(alive);
  Random random(seed);
  Problem problem = EmptyProblem("log-uniform " + std::to_string(seed), 0);
  for (int i = 0; i < buffers; ++i) {
    const Step lower = random.Uniform(0, buffers - 1);
    const Step life = DrawLogUniform(random, 1, longest);
    AddBuffer(problem, lower, lower + life, DrawSize(random));
  }
  problem.memories[0].capacity = TotalSize(problem);
  return problem;
}

Problem MakeEqual(int buffers, double alive, uint64_t seed) {
  const double longest = LongestLife(alive);
  Random random(seed);
  Problem problem = EmptyProblem("equal " + std::to_string(seed), 0);
  const Bytes size = DrawSize(random);
  for (int i = 0; i < buffers; ++i) {
    const Step lower = random.Uniform(0, buffers - 1);
    AddBuffer(problem, lower, lower + DrawLogUniform(random, 1, longest), size);
  }
  problem.memories[0].capacity = TotalSize(problem);
  return problem;
}

Problem MakeDisjoint(int buffers, uint64_t seed) {
  static constexpr Step kLongestLife = 16, kLongestPause = 2;
  Random random(seed);
  Problem problem = EmptyProblem("disjoint " + std::to_string(seed), 0);
  Step lower = 0;
  for (int i = 0; i < buffers; ++i) {
    const Step upper = lower + random.Uniform(1, kLongestLife);
    const Buffer& buffer = AddBuffer(problem, lower, upper, DrawSize(random));
    problem.memories[0].capacity = std::max(problem.memories[0].capacity, buffer.size);
    lower = upper + random.Uniform(0, kLongestPause);
  }
  return problem;
}

Problem MakeCompilerLike(int buffers, uint64_t seed) {
  static constexpr Bytes kGranularity = 64;
  static constexpr double kSkips = 0.2, kWeights = 0.4;
  Random random(seed);
  Problem problem = EmptyProblem("compiler-like " + std::to_string(seed), 0);
  Bytes granularities = random.Uniform(64, 4096);
  for (Step op = 0; static_cast<int>(problem.buffers.size()) < buffers; ++op) {
    if (random.Chance(0.3))
      granularities =
          random.Chance(0.6) ? std::max<Bytes>(1, granularities / 2) : granularities * 2;
    const Step last_reader = op + (random.Chance(kSkips) ? random.Uniform(2, 8) : 1);
    Buffer& result = AddBuffer(problem, op, last_reader + 1, granularities * kGranularity);
    result.role = "feature";
    result.accesses = {{op, "pe", AccessKind::kWrite}};
    if (last_reader > op + 1) result.accesses.push_back({op + 1, "pe", AccessKind::kRead});
    result.accesses.push_back({last_reader, "pe", AccessKind::kRead});
    if (static_cast<int>(problem.buffers.size()) == buffers || !random.Chance(kWeights)) continue;
    Buffer& weights = AddBuffer(problem, op, op + 2, random.Uniform(1, 512) * kGranularity);
    weights.role = "weights";
    weights.accesses = {{op, "dma", AccessKind::kWrite}, {op + 1, "pe", AccessKind::kRead}};
  }
  problem.memories[0].capacity = TotalSize(problem);
  return problem;
}

}  // namespace tessera::problem::generate
