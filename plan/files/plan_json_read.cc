// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_reader.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/problem/files/json_sections.h"

namespace tessera::plan::files {
namespace {

using base::IntegerRange;
using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;

constexpr IntegerRange kCount = {0, base::kMaxTotal};
constexpr IntegerRange kAtLeastOne = {1, base::kMaxTotal / 2};
constexpr IntegerRange kOffset = {0, base::kMaxTotal / 2};
constexpr IntegerRange kSteps = {0, std::numeric_limits<int32_t>::max()};
constexpr double kMostNumber = std::numeric_limits<double>::max();

std::map<std::string, double> ReadNumbers(const JsonValue& value) {
  std::map<std::string, double> numbers;
  JsonObject object = value.Object();
  for (const auto& [name, number] : object.Members()) numbers[name] = number.Number(0, kMostNumber);
  return numbers;
}

std::map<std::string, int64_t> ReadCounts(const JsonValue& value) {
  std::map<std::string, int64_t> counts;
  JsonObject object = value.Object();
  for (const auto& [name, count] : object.Members()) counts[name] = count.Integer(kCount);
  return counts;
}

void ReadField(JsonObject& object, const MetricField& field, int64_t& value) {
  value = object.Integer(field.key, kCount);
}

void ReadField(JsonObject& object, const MetricField& field, double& value) {
  value = object.Number(field.key, 0, kMostNumber);
}

void ReadField(JsonObject& object, const MetricField& field, std::map<std::string, double>& value) {
  value = ReadNumbers(object.Required(field.key));
}

void ReadField(JsonObject& object, const MetricField& field,
               std::map<std::string, int64_t>& value) {
  value = ReadCounts(object.Required(field.key));
}

Metrics ReadMetrics(const JsonValue& value, double clock_hz) {
  Metrics metrics;
  metrics.clock_hz = clock_hz;
  JsonObject object = value.Object();
  for (const MetricField& field : kMetricFields)
    std::visit([&](auto member) { ReadField(object, field, metrics.*member); }, field.member);
  metrics.bound_by = object.String("bound_by");
  return metrics;
}

std::map<std::string, double> ReadProfileTotals(const JsonValue& value) {
  std::map<std::string, double> totals;
  JsonObject object = value.Object();
  for (const hw_profiles::ProfileTotal& total : hw_profiles::kProfileTotals) {
    if (const JsonValue number = object.Optional(total.key))
      totals[std::string(total.key)] = number.Number(0, kMostNumber);
  }
  return totals;
}

class PlanReader {
 public:
  explicit PlanReader(JsonReader& reader) : reader_(reader) {}

