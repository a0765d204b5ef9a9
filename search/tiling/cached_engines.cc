#include "tessera/search/tiling/cached_engines.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/search/tiling/signature.h"

// Blocks of a network repeat, and so do the questions about them: the same lives, the same sizes, the same memory. What tells
// two questions apart is the key: the engine, the Problem's signature (signature.h), the sizes, the capacity, the budget.
//
//     interval 12..14 of one network  --.
//                                        >-- WithoutNames --> key --> kept result, or a session of its own
//     interval 4..6 of another        --'
//
// An answer must not depend on what happens to be remembered. So the engine is asked about the Problem without names, in a session
// that has seen nothing else, whether or not the answer is then kept: it is a function of the key. What a session could carry
// over from one rung to the next is given up for that.
namespace tessera::search {
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
  CachedSession(const problem::Engine& engine, size_t number, VerdictCache& cache, const Problem& problem,
                const Ladder* ladder)
      : engine_(engine), number_(number), cache_(cache), problem_(problem), ladder_(ladder) {}

  Result Solve(size_t rung, Bytes capacity, const base::Budget& budget, const base::Stop& stop) override {
    if (ladder_ != nullptr && rung >= ladder_->rungs.size()) {
      Result invalid;
      invalid.status = problem::Status::kInvalid;
      invalid.reason = "the ladder has no rung " + std::to_string(rung);
      return invalid;
    }
    Result result = Answer(KeyOf(rung, capacity, budget), capacity, budget, stop);
    result.reason = RestoreNames(result.reason, problem_);
    return result;
  }

 private:
  // Gives the nameless Problem the sizes of the rung.
  std::string KeyOf(size_t rung, Bytes capacity, const base::Budget& budget) {
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
      if (ladder_ != nullptr) size = ladder_->rungs[rung].sizes[i];
      Append(key, size);
    }
    return key;
  }

  Result Answer(std::string key, Bytes capacity, const base::Budget& budget, const base::Stop& stop) {
    if (std::optional<Result> known = cache_.Find(key)) return *std::move(known);
    Result result = engine_.Open(*nameless_, nullptr)->Solve(0, capacity, budget, stop);
    if (!stop.Requested()) cache_.Keep(std::move(key), result);
    return result;
  }

  const problem::Engine& engine_;
  const size_t number_;
  VerdictCache& cache_;
  const Problem& problem_;
  const Ladder* ladder_;
  std::optional<Problem> nameless_;
  std::string signature_;
};

class CachedEngine final : public problem::Engine {
 public:
  CachedEngine(const problem::Engine& engine, size_t number, VerdictCache& cache)
      : engine_(engine), number_(number), cache_(cache) {}

  std::string_view Name() const override { return engine_.Name(); }
  bool Refutes() const override { return engine_.Refutes(); }

  std::unique_ptr<problem::Session> Open(const Problem& problem, const Ladder* ladder) const override {
    return std::make_unique<CachedSession>(engine_, number_, cache_, problem, ladder);
  }

 private:
  const problem::Engine& engine_;
  const size_t number_;
  VerdictCache& cache_;
};

}  // namespace

CachedEngines::CachedEngines(const Engines& engines, size_t most_bytes) : cache_(most_bytes) {
  for (size_t i = 0; i < engines.size(); ++i) {
    wrapped_.push_back(std::make_unique<CachedEngine>(*engines[i], i, cache_));
    pointers_.push_back(wrapped_.back().get());
  }
}

CachedEngines::~CachedEngines() = default;

}  // namespace tessera::search
