// SPDX-License-Identifier: Apache-2.0

#include <tessera/session.h>

#include <list>
#include <mutex>
#include <new>
#include <utility>

#include "tessera/api/answer_cache.h"
#include "tessera/api/content.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/partition/choices/equal_intervals.h"
#include "tessera/search/tiling/engine_cache.h"

// A session keeps three kinds of results. The answer of a call is kept whole, with everything that
// determines it as the key: the same call again costs a comparison of keys. Results of engines
// about single Problems are kept too (search/tiling/engine_cache.h), which helps calls that are
// only similar, as in a sweep over profiles; and costs of intervals of operators
// (search/partition/choices/equal_intervals.h), which helps calls for similar networks. All are
// functions of their keys, so answers do not depend on the kept results, on the order of calls, or
// on threads.
namespace tessera::api {

// The values of the few keys that were used last.
template <typename Value>
class RecentlyUsed {
 public:
  static constexpr size_t kMost = 4;

  // Returns the value of the key, which `make` makes if it is not here. It stays valid while the
  // caller holds it, even if it is dropped here.
  template <typename Make>
  std::shared_ptr<Value> Get(const std::string& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->first != key) continue;
      kept_.splice(kept_.begin(), kept_, at);
      return at->second;
    }
    if (kept_.size() == kMost) kept_.pop_back();
    kept_.emplace_front(key, make());
    return kept_.front().second;
  }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : kept_) visit(*value);
  }

  void Clear() {
    const std::lock_guard lock(mutex_);
    kept_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<Value>>> kept_;  // latest first
};

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

// Half of the space is for answers, a quarter for results of engines, a quarter for prices.
struct Session::Content {
  explicit Content(const SessionOptions& options)
      : answers(options.most_bytes / 2), most_bytes(options.most_bytes / 4) {}

  // Returns the engines of this choice of engine, rules and seed.
  std::shared_ptr<api::KeptEngines> EnginesFor(const std::string& choice,
                                               const SearchOptions& options) {
    return engines.Get(choice, [&] {
      return std::make_shared<api::KeptEngines>(api::EnginesOf(options),
                                                most_bytes / engines.kMost);
    });
  }

  // Returns the prices of intervals on this profile with these options.
  std::shared_ptr<search::partition::choices::KeptPrices> PricesFor(const std::string& key) {
    constexpr size_t kBytesOfPrice = 300;
    return prices.Get(key, [&] {
      return std::make_shared<search::partition::choices::KeptPrices>(
          static_cast<int64_t>(most_bytes / prices.kMost / kBytesOfPrice));
    });
  }

  api::AnswerCache answers;
  const size_t most_bytes;  // of the engines, and of the prices
  api::RecentlyUsed<api::KeptEngines> engines;
  api::RecentlyUsed<search::partition::choices::KeptPrices> prices;
};

}  // namespace v0
}  // namespace tessera

namespace tessera::api {
namespace {

// Returns the state of a session. Throws std::bad_alloc if there is none.
Session::Content& StateOf(const std::shared_ptr<Session::Content>& content) {
  if (content == nullptr) throw std::bad_alloc();
  return *content;
}

// A text that differs for different lists of values: each value states its length.
class OptionText {
 public:
  OptionText& Add(const std::string& value) {
    text_ += std::to_string(value.size()) + ':' + value;
    return *this;
  }
  OptionText& Add(std::int64_t value) { return Add(std::to_string(value)); }
  template <typename Value>
  OptionText& Add(const std::optional<Value>& value) {
    Add(value.has_value() ? 1 : 0);
    return value ? Add(static_cast<std::int64_t>(*value)) : *this;
  }
  OptionText& Add(const std::vector<std::string>& values) {
    Add(static_cast<std::int64_t>(values.size()));
    for (const std::string& value : values) Add(value);
    return *this;
  }
  OptionText& Add(const std::vector<MetricValue>& values) {
    Add(static_cast<std::int64_t>(values.size()));
    for (const auto& [metric, value] : values)
      Add(metric).Add(std::string(reinterpret_cast<const char*>(&value), sizeof value));
    return *this;
  }
  const std::string& Get() const { return text_; }