  Plan Run() {
    JsonObject root = reader_.Root().Object();
    root.Format("tessera-plan", 1);
    const JsonValue network = root.Required("network");
    plan_.network = ReadEmbeddedNetwork(network);
    ReadProfile(root.Required("profile"));
    plan_.version = root.String("made_by");
    plan_.problem.name = root.String("name");
    plan_.digest = root.String("digest", "");
    plan_.status = kPlanStatusNames[root.OneOf("status", kPlanStatusNames)];
    plan_.score = root.Number("score", 0, kMostNumber);
    plan_.bound = root.Number("bound", 0, kMostNumber);
    ReadScope(root);
    root.Number("time_ms", 0, kMostNumber,
                0);  // a run on a terminal adds it; not part of the plan
    plan_.objective = ReadObjective(root.Required("objective"));
    plan_.seed = ReadSeed(root.Required("seed"));
    plan_.totals = ReadMetrics(root.Required("totals"), plan_.profile.clock_hz);
    plan_.lower_bounds = ReadMetrics(root.Required("lower_bounds"), plan_.profile.clock_hz);
    if (const JsonValue totals = root.Optional("profile_totals"))
      plan_.profile_totals = ReadProfileTotals(totals);
    if (const JsonValue baseline = root.Optional("baseline"))
      plan_.baseline = ReadBaseline(baseline);
    for (const JsonValue& note : root.Items("notes")) plan_.notes.push_back(note.String());
    // the rest refers to the network and the profile
    if (reader_.Failed()) return std::move(plan_);
    ReadTensorHomes(root.Optional("tensor_homes"), network, plan_);
    if (const JsonValue run = root.Optional("run")) plan_.run = ReadRun(run, plan_);
    if (const JsonValue constraints = root.Optional("constraints"))
      plan_.constraints = ReadConstraints(constraints, plan_);
    plan_.kept = ReadKept(root.Items("kept", Presence::kOptional), plan_.network);
    ReadBuffers(root.Items("buffers"), -1);
    const std::vector<JsonValue> subgraphs = root.Items("subgraphs");
    for (size_t i = 0; i < subgraphs.size(); ++i) ReadSubgraph(subgraphs[i], static_cast<int>(i));
    plan_.homes = ReadHomes(root.Items("homes"), plan_);
    for (const JsonValue& loop : root.Items("loops")) ReadLoop(loop);
    for (const JsonValue& relation : root.Items("relations")) ReadRelation(relation);
    const problem::files::BufferIndex index(plan_.problem.buffers);
    for (const JsonValue& rule : root.Items("rules", base::Presence::kOptional))
      plan_.problem.rules.push_back(problem::files::ReadRule(rule, plan_.problem, index));
    if (const JsonValue lowering = root.Optional("lowering"))
      plan_.lowering = files::ReadProgram(lowering.Items(), plan_);
    return std::move(plan_);
  }

 private:
  void ReadProfile(const JsonValue& value) {
    for (const graph::Tensor& tensor : plan_.network.tensors)
      tensors_.emplace(tensor.id, tensors_.size());
    for (const graph::Operator& op : plan_.network.operators)
      operators_.emplace(op.id, operators_.size());
    plan_.profile = ReadEmbeddedProfile(value);
    if (plan_.profile.memories.empty()) return;
    plan_.problem.memories = {verify::TileMemory(plan_.profile)};
    for (const problem::Mode& mode : Memory().modes) mode_names_.push_back(mode.name);
    // A memory with modes has a schedule. It is empty if the memory holds nothing at any step.
    if (!mode_names_.empty()) plan_.allocation.modes.emplace_back();
  }

  const problem::Memory& Memory() const { return plan_.problem.memories.front(); }

  // The content of proven_within also appears in the scope.
  void ReadScope(JsonObject& root) {
    plan_.scope = ReadParts(root.Required("scope"), Presence::kRequired);
    plan_.proven = CoversAll(plan_.scope);
    const JsonValue proven_within = root.Optional("proven_within");
    if (!proven_within) {
      plan_.proven = plan_.status == "optimal";
    } else if (plan_.proven || !(ReadParts(proven_within, Presence::kOptional) == plan_.scope)) {
      proven_within.Refuse("this is not what the scope leaves out");
    } else {
      plan_.proven = true;
    }
  }

  static Scope ReadParts(const JsonValue& value, Presence presence) {
    constexpr std::string_view kAllBut = "all but ";
    Scope scope;
    JsonObject object = value.Object();
    for (const ScopePart& part : kScopeParts) {
      const JsonValue text =
          object.Member(part.name, part.is_always_written ? presence : Presence::kOptional);
      if (!text) continue;
      const std::string words = text.String();
      if (words.starts_with(kAllBut) && words.size() > kAllBut.size()) {
        scope.*part.left_out = words.substr(kAllBut.size());
      } else if (words != "all") {
        text.Refuse("bad part of the scope", "'all', or 'all but ' and what was left out");
      }
    }
    return scope;
  }

  Baseline ReadBaseline(const JsonValue& value) {
    JsonObject object = value.Object();
    Baseline baseline;
    baseline.complete = object.Required("complete").Boolean();
    for (const JsonValue& id : object.Items("do_not_fit"))
      baseline.do_not_fit.push_back(OperatorOf(id));
    baseline.score = object.Number("score", 0, kMostNumber);
    baseline.totals = ReadMetrics(object.Required("totals"), plan_.profile.clock_hz);
    return baseline;
  }

