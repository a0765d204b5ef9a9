// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/generate/catalog.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/base/text.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem::generate {

using base::Random;

namespace {

struct PlacedRange {
  Bytes begin;
  Bytes end;
  Step death;
};

// The lowest aligned offset between the ranges, which ascend.
Bytes LowestGap(const std::vector<PlacedRange>& ranges, Bytes size, Bytes alignment) {
  Bytes at = 0;
  for (const PlacedRange& range : ranges) {
    if (range.begin - at >= size) break;
    at = std::max(at, base::RoundUp(range.end, alignment));
  }
  return at;
}

// Draws pairs of buffers that `is_wanted` accepts, until there are `count` pairs or many draws in a
// row find no new one.
std::set<std::pair<int, int>> DrawPairs(const Problem& problem, int count, uint64_t seed,
                                        const std::function<bool(size_t, size_t)>& is_wanted) {
  static constexpr int kMostDraws = 10'000;
  std::set<std::pair<int, int>> pairs;
  if (problem.buffers.size() < 2) return pairs;
  Random random(seed);
  const auto last = static_cast<int64_t>(problem.buffers.size()) - 1;
  for (int draws = 0; draws < kMostDraws && pairs.size() < static_cast<size_t>(count); ++draws) {
    const auto [a, b] = std::minmax({random.Uniform(0, last), random.Uniform(0, last)});
    const auto first = static_cast<size_t>(a), second = static_cast<size_t>(b);
    if (a == b || LiveTogether(problem.buffers[first], problem.buffers[second])) continue;
    if (problem.buffers[first].memory != problem.buffers[second].memory) continue;
    if (!is_wanted(first, second)) continue;
    if (pairs.emplace(static_cast<int>(a), static_cast<int>(b)).second) draws = 0;
  }
  return pairs;
}

}  // namespace

std::vector<Bytes> PlaceInOrderOfBirth(const Problem& problem) {
  std::vector<size_t> order(problem.buffers.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto birth = [&](size_t i) { return problem.buffers[i].lifespans.front().lower; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return birth(a) < birth(b); });
  std::vector<Bytes> offsets(order.size());
  std::vector<PlacedRange> alive;  // ascending
  for (const size_t i : order) {
    const Buffer& buffer = problem.buffers[i];
    const auto is_dead = [&](const PlacedRange& range) { return range.death <= birth(i); };
    alive.erase(std::remove_if(alive.begin(), alive.end(), is_dead), alive.end());
    offsets[i] = LowestGap(alive, buffer.size, AlignmentOf(problem, buffer));
    const PlacedRange own = {offsets[i], offsets[i] + buffer.size, buffer.lifespans.back().upper};
    const auto before = [](const PlacedRange& a, const PlacedRange& b) {
      return a.begin < b.begin;
    };
    alive.insert(std::upper_bound(alive.begin(), alive.end(), own, before), own);
  }
  return offsets;
}

Bytes TopOf(const Problem& problem, const std::vector<Bytes>& offsets) {
  Bytes top = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (problem.buffers[i].memory == 0) top = std::max(top, offsets[i] + problem.buffers[i].size);
  }
  return top;
}

void FixOffsets(Problem& problem, const std::vector<Bytes>& solution, int64_t share_ppm,
                uint64_t seed) {
  static constexpr double kMillion = 1e6;
  Random random(seed);
  for (size_t i = 0; i < solution.size(); ++i) {
    if (random.Chance(static_cast<double>(share_ppm) / kMillion))
      problem.buffers[i].offset = solution[i];
  }
}

void AddPenalties(Problem& problem, int count, uint64_t seed) {
  const auto any = [](size_t /*first*/, size_t /*second*/) { return true; };
  for (const auto& [first, second] : DrawPairs(problem, count, seed, any)) {
    Cost& cost = problem.costs.emplace_back();
    cost.first = first;
    cost.second = second;
  }
}

void AddValues(Problem& problem, uint64_t seed) {
  static constexpr int64_t kMostAccesses = 8;
  Random random(seed);
  for (Buffer& buffer : problem.buffers)
    buffer.value = buffer.size * random.Uniform(1, kMostAccesses);
}

void SeparatePairs(Problem& problem, const std::vector<Bytes>& solution, int count, uint64_t seed) {
  const auto are_apart = [&](size_t a, size_t b) {
    return solution[a] + problem.buffers[a].size <= solution[b] ||
           solution[b] + problem.buffers[b].size <= solution[a];
  };
  for (const auto& [first, second] : DrawPairs(problem, count, seed, are_apart))
    problem.relations.push_back({RelationKind::kSeparate, first, second, 0});
}