 private:
  std::string text_;
};

// Returns the choice of engines. Threads, deadlines and callbacks change no answer that was not cut
// off.
OptionText ChoiceOf(const SearchOptions& options) {
  OptionText text;
  text.Add(static_cast<std::int64_t>(options.seed)).Add(options.engine).Add(options.switched_off);
  return text;
}

std::shared_ptr<const std::string> KeyOf(const Problem::Content& problem) {
  return problem.key.Get([&] {
    const problem::files::ProblemDocument& document = problem.document;
    OptionText text;
    text.Add(problem::files::WriteProblem(document));
    for (const auto& constraint : problem.constraints) {
      text.Add(constraint->name).Add(constraint->version).Add(constraint->buffers);
      text.Add(constraint->unit);
    }
    return text.Get();
  });
}

// The options that costs of intervals may depend on. The objective is no part of it: prices of
// different objectives are kept apart.
OptionText PriceText(const PlanOptions& options) {
  OptionText text = ChoiceOf(options);
  text.Add(options.budget).Add(options.max_operators);
  for (const bool flag :
       {options.keep_order, options.keep_boundaries, options.transfers == Transfers::kProgram})
    text.Add(flag ? 1 : 0);
  return text.Add(static_cast<int>(options.off_chip)).Add(options.constraints);
}

CallKey KeyOf(const Network& network, const Profile& profile, const PlanOptions& options) {
  CallKey key("plan");
  key.Add(NetworkKey(network.Get()));
  key.Add(profile.Json());
  OptionText text = PriceText(options);
  text.Add(options.minimize).Add(options.limits);
  for (const bool flag : {options.explain, options.certify, options.sensitivity, options.lowering})
    text.Add(flag ? 1 : 0);
  key.Add(text.Get());
  if (options.previous != nullptr)
    key.Add(plan::files::WritePlanJson(options.previous->Get().plan));
  return key;
}

OptionText TextOf(const AllocateOptions& options) {
  OptionText text = ChoiceOf(options);
  text.Add(options.budget).Add(options.capacity).Add(options.peaks);
  text.Add(std::vector<MetricValue>{{"gap_percent", options.gap_percent}});
  for (const bool flag : {options.minimize, options.explain, options.certify})
    text.Add(flag ? 1 : 0);
  return text;
}

CallKey KeyOf(const Problem& problem, const AllocateOptions& options) {
  CallKey key("allocation");
  key.Add(KeyOf(problem.Get()));
  key.Add(TextOf(options).Get());
  return key;
}

CallKey KeyOf(const Problem& problem, const Revision& revision, const AllocateOptions& options) {
  CallKey key("revision");
  key.Add(KeyOf(problem.Get()));
  key.Add(TextOf(options).Get());
  OptionText text;
  text.Add(static_cast<std::int64_t>(revision.add.size()));
  for (const Buffer& buffer : revision.add) {
    text.Add(buffer.id).Add(buffer.size).Add(buffer.alignment).Add(buffer.offset).Add(buffer.hint);
    text.Add(static_cast<std::int64_t>(buffer.steps.size()));
    for (const auto& [lower, upper] : buffer.steps) text.Add(lower).Add(upper);
  }
  text.Add(revision.remove);
  for (const auto& [id, size] : revision.resize) text.Add(id).Add(size);
  key.Add(text.Get());
  return key;
}

CallKey KeyOf(const Network& network, const Profile& profile, const TileOptions& options) {
  CallKey key("tiles");
  key.Add(NetworkKey(network.Get()));
  key.Add(profile.Json());
  OptionText text = ChoiceOf(options);
  text.Add(options.budget).Add(options.operators).Add(options.tile);
  for (const bool flag : {options.all, options.explain}) text.Add(flag ? 1 : 0);
  key.Add(text.Get());
  return key;
}

// Returns the approximate bytes of an answer, counted by the parts that grow with the input.
size_t BytesOf(const std::vector<std::string>& texts) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += sizeof(std::string) + text.size();
  return bytes;
}

size_t BytesOf(const problem::Problem& problem) {
  constexpr size_t kRest = 256;  // names, accesses, lifespans, places
  return problem.buffers.size() * (sizeof(problem::Buffer) + kRest);
}

size_t BytesOf(const std::optional<Certificate>& certificate) {
  size_t bytes = 0;
  if (!certificate) return bytes;
  for (const auto& [name, text] : certificate->Files()) bytes += name.size() + text.size();
  return bytes;
}

size_t BytesOf(const PlanAnswer& answer) {
  constexpr size_t kOperator = 1024;  // with its tensors and its part of the tables
  size_t bytes = sizeof(answer) + BytesOf(answer.explanation) + BytesOf(answer.certificate);
  if (!answer.plan) return bytes;
  const plan::Plan& plan = answer.plan->Get().plan;
  return bytes + sizeof(Plan::Content) + 2 * BytesOf(plan.problem) +
         plan.network.operators.size() * kOperator + plan.steps.size() * sizeof(plan.steps[0]);
}

size_t BytesOf(const AllocateAnswer& answer) {
  size_t bytes = sizeof(answer) + BytesOf(answer.explanation) + BytesOf(answer.certificate);
  if (answer.allocation) {
    bytes += sizeof(Allocation::Content) + answer.allocation->Offsets().size() * 16 +
             BytesOf(answer.allocation->Get().problem.Get().document.problem);
  }
  return bytes;
}

size_t BytesOf(const TileAnswer& answer) {
  return sizeof(answer) + BytesOf(answer.explanation) + 2 * answer.json.size() + answer.text.size();
}

// Returns the kept answer of the key, or that of `search`, which is then kept.
template <typename Answer, typename Search>
Result<Answer> FindOr(AnswerCache& answers, CallKey key, const Search& search) {
  if (const auto known = answers.Find<Answer>(key)) return *known;
  Result<Answer> answer = search();
  if (answer && !answer->stopped) {
    const size_t bytes = BytesOf(*answer);
    answers.Keep(std::move(key), std::make_shared<const Answer>(*answer), bytes);
  }
  return answer;
}

}  // namespace

