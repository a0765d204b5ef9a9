// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "tessera/encoder/formulation/refinements.h"
#include "tessera/problem/structure.h"

// Cutting a Problem
// -----------------
// Over the time of a whole program few buffers meet. If nothing lives across a step, the parts
// before and after it are independent. The same holds if lives are disjoint within the same steps:
// in different memories, or in a memory whose load rises and falls.
//
//     |--a--|     |---d---|          a b | d e   no byte is contended across the cut
//        |---b--|    |--e--|
//               ^ cut
//
// Two buffers are connected if some constraint mentions both: a pair that must be disjoint, a
// relation, a rule, a port of a bank that both use at one step, a mode of their memory at a step at
// which it matters to both. If a memory has transitions, its schedule connects all its buffers. The
// parts are the connected components. So the union of any solutions of the parts is a solution of
// the whole, and a part without solution refutes the whole.
//
// A step of a memory's schedule matters to at most one part; that part sets the mode. If
// transitions are free, a step that matters to none has the first mode. If not, the single part of
// that memory decides, and beyond its steps the schedule does not change.
//
// A Problem with costs is not cut, because its parts share a least cost.
namespace tessera::encoder::formulation {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Lifespan;
using problem::Memory;
using problem::Problem;
using problem::Result;
using problem::Status;
using problem::Step;

constexpr size_t kFewBuffers = 4;
constexpr size_t kMostMerged = 256;  // a part merged from small ones is closed at this size

// Union-find in which the smaller index is the root; so the root is the first buffer of a
// component.
class Components {
 public:
  explicit Components(size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  size_t Root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(size_t i, size_t j) {
    const size_t a = Root(i);
    const size_t b = Root(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parent_;
};

// Sweeps over the lives of each memory and joins each with the one that ends last so far. Every
// other live buffer has been joined with that one already.
void JoinNeighbours(const Problem& problem, Components& components) {
  struct Life {
    Step lower;
    Step upper;
    size_t buffer;
  };
  std::vector<std::vector<Life>> lives(problem.memories.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = problem.buffers[i];
    for (const Lifespan& life : buffer.lifespans) {
      lives[static_cast<size_t>(buffer.memory)].push_back({life.lower, life.upper, i});
    }
  }
  for (std::vector<Life>& list : lives) {
    std::sort(list.begin(), list.end(), [](const Life& a, const Life& b) {
      return std::pair(a.lower, a.buffer) < std::pair(b.lower, b.buffer);
    });
    const Life* last = nullptr;
    for (const Life& life : list) {
      if (last != nullptr && life.lower < last->upper) components.Join(last->buffer, life.buffer);
      if (last == nullptr || life.upper > last->upper) last = &life;
    }
  }
}

void JoinNamed(const Problem& problem, Components& components) {
  const auto join = [&](int i, int j) {
    components.Join(static_cast<size_t>(i), static_cast<size_t>(j));
  };
  for (const problem::Relation& relation : problem.relations) join(relation.first, relation.second);
  for (const problem::Rule& rule : problem.rules) {
    if (IsOnSet(rule)) {
      for (const int buffer : rule.buffers) join(rule.buffers.front(), buffer);
    }
    for (const auto& [first, second] : rule.pairs) {
      join(rule.pairs.front().first, first);  // a common delta ties all pairs
      join(first, second);
    }
  }
}

void JoinByTime(const Problem& problem, Components& components) {
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Memory& memory = problem.memories[m];
    if (memory.modes.empty() && !HasPorts(memory)) continue;
    std::map<Step, size_t> first_at;
    std::optional<size_t> first;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const problem::Buffer& buffer = problem.buffers[i];
      if (static_cast<size_t>(buffer.memory) != m) continue;
      for (const Step step : problem::StepsThatMatter(memory, buffer))
        components.Join(first_at.try_emplace(step, i).first->second, i);
      if (memory.modes.size() > 1 && memory.transitions) components.Join(first.value_or(i), i);
      first = first.value_or(i);
    }
  }
}

// The constraints of the whole that concern these buffers.
Part MakePart(const Problem& whole, const Ladder* ladder, std::vector<size_t> buffers) {
  Part part;
  part.buffers = std::move(buffers);
  std::vector<int> index(whole.buffers.size(), -1);
  for (const size_t i : part.buffers) {
    index[i] = static_cast<int>(part.problem.buffers.size());
    part.problem.buffers.push_back(whole.buffers[i]);
  }
  const auto at = [&index](int i) { return index[static_cast<size_t>(i)]; };
  part.problem.name = whole.name;
  part.problem.memories = whole.memories;
  part.problem.loops = whole.loops;
  for (size_t m = 0; m < whole.memories.size(); ++m) {
    const bool used =
        std::any_of(part.problem.buffers.begin(), part.problem.buffers.end(),
                    [m](const auto& buffer) { return static_cast<size_t>(buffer.memory) == m; });
    if (!used) part.problem.memories[m].modes.clear(), part.problem.memories[m].transitions.reset();
  }
  for (problem::Relation relation : whole.relations) {
    if (at(relation.first) < 0) continue;
    relation.first = at(relation.first);
    relation.second = at(relation.second);
    part.problem.relations.push_back(relation);
  }
  for (problem::Rule rule : whole.rules) {
    std::erase_if(rule.buffers, [&](int i) { return at(i) < 0; });
    std::erase_if(rule.pairs, [&](const auto& pair) { return at(pair.first) < 0; });
    if (rule.buffers.empty() && rule.pairs.empty()) continue;
    for (int& i : rule.buffers) i = at(i);
    for (auto& [first, second] : rule.pairs) first = at(first), second = at(second);
    part.problem.rules.push_back(std::move(rule));
  }
  if (ladder == nullptr) return part;
  for (const problem::CandidateSizes& candidate : ladder->candidates) {
    problem::CandidateSizes& thin = part.ladder.candidates.emplace_back();
    thin.name = candidate.name;
    for (const size_t i : part.buffers) thin.sizes.push_back(candidate.sizes[i]);
  }
  return part;
}

class PartsSession : public problem::Session {
 public:
  PartsSession(const Problem& problem, const Ladder* ladder, std::vector<Part> parts,
               const PartOpener& open)
      : problem_(problem), ladder_(ladder), parts_(std::move(parts)) {
    for (const Part& part : parts_) {
      sessions_.push_back(open(part.problem, ladder == nullptr ? nullptr : &part.ladder));
    }
  }

  Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    Result whole;
    whole.status = Status::kFeasible;
    whole.allocation.emplace();
    whole.allocation->offsets.resize(problem_.buffers.size());
    whole.allocation->modes = StillSchedules();
    for (size_t p = 0; p < parts_.size(); ++p) {
      const base::Budget left{budget.units - whole.statistics.conflicts};
      Result part = sessions_[p]->Solve(candidate, capacity, left, stop);
      whole.engine = part.engine;
      Accumulate(whole.statistics, part.statistics);
      whole.lower_bound = std::max(whole.lower_bound, part.lower_bound);
      if (part.allocation && whole.allocation)
        Merge(parts_[p], *part.allocation, *whole.allocation);
      if (part.status == Status::kFeasible) continue;
      whole.allocation.reset();
      whole.status = part.status;
      whole.reason = std::move(part.reason);
      if (whole.status != Status::kUnknown) return whole;
    }
    if (whole.allocation) whole.peak = PeakOf(Sized(candidate), *whole.allocation);
    return whole;
  }

