// SPDX-License-Identifier: Apache-2.0

#include <tessera/explore.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/files.h"
#include "tessera/explore/output.h"
#include "tessera/explore/request.h"

// Explorations as calls of the library: <tessera/explore.h>.
namespace tessera::explore {
namespace {

// Cancels a call when its time is over or its caller cancels. The caller's own canceller, which may
// serve other calls, is not changed.
class Watch {
 public:
  Watch(const CallOptions& options, Canceller own) : own_(std::move(own)) {
    if (!options.timeout_s && !options.canceller) return;
    const auto begin = std::chrono::steady_clock::now();
    thread_ = std::thread([this, begin, limit = options.timeout_s, caller = options.canceller] {
      constexpr std::chrono::milliseconds kBetweenLooks{10};
      std::unique_lock lock(mutex_);
      while (!changed_.wait_for(lock, kBetweenLooks, [this] { return has_ended_; })) {
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        if ((limit && elapsed.count() >= *limit) || (caller && caller->IsCancelled()))
          own_.Cancel();
      }
    });
  }
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Canceller own_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;
};

Result<ExploreAnswer> AnswerCall(std::string text, const ExploreOptions& options,
                                 const std::string& name) {
  Request request;
  request.plan_all = options.exhaustive;
  request.relax = options.relax;
  request.least = options.least;
  request.marginal = options.marginal;
  if (options.uncertainty != 0) request.uncertainty = options.uncertainty;
  request.adaptive = options.adaptive;
  if (const std::string fault = FaultOf(request); !fault.empty())
    return api::BadArgument(fault, "options that go together");
  if (options.timeout_s && !(*options.timeout_s > 0))
    return api::BadArgument("a timeout of " + std::to_string(*options.timeout_s) + " s",
                            "a number above 0");
  const base::Expected<Spec> spec = ReadSpec(std::move(text), name);
  if (!spec) return api::BadInput(spec.error());
  const auto store = Store::Open(options.store.empty() ? ":memory:" : options.store);
  if (!store) return api::BadInput(store.error());
  RunOptions run;
  run.threads = api::ThreadsOf(options);
  run.memory_limit = options.memory_limit;
  run.progress = api::OneAtATime(options);
  if (!run.canceller.HasState() || (options.canceller && !options.canceller->HasState()))
    return api::OutOfMemory();
  const Watch watch(options, run.canceller);
  const base::Expected<std::optional<Json>> document = Ask(*spec, *store, request, run);
  if (!document) return api::BadInput(document.error());
  ExploreAnswer answer;
  answer.stopped = !*document;
  if (answer.stopped) return answer;
  answer.json = DocumentText(**document);
  answer.text = Describe(**document);
  if (!(*document)->contains("pairs")) return answer;
  answer.csv = DocumentCsv(**document);
  answer.html = WritePage(**document);
  return answer;
}

}  // namespace
}  // namespace tessera::explore

namespace tessera {
inline namespace v0 {

Result<ExploreAnswer> Explore(const std::string& specification, const ExploreOptions& options) {
  return api::Guarded([&]() -> Result<ExploreAnswer> {
    base::Expected<std::string> text = base::ReadInput(specification);
    if (!text) return api::BadInput(text.error());
    return explore::AnswerCall(*std::move(text), options, specification);
  });
}

Result<ExploreAnswer> ExploreText(std::string_view yaml, const ExploreOptions& options,
                                  const std::string& name) {
  return api::Guarded([&] { return explore::AnswerCall(std::string(yaml), options, name); });
}

}  // namespace v0
}  // namespace tessera