  static int IndexOf(const std::map<std::string, size_t>& ids, const JsonValue& id,
                     std::string_view what) {
    const std::string text = id.String();
    const auto found = ids.find(text);
    if (found != ids.end()) return static_cast<int>(found->second);
    id.Refuse(fmt::format("there is no {} '{}'", what, text));
    return 0;
  }

  int OperatorOf(const JsonValue& id) const { return IndexOf(operators_, id, "operator"); }
  int TensorOf(const JsonValue& id) const { return IndexOf(tensors_, id, "tensor"); }
  int BufferOf(const JsonValue& id) const { return IndexOf(buffers_, id, "buffer"); }

  void ReadSubgraph(const JsonValue& value, int index) {
    JsonObject object = value.Object();
    Subgraph subgraph = ReadCut(object, plan_.network, Presence::kRequired);
    subgraph.tiles = object.Integer("tiles", kAtLeastOne);
    subgraph.largest_proven = object.Required("largest_proven").Boolean();
    subgraph.metrics = ReadMetrics(object.Required("metrics"), plan_.profile.clock_hz);
    subgraph.rejected_alternatives = ReadRejectedAlternatives(
        object.Items("rejected_alternatives", Presence::kOptional), subgraph, plan_.network);
    const JsonValue first = object.Required("first_step");
    if (first && first.Integer(kSteps) != static_cast<int64_t>(plan_.steps.size())) {
      first.Refuse("the subgraphs before this one end elsewhere",
                   fmt::format("{}", plan_.steps.size()));
    }
    for (const JsonValue& step : object.Items("steps")) ReadStep(step, index);
    ReadBuffers(object.Items("buffers"), index);
    plan_.subgraphs.push_back(std::move(subgraph));
  }

  void ReadStep(const JsonValue& value, int subgraph) {
    JsonObject object = value.Object();
    StepUse step;
    step.subgraph = subgraph;
    step.kind = static_cast<StepKind>(object.OneOf("kind", kStepKindNames));
    step.phase = static_cast<int>(object.Integer("phase", {0, 1}));
    if (const JsonValue op = object.Optional("operator")) step.op = OperatorOf(op);
    for (const JsonValue& id : object.Items("transfers", Presence::kOptional))
      step.transfers.push_back(TensorOf(id));
    if (const JsonValue mode = object.Optional("mode")) ReadMode(mode);
    plan_.steps.push_back(std::move(step));
  }

  void ReadMode(const JsonValue& mode) {
    if (mode_names_.empty())
      return mode.Refuse(fmt::format("memory '{}' has no modes", Memory().name));
    const std::vector<std::string_view> names(mode_names_.begin(), mode_names_.end());
    plan_.allocation.modes.front().push_back(static_cast<int>(mode.OneOf(names)));
  }

  void ReadBuffers(const std::vector<JsonValue>& values, int subgraph) {
    for (const JsonValue& value : values) ReadBuffer(value, subgraph);
  }