  // Problems with costs are not cut.
  Result Minimise(size_t candidate, Bytes capacity, const base::Budget& budget,
                  const base::Stop& stop) override {
    Result result = Solve(candidate, capacity, budget, stop);
    if (result.allocation) result.cost = 0;
    return result;
  }

  std::string Describe() const override {
    std::string description = std::to_string(parts_.size()) + " parts";
    for (const auto& session : sessions_) {
      const std::string part = session->Describe();
      if (!part.empty()) description += "; " + part;
    }
    return description;
  }

 private:
  Problem Sized(size_t candidate) const {
    return ladder_ == nullptr ? problem_ : AtCandidate(problem_, ladder_->candidates[candidate]);
  }

  std::vector<problem::ModeSchedule> StillSchedules() const {
    const Lifespan horizon = Horizon(problem_);
    std::vector<problem::ModeSchedule> schedules(problem_.memories.size());
    for (size_t m = 0; m < schedules.size(); ++m) {
      if (problem_.memories[m].modes.empty()) continue;
      schedules[m].assign(static_cast<size_t>(horizon.upper - horizon.lower), 0);
    }
    return schedules;
  }

  void Merge(const Part& part, const problem::Allocation& found, problem::Allocation& whole) const {
    for (size_t k = 0; k < part.buffers.size(); ++k)
      whole.offsets[part.buffers[k]] = found.offsets[k];
    for (size_t m = 0; m < whole.modes.size(); ++m) {
      if (found.modes[m].empty()) continue;
      if (problem_.memories[m].transitions) {
        TakeAll(part, found.modes[m], whole.modes[m]);
      } else {
        TakeWhatMatters(part, m, found.modes[m], whole.modes[m]);
      }
    }
  }