std::shared_ptr<const std::string> NetworkKey(const Network::Content& network) {
  return network.key.Get([&] {
    OptionText text;
    text.Add(graph::import::yaml::WriteNetworkJson(network.graph));
    return text.Add(network.notes).Add(network.nodes).Get();
  });
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Session::Session(const SessionOptions& options) noexcept
    : content_(api::MakeUnlessExhausted<Content>(options)) {}

Result<PlanAnswer> Session::MakePlan(const Network& network, const Profile& profile,
                                     const PlanOptions& options) const {
  return api::Guarded([&]() -> Result<PlanAnswer> {
    Content& state = api::StateOf(content_);
    if (auto error = api::FindBadOption(options)) return *std::move(error);
    return api::FindOr<PlanAnswer>(state.answers, api::KeyOf(network, profile, options), [&] {
      const auto kept = state.EnginesFor(api::ChoiceOf(options).Get(), options);
      const auto prices = state.PricesFor(api::PriceText(options).Add(profile.Json()).Get());
      return api::SearchPlan(network, profile, options, kept.get(), prices.get());
    });
  });
}

Result<AllocateAnswer> Session::Allocate(const Problem& problem,
                                         const AllocateOptions& options) const {
  return api::Guarded([&]() -> Result<AllocateAnswer> {
    Content& state = api::StateOf(content_);
    if (auto error = api::FindBadOption(options)) return *std::move(error);
    return api::FindOr<AllocateAnswer>(state.answers, api::KeyOf(problem, options),
                                       [&] { return api::PlaceBuffers(problem, options); });
  });
}

Result<RevisedAnswer> Session::Revise(const Problem& problem, const Revision& revision,
                                      const AllocateOptions& options) const {
  return api::Guarded([&]() -> Result<RevisedAnswer> {
    Content& state = api::StateOf(content_);
    if (auto error = api::FindBadOption(options)) return *std::move(error);
    const Result<AllocateAnswer> before = Allocate(problem, options);
    if (!before) return before.Error();
    return api::FindOr<RevisedAnswer>(state.answers, api::KeyOf(problem, revision, options), [&] {
      return before->allocation ? api::ReviseAllocation(*before->allocation, revision, options)
                                : api::ReviseUnplaced(problem, revision, options);
    });
  });
}

Result<TileAnswer> Session::FindTiles(const Network& network, const Profile& profile,
                                      const TileOptions& options) const {
  return api::Guarded([&]() -> Result<TileAnswer> {
    Content& state = api::StateOf(content_);
    if (auto error = api::FindBadOption(options)) return *std::move(error);
    return api::FindOr<TileAnswer>(state.answers, api::KeyOf(network, profile, options), [&] {
      const auto kept = state.EnginesFor(api::ChoiceOf(options).Get(), options);
      return api::SearchTiles(network, profile, options, kept.get());
    });
  });
}

SessionCounts Session::Count() const noexcept {
  if (!HasState()) return {};
  const api::AnswerCache::Counts answers = content_->answers.Count();
  SessionCounts counts{answers.hits, answers.misses, answers.dropped, answers.bytes, 0, 0};
  content_->engines.ForEach([&counts](const api::KeptEngines& engines) {
    const search::tiling::ResultCache::Counts more = engines.cached.Count();
    counts.known += more.hits;
    counts.asked += more.misses;
  });
  return counts;
}

void Session::Clear() const noexcept {
  if (!HasState()) return;
  content_->answers.Clear();
  content_->engines.Clear();
  content_->prices.Clear();
}

}  // namespace v0
}  // namespace tessera