  void ReadBuffer(const JsonValue& value, int subgraph) {
    JsonObject object = value.Object();
    problem::Buffer buffer;
    BufferUse use;
    use.subgraph = subgraph;
    const JsonValue id = object.Required("id");
    if (id) buffer.id = id.String();
    buffer.name = object.String("name", "");
    buffer.role = object.String("role", "");
    use.kind = static_cast<BufferKind>(object.OneOf("kind", kBufferKindNames));
    if (const JsonValue tensor = object.Optional("tensor")) use.tensor = TensorOf(tensor);
    if (const JsonValue op = object.Optional("operator")) use.op = OperatorOf(op);
    use.phase = static_cast<int>(object.Integer("phase", {0, 1}, 0));
    use.slot = static_cast<int>(object.Integer("slot", {0, kMostSlots}, 0));
    const JsonValue memory = object.Required("memory");
    if (memory && memory.String() != Memory().name)
      memory.Refuse("buffers live in the tile memory", Memory().name);
    const int64_t offset = object.Integer("offset", kOffset);
    buffer.size = object.Integer("size", kAtLeastOne);
    buffer.alignment = object.Integer("alignment", kAtLeastOne);
    buffer.span = static_cast<problem::Span>(object.OneOf("span", problem::kSpanWords));
    CheckBanks(object.Required("banks"), offset, buffer.size);
    for (const JsonValue& bank : object.Items("allowed_banks", Presence::kOptional)) {
      buffer.allowed_banks.push_back(static_cast<int>(bank.Integer(kSteps)));
    }
    if (const JsonValue fixed = object.Optional("fixed")) buffer.offset = fixed.Integer(kCount);
    if (const JsonValue hint = object.Optional("hint")) buffer.hint = hint.Integer(kCount);
    ReadLife(object, buffer);
    if (const JsonValue annotations = object.Optional("annotations")) {
      JsonObject entries = annotations.Object();
      for (const auto& [key, text] : entries.Members()) buffer.annotations[key] = text.String();
    }
    if (!buffers_.emplace(buffer.id, buffers_.size()).second)
      id.Refuse("another buffer has this id");
    plan_.problem.buffers.push_back(std::move(buffer));
    plan_.buffers.push_back(use);
    plan_.allocation.offsets.push_back(offset);
  }

  // The banks that the buffer touches follow from its address.
  void CheckBanks(const JsonValue& value, int64_t offset, int64_t size) const {
    std::vector<std::string> expected;
    for (const problem::Bank& bank : Memory().banks) {
      if (bank.range.begin < offset + size && offset < bank.range.end)
        expected.push_back(bank.name);
    }
    std::vector<std::string> found;
    for (const JsonValue& bank : value.Items()) found.push_back(bank.String());
    if (found != expected)
      value.Refuse(fmt::format("a buffer at [{}, {}) touches other banks", offset, offset + size));
  }

  static void ReadLife(JsonObject& object, problem::Buffer& buffer) {
    for (const JsonValue& life : object.Items("lifespans")) {
      const std::vector<JsonValue> ends = life.Items(2);
      if (ends.size() == 2)
        buffer.lifespans.push_back({ends[0].Integer(kSteps), ends[1].Integer(kSteps)});
    }
    for (const JsonValue& access : object.Items("accesses")) {
      const std::vector<JsonValue> parts = access.Items(3);
      if (parts.size() != 3) continue;
      const auto kind = static_cast<problem::AccessKind>(parts[2].OneOf(problem::kAccessWords));
      buffer.accesses.push_back({parts[0].Integer(kSteps), parts[1].String(), kind});
    }
  }

  void ReadLoop(const JsonValue& value) {
    JsonObject object = value.Object();
    problem::Loop loop;
    loop.begin = object.Integer("begin", kSteps);
    loop.end = object.Integer("end", kSteps);
    for (const JsonValue& exit : object.Items("exits")) loop.exits.push_back(exit.Integer(kSteps));
    plan_.problem.loops.push_back(std::move(loop));
  }

  void ReadRelation(const JsonValue& value) {
    JsonObject object = value.Object();
    problem::Relation relation;
    relation.kind =
        static_cast<problem::RelationKind>(object.OneOf("kind", problem::kRelationWords));
    if (const JsonValue first = object.Required("first")) relation.first = BufferOf(first);
    if (const JsonValue second = object.Required("second")) relation.second = BufferOf(second);
    relation.delta = object.Integer("delta", {-base::kMaxTotal, base::kMaxTotal}, 0);
    plan_.problem.relations.push_back(relation);
  }

  JsonReader& reader_;
  Plan plan_;
  std::map<std::string, size_t> tensors_;
  std::map<std::string, size_t> operators_;
  std::map<std::string, size_t> buffers_;
  std::vector<std::string> mode_names_;
};

}  // namespace

base::Expected<Plan> ReadPlanJson(std::string_view text, std::string file) {
  JsonReader reader(text, std::move(file));
  Plan plan = PlanReader(reader).Run();
  return reader.Finish(std::move(plan));
}

}  // namespace tessera::plan::files