  void TakeAll(const Part& part, const problem::ModeSchedule& found,
               problem::ModeSchedule& whole) const {
    const auto before = static_cast<size_t>(Horizon(part.problem).lower - Horizon(problem_).lower);
    for (size_t step = 0; step < whole.size(); ++step) {
      const size_t at = step < before ? 0 : std::min(step - before, found.size() - 1);
      whole[step] = found[at];
    }
  }

  void TakeWhatMatters(const Part& part, size_t memory, const problem::ModeSchedule& found,
                       problem::ModeSchedule& whole) const {
    const Step from = Horizon(part.problem).lower;
    const Step start = Horizon(problem_).lower;
    for (const problem::Buffer& buffer : part.problem.buffers) {
      if (static_cast<size_t>(buffer.memory) != memory) continue;
      for (const Step step : problem::StepsThatMatter(problem_.memories[memory], buffer)) {
        whole[static_cast<size_t>(step - start)] = found[static_cast<size_t>(step - from)];
      }
    }
  }

  const Problem& problem_;
  const Ladder* ladder_;
  std::vector<Part> parts_;
  std::vector<std::unique_ptr<problem::Session>> sessions_;  // parallel to parts_
};

}  // namespace

std::vector<Part> FindParts(const Problem& problem, const Ladder* ladder) {
  Components components(problem.buffers.size());
  JoinNeighbours(problem, components);
  JoinNamed(problem, components);
  JoinByTime(problem, components);
  if (!problem.costs.empty()) {
    for (size_t i = 1; i < problem.buffers.size(); ++i) components.Join(0, i);
  }
  std::map<size_t, std::vector<size_t>> members;
  for (size_t i = 0; i < problem.buffers.size(); ++i) members[components.Root(i)].push_back(i);
  std::vector<std::vector<size_t>> groups;
  std::vector<size_t> few;
  const auto close_few = [&] {
    std::sort(few.begin(), few.end());
    if (!few.empty()) groups.push_back(std::exchange(few, {}));
  };
  for (auto& [root, buffers] : members) {
    if (buffers.size() > kFewBuffers) {
      groups.push_back(std::move(buffers));
      continue;
    }
    few.insert(few.end(), buffers.begin(), buffers.end());
    if (few.size() >= kMostMerged) close_few();
  }
  close_few();
  std::vector<Part> parts;
  parts.reserve(groups.size());
  for (std::vector<size_t>& group : groups)
    parts.push_back(MakePart(problem, ladder, std::move(group)));
  return parts;
}

std::unique_ptr<problem::Session> OpenInParts(const Problem& problem, const Ladder* ladder,
                                              const PartOpener& open) {
  std::vector<Part> parts = FindParts(problem, ladder);
  if (parts.size() < 2) return open(problem, ladder);
  return std::make_unique<PartsSession>(problem, ladder, std::move(parts), open);
}

}  // namespace tessera::encoder::formulation
