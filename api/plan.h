// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_PLAN_H_
#define TESSERA_PLAN_H_

#include <tessera/call.h>
#include <tessera/certificate.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {
inline namespace v0 {

// A metric and its weight, or its greatest allowed value. `tessera plan --help` lists the metrics.
using MetricValue = std::pair<std::string, double>;

class Plan;

// When constants that a subgraph loads once may arrive.
enum class Transfers : std::uint8_t {
  kProgram,      // also while earlier subgraphs run, if that is better
  kPerSubgraph,  // when their subgraph begins
};

// How tensors outside the tile memory share addresses (docs/off-chip.md).
enum class OffChip : std::uint8_t {
  kWhole,      // a tensor keeps its bytes from the subgraph that makes it to its last reader
  kPaper,      // until no tile needs them any more; placed by the published method
  kTileAware,  // the same, placed by the engines
};

struct PlanOptions : SearchOptions {
  // The mean of these metrics, each divided by its lower bound, is minimised; a single entry is
  // minimised as it is. Empty: latency.
  std::vector<MetricValue> minimize = {};
  std::vector<MetricValue> limits = {};
  std::optional<int> max_operators = {};  // in one subgraph
  bool keep_order = false;                // run operators in the order of the network
  bool keep_boundaries = true;            // tensors may stay on chip between subgraphs
  Transfers transfers = Transfers::kProgram;
  OffChip off_chip = OffChip::kWhole;
  std::string constraints = {};    // YAML (docs/constraints.md)
  const Plan* previous = nullptr;  // among equal plans, the one most like this is taken
  bool explain = false;  // without a plan: why, and which changes would help; up to 2 s more
  bool certify = false;  // kInfeasible: PlanAnswer::certificate
  // Notes say whether the choice survives if an energy of the profile is halved or doubled.
  bool sensitivity = false;
  // The plan has what a code generator needs: loops and jobs, with regions and addresses
  // (docs/plan-format.md). Otherwise PlanAnswer::no_lowering says why not.
  bool lowering = false;
};

// One metric of a plan.
struct PlanMetric {
  std::string name;
  std::string unit;
  double value = 0;
  double lower_bound = 0;  // no plan for this network and profile is below it
};

// Returns the names of all metrics, in the order of Plan::Metrics.
TESSERA_API Result<std::vector<std::string>> MetricNames();

// A subgraph: operators that run together on tiles of their last output.
struct PlanSubgraph {
  std::vector<std::string> operators;  // in the order in which they run
  std::vector<std::int64_t> tile;      // extents
  std::int64_t tiles = 0;
  std::string policy;  // how weights, halo rows and transfers are held: "resident, in place"
  std::int64_t latency_cycles = 0;
  double energy_pj = 0;
  std::int64_t off_chip_bytes = 0;
  std::int64_t peak_bytes = 0;  // in the tile memory
  std::int64_t macs = 0;
  std::string bound_by;  // "compute", the link that takes longest, or "several"
};

// A buffer in the tile memory.
struct PlanBuffer {
  std::string name;
  std::int64_t offset = 0;                 // bytes
  std::int64_t size = 0;                   // bytes
  std::vector<std::pair<int, int>> steps;  // half-open ranges in which it lives
};

// A plan: subgraphs, tiles, and the address, bank and mode of every buffer. Calls return only plans
// that independent code has accepted. Immutable and thread-safe; copies share the content.
class TESSERA_API Plan {
 public:
  // Read a plan in the JSON that Save writes, without checking it: see Check.
  static Result<Plan> Load(const std::string& path);
  static Result<Plan> Parse(std::string_view json, const std::string& name = "plan.json");

  bool IsOptimal() const noexcept;  // proven within what Proof() states
  bool IsCutOff() const noexcept;   // a deadline or a cancellation ended its search
  double Score() const noexcept;    // 1.0 is ideal for a mean; with one metric, its value
  double Bound() const noexcept;    // no plan has a lower score
  const std::vector<PlanMetric>& Metrics() const noexcept;
  const PlanMetric* FindMetric(std::string_view name) const noexcept;  // nullptr: there is none
  const std::vector<PlanSubgraph>& Subgraphs() const noexcept;
  const std::vector<PlanBuffer>& Buffers() const noexcept;
  const std::vector<std::string>& Notes() const noexcept;

  // Returns what is proven about a plan that is not optimal, and which parts the proof leaves out,
  // in sentences.
  const std::vector<std::string>& Proof() const noexcept;

  // Returns the plan in one of the formats "json", "html", "svg", "h", "trace", "csv" and "txt".
  Result<std::string> Render(std::string_view format) const;

  // Writes the plan in the format of the suffix: .json, .html, .svg, .h or .txt. The file is
  // replaced in one step.
  Result<Done> Save(const std::string& path) const;

  struct Content;
  explicit Plan(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

// The changes from one plan to another, and what they cost.
struct PlanDifference {
  std::string text = {};  // as `tessera diff` prints it
  std::string json = {};  // the same with --format json
};

// Compares subgraphs between the cuts that both plans make, and buffers where a subgraph has the
// same operators in both. The plans are not checked.
TESSERA_API Result<PlanDifference> Difference(const Plan& first, const Plan& second);

struct PlanAnswer {
  Outcome outcome = Outcome::kUnknown;
  std::optional<Plan> plan = {};         // kOptimal, kFeasible
  std::string reason = {};               // why there is no plan
  std::vector<std::string> causes = {};  // constraints that prevent a plan, if they are the cause
  // Sentences that say why an operator fits nowhere even if it runs alone, if that is the cause.
  std::vector<std::string> explanation = {};
  // Single changes that led to a plan or make one likelier, in words.
  std::vector<std::string> remedies = {};
  std::optional<Certificate> certificate = {};  // kInfeasible, if the options ask for it
  std::string no_lowering = {};  // why the plan has no lowering, if the options ask for one
  bool stopped = false;          // a deadline, a memory limit or a cancellation cut it off
  bool out_of_memory = false;    // the memory limit cut it off
};

// Returns the best plan that is found. An answer without a plan is not an error.
TESSERA_API Result<PlanAnswer> MakePlan(const Network& network, const Profile& profile,
                                        const PlanOptions& options = {});

// Plans of one network of which none is better than another in latency, energy, off-chip bytes and
// peak.
struct FrontPoint {
  std::string metric;  // minimise it with these limits to find the plan again
  std::vector<MetricValue> limits = {};
  Plan plan;
};

struct FrontAnswer {
  std::vector<FrontPoint> points = {};  // by latency, ascending
  int searches = 0;
  bool complete = false;    // no remaining search could find a plan far from these
  PlanAnswer refusal = {};  // if there is no point
  std::string text = {};    // as `tessera plan --pareto` prints it
  std::string json = {};    // the same with --format json
  bool stopped = false;     // a deadline, a memory limit or a cancellation cut it off
};

// Returns the front that at most `most_searches` searches find. Limits of the options hold for all
// points; `minimize`, `sensitivity` and `lowering` must not be set.
TESSERA_API Result<FrontAnswer> FindFront(const Network& network, const Profile& profile,
                                          const PlanOptions& options = {}, int most_searches = 24);

struct EvaluateOptions : SearchOptions {
  const Profile* profile = nullptr;  // instead of that of the plan
  std::string costs = {};            // CSV of measured tiles (docs/costs.md)
  bool move = false;                 // addresses in the text are tried first, but may change
  bool explain = true;               // kInfeasible: EvaluateAnswer::explanation
};

struct EvaluateAnswer {
  // kFeasible: there is a plan, or there are findings. kInfeasible: the buffers do not fit.
  // kUnknown: a limit came first. kUnsupported: the profile cannot run the partition.
  Outcome outcome = Outcome::kUnknown;
  std::optional<Plan> plan = {};
  std::vector<std::string> findings = {};     // how the partition violates profile or objective
  std::string reason = {};                    // why there is no plan
  std::vector<std::string> explanation = {};  // the few conditions that collide, in sentences
  std::string note_on_costs = {};             // which of the costs do not apply to the network
  bool stopped = false;  // a deadline, a memory limit or a cancellation cut it off
};

// Completes, prices and checks an edited plan in JSON. It reads network, profile, objective, and of
// each subgraph its operators, tile and policies; a buffer with an "offset" stays there. The rest
// may be left out and is derived again. `name` is for messages.
TESSERA_API Result<EvaluateAnswer> Evaluate(std::string_view json,
                                            const EvaluateOptions& options = {},
                                            const std::string& name = "plan.json");

// As above, for the partition of a plan.
TESSERA_API Result<EvaluateAnswer> Evaluate(const Plan& plan, const EvaluateOptions& options = {});

struct CheckOptions : CallOptions {
  bool execute = false;  // run the plan too: see Execute
  bool search = true;    // make the plan again, to compare status, bound and baseline
};

// Checks everything that a plan states, with code that shares nothing with the search.
TESSERA_API Result<CheckReport> Check(const Plan& plan, const CheckOptions& options = {});

struct ExecuteReport : CheckReport {
  std::int64_t tiles = 0;
  std::int64_t steps = 0;
  std::int64_t operators = 0;  // executions
  std::int64_t transfers = 0;
  std::int64_t bytes_moved = 0;
  std::int64_t cells_checked = 0;
};

// Runs the plan, transfer by transfer and operator by operator, on memories that record what each
// byte contains. Checks everything that the plan states, except for what only a search can
// establish.
TESSERA_API Result<ExecuteReport> Execute(const Plan& plan, const CallOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_PLAN_H_