using base::Diagnostic;
using base::Expected;
using base::Unexpected;

namespace {

constexpr int64_t kMostSteps = 1'000'000'000;
constexpr int64_t kMostBanked = 1'000;

constexpr std::array<ParameterTraits, kParameters> kTraits = {
    {{"alive", 30, 1, 1'000'000, "buffers that live at a step on average"},
     {"steps", 100, 1, kMostSteps, "steps of the rectangle that is cut"},
     {"capacity", 1024, 1, base::kMaxTotal / 4, "bytes of the rectangle that is cut"},
     {"banks", 8, 1, 64, "banks of the memory"},
     {"modes", 4, 1, 64, "modes of the memory"},
     {"slack", 10, 0, 1'000, "capacity over the heaviest step, in percent"}}};

int64_t ValueOf(const Request& request, Parameter parameter) {
  return request.parameters[static_cast<size_t>(parameter)].value_or(TraitsOf(parameter).otherwise);
}

PackingShape ShapeOf(const Request& request) {
  return {request.buffers, ValueOf(request, Parameter::kSteps),
          ValueOf(request, Parameter::kCapacity)};
}

double AliveOf(const Request& request) {
  return static_cast<double>(ValueOf(request, Parameter::kAlive));
}

BankedShape BankedShapeOf(const Request& request) {
  BankedShape shape;
  shape.buffers = request.buffers;
  shape.banks = static_cast<int>(ValueOf(request, Parameter::kBanks));
  shape.modes = static_cast<int>(ValueOf(request, Parameter::kModes));
  shape.slack_percent = static_cast<int>(ValueOf(request, Parameter::kSlack));
  return shape;
}

struct CatalogEntry {
  FamilyTraits traits;
  Problem (*make)(const Request& request);
};

const std::vector<CatalogEntry>& Catalog() {
  using P = Parameter;
  static const std::vector<CatalogEntry> catalog = {
      {{"perfect",
        "cut from a full rectangle; the load is the capacity at every step",
        {P::kSteps, P::kCapacity}},
       [](const Request& r) { return MakePerfect(ShapeOf(r), r.seed); }},
      {{"broken", "a disturbed perfect packing; some fit, some do not", {P::kSteps, P::kCapacity}},
       [](const Request& r) { return MakeBroken(ShapeOf(r), r.seed); }},
      {{"flat", "8 to 24 steps, all nearly full; the capacity is the load", {}},
       [](const Request& r) { return MakeFlat(r.buffers, r.seed); }},
      {{"random", "log-uniform sizes and lives up to 1000 steps, uniform starts", {P::kAlive}},
       [](const Request& r) { return MakeRandom(r.buffers, AliveOf(r), r.seed); }},
      {{"log-uniform", "log-uniform sizes and lives, as many steps as buffers", {P::kAlive}},
       [](const Request& r) { return MakeLogUniform(r.buffers, AliveOf(r), r.seed); }},
      {{"compiler-like", "results along a chain of operators with skips, and their weights", {}},
       [](const Request& r) { return MakeCompilerLike(r.buffers, r.seed); }},
      {{"equal", "one size; interval colouring meets the load", {P::kAlive}},
       [](const Request& r) { return MakeEqual(r.buffers, AliveOf(r), r.seed); }},
      {{"disjoint", "never two buffers at a time", {}},
       [](const Request& r) { return MakeDisjoint(r.buffers, r.seed); }},
      {{"banked",
        "a chain of operators in a memory with banks and modes",
        {P::kBanks, P::kModes, P::kSlack}},
       [](const Request& r) { return MakeBanked(BankedShapeOf(r), r.seed); }}};
  return catalog;
}

Diagnostic Refusal(std::string message, std::string expected = "", std::string hint = "") {
  Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

// Refuses an instance that no command would accept.
Diagnostic IllFormed(const Diagnostic& fault) {
  return Refusal("the list would be no valid one: " + fault.pointer + ": " + fault.message, "",
                 "smaller numbers, such as a smaller capacity");
}

std::optional<Diagnostic> CheckRequest(const CatalogEntry& entry, const Request& request) {
  const std::vector<Parameter>& taken = entry.traits.parameters;
  for (size_t i = 0; i < kParameters; ++i) {
    const std::optional<int64_t>& value = request.parameters[i];
    if (!value) continue;
    const ParameterTraits& traits = kTraits[i];
    if (std::find(taken.begin(), taken.end(), static_cast<Parameter>(i)) == taken.end())
      return Refusal(
          fmt::format("the family {} has no parameter '{}'", entry.traits.name, traits.name));
    if (*value < traits.least || *value > traits.most)
      return Refusal(fmt::format("{} is {}", traits.name, *value),
                     fmt::format("from {} to {}", traits.least, traits.most));
  }
  const bool is_packing = entry.traits.name == "perfect" || entry.traits.name == "broken";
  const PackingShape shape = ShapeOf(request);
  if (is_packing && base::CeilDiv(request.buffers, shape.steps) > shape.capacity)
    return Refusal(fmt::format("{} buffers do not fit into {} steps and {} bytes", request.buffers,
                               shape.steps, shape.capacity));
  if (entry.traits.name == "broken" && shape.steps > 1'000'000)
    return Refusal("broken packings have at most 1000000 steps");
  if (entry.traits.name == "banked" && request.buffers > kMostBanked)
    return Refusal(fmt::format("banked instances have at most {} buffers", kMostBanked));
  if (entry.traits.name == "banked" && (request.fixed_ppm > 0 || request.separated > 0))
    return Refusal("no solution of banked instances is known that offsets could be fixed from",
                   "another family");
  return std::nullopt;
}

void ApplyVariations(Problem& problem, const std::vector<Bytes>& solution, const Request& request) {
  // Each variation draws from a separate random sequence, so one more does not change the others.
  enum Stream : uint64_t { kFixed = 1'000'003, kPenalties, kSeparated, kValues };
  if (request.fixed_ppm > 0 || request.separated > 0)
    problem.memories[0].capacity = TopOf(problem, solution);
  if (request.fixed_ppm > 0)
    FixOffsets(problem, solution, request.fixed_ppm, request.seed + kFixed);
  if (request.separated > 0)
    SeparatePairs(problem, solution, request.separated, request.seed + kSeparated);
  if (request.penalties > 0) AddPenalties(problem, request.penalties, request.seed + kPenalties);
  if (request.values) AddValues(problem, request.seed + kValues);
}

}  // namespace

const ParameterTraits& TraitsOf(Parameter parameter) {
  return kTraits[static_cast<size_t>(parameter)];
}

const std::vector<FamilyTraits>& Families() {
  static const std::vector<FamilyTraits> families = [] {
    std::vector<FamilyTraits> all;
    for (const CatalogEntry& entry : Catalog()) all.push_back(entry.traits);
    return all;
  }();
  return families;
}

Expected<Problem> Generate(const Request& request) {
  const auto entry =
      std::find_if(Catalog().begin(), Catalog().end(),
                   [&](const CatalogEntry& each) { return each.traits.name == request.family; });
  if (entry == Catalog().end()) {
    std::vector<std::string_view> names;
    for (const FamilyTraits& family : Families()) names.push_back(family.name);
    return Unexpected(Refusal(fmt::format("there is no family '{}'", request.family),
                              "one of " + base::Join(names),
                              base::DidYouMean(request.family, names)));
  }
  if (auto fault = CheckRequest(*entry, request)) return Unexpected(*std::move(fault));
  Problem problem = entry->make(request);
  std::vector<Bytes> solution;
  if (request.fixed_ppm > 0 || request.separated > 0) {
    solution = request.family == "perfect"
                   ? MakePerfectPacking(ShapeOf(request), request.seed).offsets
                   : PlaceInOrderOfBirth(problem);
  }
  ApplyVariations(problem, solution, request);
  if (const auto fault = CheckWellFormed(problem)) return Unexpected(IllFormed(*fault));
  return problem;
}

Expected<Problem> Vary(Problem problem, const Request& request) {
  std::vector<Bytes> solution;
  for (Buffer& buffer : problem.buffers) {
    const bool needs_solution = request.fixed_ppm > 0 || request.separated > 0;
    if (!buffer.offset && needs_solution) {
      return Unexpected(Refusal(fmt::format("buffer '{}' has no offset", buffer.id),
                                "a placed list: every buffer with its offset",
                                "tessera alloc FILE --output placed.csv"));
    }
    solution.push_back(buffer.offset.value_or(0));
    if (needs_solution) buffer.offset.reset();
  }
  ApplyVariations(problem, solution, request);
  if (const auto fault = CheckWellFormed(problem)) return Unexpected(IllFormed(*fault));
  return problem;
}

}  // namespace tessera::problem::generate
