#ifndef TESSERA_PLAN_H_
#define TESSERA_PLAN_H_

#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {
inline namespace v0 {

// What is known about the question of a call. Unknown is never infeasible.
enum class Outcome : std::uint8_t {
  kOptimal,      // a plan, and a proof that no plan has a better score
  kFeasible,     // a plan; Plan::Proof says what is proven
  kInfeasible,   // proven: no plan fits, or none keeps the limits and constraints
  kUnknown,      // a limit came first
  kUnsupported,  // the profile cannot run the network
};

// "optimal", "feasible", ...
TESSERA_API const char* NameOf(Outcome outcome) noexcept;

// Ends calls early, from any thread. A call that is cancelled gives its best answer so far. Stays
// cancelled. Copies are one canceller.
class TESSERA_API Canceller {
 public:
  Canceller();
  void Cancel() const noexcept;
  bool IsCancelled() const noexcept;

  struct Content;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<Content> content_;
};

// What ends a call before its work is done, and how much of the machine it uses. None of this
// changes an answer that was not cut off.
struct CallOptions {
  std::optional<double> timeout_s = {};           // wall clock
  std::optional<std::int64_t> memory_limit = {};  // bytes that the process holds; not set: three
                                                  // quarters of what it may hold
  std::optional<Canceller> canceller = {};
  int threads = 1;
  // Receives a line about the progress of long work, from any of the threads, one at a time.
  std::function<void(std::string_view line)> progress = {};
};

// A metric and its weight, or its greatest allowed value. `tessera plan --help` lists the metrics.
using MetricValue = std::pair<std::string, double>;

class Plan;

struct PlanOptions : CallOptions {
  // The mean of these metrics is minimised, each divided by its lower bound; with one entry, that
  // metric. Empty: latency.
  std::vector<MetricValue> minimize = {};
  std::vector<MetricValue> limits = {};
  std::optional<int> max_operators = {};  // in one subgraph
  bool keep_order = false;                // run operators in the order of the network
  bool keep_boundaries = true;            // tensors may stay on chip between subgraphs
  bool prefetch = false;                  // constants may arrive one subgraph earlier
  std::string constraints = {};           // YAML (docs/constraints.md)
  const Plan* previous = nullptr;         // of equal plans, the one most like it is taken
  std::uint64_t seed = 0;
  std::optional<std::int64_t> budget = {};     // of work, as --budget
  std::string engine = {};                     // this engine alone
  std::vector<std::string> switched_off = {};  // rules of engines
};

// A metric of a plan.
struct PlanMetric {
  std::string name;
  std::string unit;
  double value = 0;
  double lower_bound = 0;  // no plan for this network and profile is below it
};

// A subgraph: operators that run together on tiles of their last output.
struct PlanSubgraph {
  std::vector<std::string> operators;  // in the order in which they run
  std::vector<std::int64_t> tile;      // extents
  std::int64_t tiles = 0;
  std::string policy;  // how weights, halo rows and transfers are held: "resident, in place"
  std::int64_t latency_cycles = 0;
};

// A buffer in the tile memory.
struct PlanBuffer {
  std::string name;
  std::int64_t offset = 0;                 // bytes
  std::int64_t size = 0;                   // bytes
  std::vector<std::pair<int, int>> steps;  // half-open ranges in which it lives
};

// A plan: subgraphs, tiles, and the address, bank and mode of every buffer. Independent code has
// accepted it. A value that never changes; copies share it, and threads may too.
class TESSERA_API Plan {
 public:
  // A plan in JSON as Save writes it. It is read, not checked: see Check.
  static Result<Plan> Load(const std::string& path);
  static Result<Plan> Parse(std::string_view json, const std::string& name = "plan.json");

  double Score() const noexcept;  // 1.0 is ideal for a mean; with one metric, its value
  double Bound() const noexcept;  // no plan has a lower score
  const std::vector<PlanMetric>& Metrics() const noexcept;
  const PlanMetric* FindMetric(std::string_view name) const noexcept;  // nullptr: there is none
  const std::vector<PlanSubgraph>& Subgraphs() const noexcept;
  const std::vector<PlanBuffer>& Buffers() const noexcept;
  const std::vector<std::string>& Notes() const noexcept;

  // What is proven of a plan that is not optimal, and what the proof leaves out, in sentences.
  const std::vector<std::string>& Proof() const noexcept;

  // The plan in one of the formats "json", "html", "svg", "h", "trace" and "txt".
  Result<std::string> Render(std::string_view format) const;

  // Writes it in the format of the suffix: .json, .html, .svg, .h or .txt. The file is replaced in
  // one step.
  Result<Done> Save(const std::string& path) const;

  struct Content;
  explicit Plan(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

struct PlanAnswer {
  Outcome outcome = Outcome::kUnknown;
  std::optional<Plan> plan = {};         // kOptimal, kFeasible
  std::string reason = {};               // why there is no plan
  std::vector<std::string> causes = {};  // constraints that suffice for that, if they are the cause
  bool stopped = false;                  // a deadline, a memory limit or a cancellation cut it off
};

// The best plan that is found. An answer without a plan is no error.
TESSERA_API Result<PlanAnswer> MakePlan(const Network& network, const Profile& profile,
                                        const PlanOptions& options = {});

struct CheckOptions : CallOptions {
  bool execute = false;  // run the plan on memories whose bytes know their contents
  bool search = true;    // make the plan again, to compare status, bound and baseline
};

struct CheckReport {
  bool accepted = false;                   // checked in full, and nothing is wrong
  std::vector<std::string> findings = {};  // what is wrong
  std::string open = {};                   // why it is neither accepted nor refused
};

// Checks everything that a plan states by code that shares nothing with the search.
TESSERA_API Result<CheckReport> Check(const Plan& plan, const CheckOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_PLAN_H_
