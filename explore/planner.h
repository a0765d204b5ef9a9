// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/bounds.h>
#include <tessera/session.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// Asks the library about pairs of a network and a point, on several threads, and keeps the answers
// in the store. Questions that the store answers are not asked again. Calls throw std::bad_alloc if
// memory runs out.
namespace tessera::explore {

// A network of the specification on a profile of the space, as indices.
struct PairOf {
  size_t network = 0;
  size_t point = 0;
};

struct Question {
  PairOf pair;
  std::string metric;  // that the plan minimises
};

// The answer of `tessera plan`.
struct Answer {
  std::string key;  // in the store
  std::string metric;
  std::string outcome;                   // as NameOf(Outcome)
  std::map<std::string, double> values;  // of all metrics; empty without a plan
  std::string reason;                    // why there is no plan

  bool HasPlan() const { return !values.empty(); }
};

struct PlannerOptions {
  base::Threads threads = {};
  Canceller canceller = {};
  std::optional<int64_t> memory_limit = {};
  // called after each plan, from one thread at a time
  std::function<void()> planned = {};
  // Notes the questions in progress; nullptr: no notes. A question that two attempts did not answer
  // gets the answer "failed".
  const Attempts* attempts = nullptr;
};

// Sets the threads of a call.
inline void SetThreads(base::Threads threads, CallOptions& call) {
  call.threads = threads.count;
  if (threads.executor != nullptr) call.executor = *threads.executor;
}

// Return keys of the store: the options of a plan as JSON, and the network with its import.
std::string OptionsText(const Settings& settings, const NetworkEntry& network,
                        const std::string& metric);
std::string NetworkKey(const NetworkEntry& network);

class Planner {
 public:
  // All arguments must outlive the planner.
  Planner(const Spec& spec, const std::vector<Point>& points, const Store& store,
          PlannerOptions options);

  // Reads the networks, and makes a profile of each point. A diagnostic is about a network.
  std::optional<base::Diagnostic> Load();

  // Returns why the point is not a profile; nullptr if it is one. Call it after Load.
  const std::string* FaultOf(size_t point) const;
  bool IsCancelled() const { return options_.canceller.IsCancelled(); }

  // Values of metrics by name.
  using Figures = std::map<std::string, double>;
  // The known facts about a pair before it is planned.
  struct Bounds {
    Figures metrics = {};   // lower bounds of all metrics, by name; empty if the call was cancelled
    std::string none = {};  // why there is no plan, where that is proven
  };
  base::Expected<std::vector<Bounds>> FindBounds(std::span<const PairOf> pairs) const;

  // Returns the answers, in the order of the questions; nullopt if the call was cancelled.
  base::Expected<std::optional<std::vector<Answer>>> Ask(std::span<const Question> questions) const;

  // Returns whether the plans of one point are proven to be at least as good as those of another,
  // in these metrics and within the limits of the network.
  bool IsAtLeastAsGood(size_t network, size_t better, size_t worse,
                       std::vector<std::string> metrics) const;

  std::string KeyOf(const Question& question) const;

  // The network and the profile of a pair. ProfileAt requires that FaultOf(point) is null.
  const Network& NetworkAt(size_t network) const { return networks_[network]; }
  const Profile& ProfileAt(size_t point) const { return *profiles_[point]; }

 private:
  std::string KeyOfBounds(const PairOf& pair) const;
  std::optional<base::Diagnostic> ComputeBounds(const PairOf& pair, Bounds& bounds) const;
  PlanOptions OptionsFor(const Question& question) const;
  base::Expected<Answer> AskLibrary(const Question& question) const;
  base::Expected<Answer> AskForOneOfMany(const Question& question) const;
  base::Expected<Answer> AskNoting(const Question& question) const;
  size_t PutSuspectsLast(std::span<const Question> questions, std::vector<size_t>& open) const;
  void Remember(const Question& question, const Answer& answer, double milliseconds) const;
  std::optional<base::Diagnostic> InParallel(
      size_t count, const std::function<std::optional<base::Diagnostic>(size_t)>& work) const;

  const Spec& spec_;
  const std::vector<Point>& points_;
  const Store& store_;
  PlannerOptions options_;
  Session session_;
  std::vector<Network> networks_;
  std::vector<std::optional<Profile>> profiles_;
  std::vector<std::string> faults_;
  std::vector<std::string> digests_;                                    // of the points
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // of store and callback
};

}  // namespace tessera::explore
