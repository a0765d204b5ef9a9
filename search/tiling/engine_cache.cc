// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/engine_cache.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/problem/structure.h"

namespace tessera::search::tiling {

namespace {

size_t BytesOf(const std::string& key, const problem::Result& result) {
  constexpr size_t kBookkeeping = 128;  // list and hash nodes
  size_t bytes = kBookkeeping + sizeof(problem::Result) + key.size() + result.reason.size();
  if (!result.allocation) return bytes;
  bytes += result.allocation->offsets.size() * sizeof(problem::Bytes);
  for (const problem::ModeSchedule& schedule : result.allocation->modes)
    bytes += sizeof(problem::ModeSchedule) + schedule.size() * sizeof(int);
  return bytes;
}

}  // namespace

std::optional<problem::Result> ResultCache::Find(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = position_.find(key);
  if (found == position_.end()) {
    ++counts_.misses;
    return std::nullopt;
  }
  ++counts_.hits;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->result;
}

void ResultCache::Keep(std::string key, const problem::Result& result) {
  const size_t bytes = BytesOf(key, result);
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes_ || position_.contains(key)) return;
  while (counts_.bytes + bytes > most_bytes_) {
    counts_.bytes -= entries_.back().bytes;
    ++counts_.dropped;
    position_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front(Entry{std::move(key), result, bytes});
  position_.emplace(entries_.front().key, entries_.begin());
  counts_.bytes += bytes;
}

ResultCache::Counts ResultCache::Count() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// The signature consists of the bytes of all members of the normal form except the sizes of
// buffers. Signatures are compared in full. One is some kilobytes long, but is made only once for a
// ladder.

namespace {

using problem::Problem;
using problem::Step;

bool StepsMatter(const Problem& problem) {
  return std::any_of(problem.memories.begin(), problem.memories.end(),
                     [](const problem::Memory& memory) {
                       return !memory.modes.empty() || problem::HasPorts(memory);
                     });
}

void NumberSteps(Problem& problem) {
  std::vector<Step> boundaries;
  for (const problem::Buffer& buffer : problem.buffers) {
    for (const problem::Lifespan& life : buffer.lifespans) {
      boundaries.push_back(life.lower);
      boundaries.push_back(life.upper);
    }
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  const auto number = [&boundaries](Step step) {
    return static_cast<Step>(std::lower_bound(boundaries.begin(), boundaries.end(), step) -
                             boundaries.begin());
  };
  for (problem::Buffer& buffer : problem.buffers) {
    for (problem::Lifespan& life : buffer.lifespans)
      life = {number(life.lower), number(life.upper)};
  }
}

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

Problem WithoutNames(const Problem& problem) {
  Problem nameless = problem;
  nameless.name.clear();
  for (size_t i = 0; i < nameless.buffers.size(); ++i) {
    problem::Buffer& buffer = nameless.buffers[i];
    buffer.id = "#" + std::to_string(i);
    buffer.name.clear();
    buffer.role.clear();
    buffer.annotations.clear();
  }
  for (problem::Rule& rule : nameless.rules) rule.name.clear();
  for (problem::Cost& cost : nameless.costs) cost.name.clear();
  if (StepsMatter(problem)) return nameless;
  for (problem::Buffer& buffer : nameless.buffers) buffer.accesses.clear();
  nameless.loops.clear();
  NumberSteps(nameless);
  return nameless;
}

namespace {

// Writes the fields of values one after another. Lists and texts begin with their length and
// optional values with their presence, so different values have different bytes. The structured
// bindings do not compile if a member is added to a structure and not here.
class Signature {
 public:
  std::string Take() { return std::move(bytes_); }

  template <typename Number>
  requires std::is_arithmetic_v<Number> || std::is_enum_v<Number>
  void Add(Number number) {
    const auto wide = static_cast<int64_t>(number);
    char bytes[sizeof wide];
    std::memcpy(bytes, &wide, sizeof wide);
    bytes_.append(bytes, sizeof wide);
  }
  void Add(const std::string& text) {
    Add(text.size());
    bytes_ += text;
  }
  template <typename Value>
  void Add(const std::optional<Value>& value) {
    Add(value.has_value());
    if (value) Add(*value);
  }
  template <typename Value>
  void Add(const std::vector<Value>& values) {
    Add(values.size());
    for (const Value& value : values) Add(value);
  }
  template <typename First, typename Second>
  void Add(const std::pair<First, Second>& pair) {
    AddAll(pair.first, pair.second);
  }
  template <typename Value, typename... Options>
  void Add(const std::map<std::string, Value, Options...>& values) {
    Add(values.size());
    for (const auto& value : values) AddAll(value.first, value.second);
  }
  void Add(const problem::AddressRange& range) { AddAll(range.begin, range.end); }
  void Add(const problem::Lifespan& life) { AddAll(life.lower, life.upper); }
  void Add(const problem::SizeRange& sizes) { AddAll(sizes.least, sizes.most); }
  void Add(const problem::Access& access) {
    const auto& [step, engine, kind] = access;
    AddAll(step, engine, kind);
  }
  void Add(const problem::Reserved& reserved) { AddAll(reserved.range, reserved.reason); }
  void Add(const problem::Ports& ports) {
    const auto& [total, reads, writes] = ports;
    AddAll(total, reads, writes);
  }
  void Add(const problem::Bank& bank) {
    const auto& [name, range, ports] = bank;
    AddAll(name, range, ports);
  }
  void Add(const problem::Permission& permission) { AddAll(permission.engine, permission.kind); }
  void Add(const problem::BankMode& mode) { AddAll(mode.off, mode.allowed); }
  void Add(const problem::Mode& mode) { AddAll(mode.name, mode.banks); }
  void Add(const problem::Loop& loop) {
    const auto& [begin, end, exits] = loop;
    AddAll(begin, end, exits);
  }
  void Add(const problem::Relation& relation) {
    const auto& [kind, first, second, delta] = relation;
    AddAll(kind, first, second, delta);
  }
  void Add(const problem::Requirement& requirement) {
    const auto& [kind, multiple, residue, window, banks, distance, before, after] = requirement;
    AddAll(kind, multiple, residue, window, banks, distance, before, after);
  }
  void Add(const problem::Rule& rule) {
    const auto& [name, requirement, buffers, pairs, sizes] = rule;
    AddAll(name, requirement, buffers, pairs, sizes);
  }
  void Add(const problem::Cost& cost) {
    const auto& [name, kind, weight, first, second, memory] = cost;
    AddAll(name, kind, weight, first, second, memory);
  }
  void Add(const problem::Memory& memory) {
    const auto& [name, capacity, alignment, reserved, banks, modes, transitions, bank_sets] =
        memory;
    AddAll(name, capacity, alignment, reserved, banks, modes, transitions, bank_sets);
  }
  // Omits the size, which is another part of the key.
  void Add(const problem::Buffer& buffer) {
    const auto& [id, name, role, size, lifespans, alignment, memory, span, allowed_banks, offset,
                 hint, value, accesses, annotations] = buffer;
    static_cast<void>(size);
    AddAll(id, name, role, lifespans, alignment, memory, span, allowed_banks, offset, hint, value,
           accesses, annotations);
  }
  void Add(const Problem& problem) {
    const auto& [name, buffers, memories, relations, loops, rules, costs] = problem;
    AddAll(name, buffers, memories, relations, loops, rules, costs);
  }

 private:
  template <typename... Values>
  void AddAll(const Values&... values) {
    (Add(values), ...);
  }

  std::string bytes_;
};

}  // namespace

std::string SignatureOf(const Problem& nameless) {
  Signature signature;
  signature.Add(nameless);
  return signature.Take();
}

std::string RestoreNames(const std::string& sentence, const Problem& problem) {
  std::string restored;
  for (size_t at = 0; at < sentence.size();) {
    size_t end = at + 1;
    while (sentence[at] == '#' && end < sentence.size() && IsDigit(sentence[end])) ++end;
    const std::string word = sentence.substr(at, end - at);
    const bool is_name = word.size() > 1;
    restored += is_name ? problem.buffers[std::stoul(word.substr(1))].id : word;
    at = end;
  }
  return restored;
}

// Blocks of a network repeat, and so do the queries about them: equal lives, sizes and memory. The
// key of a query consists of the Problem's signature (SignatureOf), the engine, the capacity, the
// budget and the sizes.
//
//     interval 12..14 of one network  --.
//                                        >-- WithoutNames --> key --> a stored result,
//     interval 4..6 of another        --'                             or a new session
//
// An answer must not depend on the contents of the cache. So the engine always gets the Problem
// without names, in a new session, and the answer is a function of the key. The price is that an
// engine cannot use what it has learned about one candidate for the next.

namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Result;

void Append(std::string& key, int64_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  key.append(bytes, sizeof number);
}

class CachedSession final : public problem::Session {
 public:
  CachedSession(const problem::Engine& engine, size_t number, ResultCache& cache,
                const Problem& problem, const Ladder* ladder)
      : engine_(engine), number_(number), cache_(cache), problem_(problem), ladder_(ladder) {}

  Result Solve(size_t candidate, Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    if (ladder_ != nullptr && candidate >= ladder_->candidates.size()) {
      Result invalid;
      invalid.status = problem::Status::kInvalid;
      invalid.reason = "there is no candidate " + std::to_string(candidate);
      return invalid;
    }
    Result result = Answer(KeyOf(candidate, capacity, budget), capacity, budget, stop);
    result.reason = RestoreNames(result.reason, problem_);
    return result;
  }

 private:
  // Returns the key of a query. Sets the sizes of the nameless Problem to those of the candidate.
  std::string KeyOf(size_t candidate, Bytes capacity, const base::Budget& budget) {
    if (!nameless_) {
      nameless_ = WithoutNames(problem_);
      signature_ = SignatureOf(*nameless_);
    }
    std::string key = signature_;
    Append(key, static_cast<int64_t>(number_));
    Append(key, capacity);
    Append(key, budget.units);
    for (size_t i = 0; i < nameless_->buffers.size(); ++i) {
      Bytes& size = nameless_->buffers[i].size;
      if (ladder_ != nullptr) size = ladder_->candidates[candidate].sizes[i];
      Append(key, size);
    }
    return key;
  }

  Result Answer(std::string key, Bytes capacity, const base::Budget& budget,
                const base::Stop& stop) {
    if (std::optional<Result> known = cache_.Find(key)) return *std::move(known);
    Result result = engine_.Open(*nameless_, nullptr)->Solve(0, capacity, budget, stop);
    if (!stop.Requested()) cache_.Keep(std::move(key), result);
    return result;
  }

  const problem::Engine& engine_;
  const size_t number_;
  ResultCache& cache_;
  const Problem& problem_;
  const Ladder* ladder_;
  std::optional<Problem> nameless_;
  std::string signature_;
};

class CachedEngine final : public problem::Engine {
 public:
  CachedEngine(const problem::Engine& engine, size_t number, ResultCache& cache)
      : engine_(engine), number_(number), cache_(cache) {}

  std::string_view Name() const override { return engine_.Name(); }
  bool Refutes() const override { return engine_.Refutes(); }

  std::unique_ptr<problem::Session> Open(const Problem& problem,
                                         const Ladder* ladder) const override {
    return std::make_unique<CachedSession>(engine_, number_, cache_, problem, ladder);
  }

 private:
  const problem::Engine& engine_;
  const size_t number_;
  ResultCache& cache_;
};

}  // namespace

CachedEngines::CachedEngines(const Engines& engines, size_t most_bytes) : cache_(most_bytes) {
  for (size_t i = 0; i < engines.size(); ++i) {
    wrapped_.push_back(std::make_unique<CachedEngine>(*engines[i], i, cache_));
    pointers_.push_back(wrapped_.back().get());
  }
}

CachedEngines::~CachedEngines() = default;

}  // namespace tessera::search::tiling
