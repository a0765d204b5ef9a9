// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::files {
namespace {

using base::IntegerRange;
using base::JsonObject;
using base::JsonValue;
using base::Presence;

constexpr int64_t kMost = int64_t{1} << 40;
constexpr IntegerRange kNumber = {-kMost, kMost};
constexpr IntegerRange kRepeats = {0, kMost};
constexpr IntegerRange kFromOne = {1, kMost};
constexpr IntegerRange kIndex = {0, std::numeric_limits<int32_t>::max()};
constexpr IntegerRange kTrips = {2, int64_t{1} << 24};
constexpr IntegerRange kRounds = {1, int64_t{1} << 24};

class Reader {
 public:
  Reader(const Plan& plan, const Subgraph& subgraph) : plan_(plan), subgraph_(subgraph) {}

  Lowered Run(const JsonValue& value) {
    JsonObject object = value.Object();
    for (const JsonValue& loop : object.Items("loops")) ReadLoop(loop);
    lowered_.phases = object.Integer("phases", {1, 2});
    const std::vector<JsonValue> jobs = object.Items("jobs");
    for (const JsonValue& job : jobs) rounds_.push_back(RoundsOf(job));
    for (const JsonValue& job : jobs) ReadJob(job);
    for (const JsonValue& work : object.Items("once", Presence::kOptional))
      lowered_.once.push_back(ReadWork(work, true));
    int64_t tiles = 0;
    for (const JsonValue& each : object.Items("classes")) tiles += ReadClass(each);
    if (tiles != subgraph_.tiles)
      object.Refuse("the classes are of another number of tiles",
                    fmt::format("{}", subgraph_.tiles));
    return std::move(lowered_);
  }

 private:
  void ReadLoop(const JsonValue& value) {
    JsonObject object = value.Object();
    Loop loop;
    loop.axis = static_cast<int>(
        object.Integer("axis", {0, static_cast<int64_t>(subgraph_.tile.size()) - 1}));
    loop.extent = object.Integer("extent", kFromOne);
    loop.tile = object.Integer("tile", kFromOne);
    loop.trips = object.Integer("trips", kTrips);
    lowered_.loops.push_back(loop);
  }

  // Reads the number of rounds of a job before any waits are read.
  static int64_t RoundsOf(const JsonValue& value) {
    if (!value || !value.IsObject()) return 1;
    JsonObject object = value.Object();
    int64_t rounds = 1;
    for (const auto& [key, member] : object.Members()) {
      if (key == "rounds") rounds = member.Integer(kRounds);
    }
    return rounds;
  }

  int TensorOf(const JsonValue& value) const {
    const std::string id = value.String();
    const std::optional<int> tensor = graph::FindTensor(plan_.network, id);
    if (!tensor) value.Refuse(fmt::format("there is no tensor '{}'", id));
    return tensor.value_or(0);
  }

  int OperatorOf(const JsonValue& value) const {
    const std::string id = value.String();
    for (size_t i = 0; i < plan_.network.operators.size(); ++i) {
      if (plan_.network.operators[i].id == id) return static_cast<int>(i);
    }
    value.Refuse(fmt::format("there is no operator '{}'", id));
    return 0;
  }

  void ReadJob(const JsonValue& value) {
    JsonObject object = value.Object();
    Job job;
    const JsonValue id = object.Required("id");
    if (id && id.Integer(kIndex) != static_cast<int64_t>(lowered_.jobs.size()))
      id.Refuse("jobs are numbered in their order", fmt::format("{}", lowered_.jobs.size()));
    job.does = static_cast<Does>(object.OneOf("does", kDoesNames));
    if (const JsonValue tensor = object.Optional("tensor")) job.tensor = TensorOf(tensor);
    if (const JsonValue op = object.Optional("operator")) job.op = OperatorOf(op);
    if (job.does == Does::kMode) {
      job.before = static_cast<Before>(object.OneOf("before", kBeforeNames));
      for (const JsonValue& mode : object.Items("modes")) job.modes.push_back(ModeOf(mode));
      if (static_cast<int64_t>(job.modes.size()) > lowered_.phases)
        object.Refuse("there are fewer phases than modes");
    } else {
      job.on = object.String("on");
    }
    const bool moves_tensor = job.does == Does::kLoad || job.does == Does::kStore;
    const bool has_operator =
        job.does == Does::kCompute || job.does == Does::kSave || job.does == Does::kRestore;
    if (moves_tensor && job.tensor < 0) object.Refuse("it does not say which tensor");
    if (has_operator && job.op < 0) object.Refuse("it does not say which operator");
    job.once = object.Boolean("once", false);
    if (job.does == Does::kLoad) job.gives_way = object.Boolean("gives_way", false);
    job.rounds = object.Integer("rounds", kRounds, 1);
    for (const JsonValue& operand : object.Items("operands", Presence::kOptional))
      ReadOperand(operand, job);
    for (const JsonValue& wait : object.Items("depends_on", Presence::kOptional))
      ReadWait(wait, job);
    lowered_.jobs.push_back(std::move(job));
  }

  int ModeOf(const JsonValue& value) const {
    if (value.Text() == "null") return -1;
    std::vector<std::string_view> names;
    for (const problem::Mode& mode :
         plan_.profile.memories[static_cast<size_t>(plan_.profile.tile_memory)].modes)
      names.push_back(mode.name);
    return static_cast<int>(value.OneOf(names));
  }

  void ReadOperand(const JsonValue& value, Job& job) const {
    JsonObject object = value.Object();
    Operand operand;
    operand.part = static_cast<Part>(object.OneOf("as", kPartNames));
    operand.position = static_cast<int>(object.Integer("index", kIndex, 0));
    if (const JsonValue tensor = object.Optional("tensor")) operand.tensor = TensorOf(tensor);
    if ((operand.tensor < 0) != (operand.part == Part::kScratch))
      object.Refuse("all but scratch is of a tensor");
    operand.table = object.Boolean("table", operand.part == Part::kTable);
    std::vector<std::string_view> memories;
    for (const hw_profiles::Memory& memory : plan_.profile.memories)
      memories.push_back(memory.name);
    operand.memory = static_cast<int>(object.OneOf("memory", memories));
    for (const JsonValue& spot : object.Items("at")) operand.spots.push_back(ReadSpot(spot));
    for (const JsonValue& stride : object.Items("strides"))
      operand.strides.push_back(stride.Integer(kRepeats));
    if (operand.strides.size() != RankOf(operand))
      object.Refuse("each axis has a stride", fmt::format("{} strides", RankOf(operand)));
    operand.rolling_buffer_rows = object.Integer("rolling_buffer_rows", kRepeats, 0);
    operand.stored_pads = object.Boolean("stored_pads", false);
    operand.padded_around = object.Boolean("padded_around", false);
    job.operands.push_back(std::move(operand));
  }

  static Spot ReadSpot(const JsonValue& value) {
    JsonObject object = value.Object();
    Spot spot;
    spot.phase = static_cast<int>(object.Integer("phase", {0, 1}, 0));
    spot.slot = static_cast<int>(object.Integer("slot", {0, kMostSlots}, 0));
    spot.buffer = object.String("buffer", "");
    spot.address = object.Integer("address", kRepeats);
    return spot;
  }

  size_t RankOf(const Operand& operand) const {
    if (operand.tensor < 0 || operand.table) return 1;
    return plan_.network.tensors[static_cast<size_t>(operand.tensor)].shape.size();
  }

  void ReadWait(const JsonValue& value, Job& job) const {
    JsonObject object = value.Object();
    Wait wait;
    wait.job =
        static_cast<int>(object.Integer("job", {0, static_cast<int64_t>(rounds_.size()) - 1}));
    wait.tiles = object.Integer("tiles", kNumber, 0);
    wait.end_round = job.rounds;
    if (const JsonValue rounds = object.Optional("rounds"))
      ReadRounds(rounds, wait.first_round, wait.end_round);
    const int64_t all = rounds_.empty() ? 1 : rounds_[static_cast<size_t>(wait.job)];
    wait.until_round = object.Integer("until_round", kRounds, all);
    if (const JsonValue back = object.Optional("rounds_back")) {
      wait.rounds_back = back.Integer(kNumber);
      wait.until_round = 0;
    }
    wait.cause = static_cast<Cause>(object.OneOf("for", kCauseNames));
    job.waits.push_back(wait);
  }

  static void ReadRounds(const JsonValue& value, int64_t& first, int64_t& end) {
    const std::vector<JsonValue> ends = value.Items(2);
    if (ends.size() != 2) return;
    first = ends[0].Integer(kIndex);
    end = ends[1].Integer(kIndex);
    if (first >= end) value.Refuse("there is no round between them");
  }

  int64_t ReadClass(const JsonValue& value) {
    JsonObject object = value.Object();
    TileClass tiles;
    const JsonValue ranges = object.Required("trips");
    if (!ranges) return 0;
    const std::vector<JsonValue> trips = ranges.Items(lowered_.loops.size());
    for (size_t i = 0; i < trips.size(); ++i) {
      const std::vector<JsonValue> ends = trips[i].Items(2);
      if (ends.size() != 2) return 0;
      tiles.trips.push_back({ends[0].Integer(kIndex), ends[1].Integer(kIndex)});
      if (tiles.trips[i].begin >= tiles.trips[i].end ||
          tiles.trips[i].end > lowered_.loops[i].trips)
        trips[i].Refuse("the loop has no such trips",
                        fmt::format("within [0, {})", lowered_.loops[i].trips));
    }
    if (tiles.trips.size() != lowered_.loops.size()) return 0;
    CheckReported(object, tiles);
    for (const JsonValue& work : object.Items("work")) tiles.work.push_back(ReadWork(work, false));
    const int64_t count = CountOf(tiles);
    lowered_.classes.push_back(std::move(tiles));
    return count;
  }

  // Checks the entries that follow from the trips.
  void CheckReported(JsonObject& object, const TileClass& tiles) const {
    const JsonValue name = object.Required("name");
    if (name && name.String() != NameOf(tiles, lowered_.loops))
      name.Refuse("these trips have another name", NameOf(tiles, lowered_.loops));
    const JsonValue count = object.Required("tiles");
    if (count && count.Integer(kRepeats) != CountOf(tiles))
      count.Refuse("these trips are of another number of tiles", fmt::format("{}", CountOf(tiles)));
    std::vector<int64_t> phases;
    const JsonValue stated = object.Required("phases");
    if (!stated) return;
    for (const JsonValue& phase : stated.Items()) phases.push_back(phase.Integer({0, 1}));
    if (phases != PhasesOf(tiles, lowered_)) stated.Refuse("these trips have other phases");
  }

  Work ReadWork(const JsonValue& value, bool once) const {
    JsonObject object = value.Object();
    Work work;
    work.job = static_cast<int>(
        object.Integer("job", {0, static_cast<int64_t>(lowered_.jobs.size()) - 1}));
    if (const JsonValue rounds = object.Optional("rounds"))
      ReadRounds(rounds, work.first_round, work.end_round);
    if (lowered_.jobs.empty()) return work;
    const Job& job = lowered_.jobs[static_cast<size_t>(work.job)];
    if (job.once != once) object.Refuse(once ? "the job is one of the tiles" : "the job runs once");
    if (work.end_round > job.rounds) object.Refuse("the job has fewer rounds");
    for (const JsonValue& region : object.Items("regions", Presence::kOptional)) {
      work.regions.push_back(ReadRegion(region, job));
      const size_t last = work.regions.size() - 1;
      if (PartOf(job, work.regions[last]) != Part::kTo) continue;
      if (last == 0 || PartOf(job, work.regions[last - 1]) != Part::kFrom)
        region.Refuse("what is written comes behind what is read");
    }
    return work;
  }

  static Part PartOf(const Job& job, const Region& region) {
    return region.operand < job.operands.size() ? job.operands[region.operand].part : Part::kInput;
  }

  Region ReadRegion(const JsonValue& value, const Job& job) const {
    JsonObject object = value.Object();
    Region region;
    region.operand = static_cast<size_t>(
        object.Integer("operand", {0, static_cast<int64_t>(job.operands.size()) - 1}));
    if (region.operand >= job.operands.size()) return region;
    const Operand& operand = job.operands[region.operand];
    const size_t rank = RankOf(operand);
    const size_t box = operand.part == Part::kTo ? 0 : rank;
    region.fills = object.Boolean("fills", false);
    region.begin = ReadNumbers(object, "begin", {box});
    region.extent = ReadNumbers(object, "extent", {box});
    region.pad_low = ReadNumbers(object, "pad_low", {0, rank});
    region.pad_high = ReadNumbers(object, "pad_high", {region.pad_low.size()});
    if (const JsonValue offset = object.Required("offset")) region.offset = ReadNumber(offset);
    if (const JsonValue turn = object.Optional("turn")) region.turn = ReadNumber(turn);
    return region;
  }

  std::vector<Affine> ReadNumbers(JsonObject& object, const char* key,
                                  const std::vector<size_t>& lengths) const {
    std::vector<Affine> numbers;
    for (const JsonValue& number : object.Items(key, Presence::kOptional))
      numbers.push_back(ReadNumber(number));
    if (std::find(lengths.begin(), lengths.end(), numbers.size()) == lengths.end())
      object.Refuse(fmt::format("'{}' has not one number for each axis", key),
                    fmt::format("{}", lengths.back()));
    return numbers;
  }

  Affine ReadNumber(const JsonValue& value) const {
    Affine number;
    if (value.IsArray()) {
      const std::vector<JsonValue> parts = value.Items(lowered_.loops.size() + 1);
      for (size_t i = 0; i < parts.size(); ++i) {
        if (i == 0) number.base = parts[i].Integer(kNumber);
        if (i > 0) number.steps.push_back(parts[i].Integer(kNumber));
      }
      return number;
    }
    if (!value.IsObject()) {
      number.base = value.Integer(kNumber);
      return number;
    }
    JsonObject object = value.Object();
    number.base = object.Integer("base", kNumber);
    for (const JsonValue& step : object.Items("steps", Presence::kOptional))
      number.steps.push_back(step.Integer(kNumber));
    if (!number.steps.empty() && number.steps.size() != lowered_.loops.size())
      object.Refuse("each loop has a step", fmt::format("{} steps", lowered_.loops.size()));
    number.per_round = object.Integer("round", kNumber);
    return number;
  }

  const Plan& plan_;
  const Subgraph& subgraph_;
  std::vector<int64_t> rounds_;  // by job
  Lowered lowered_;
};

}  // namespace

Program ReadProgram(const std::vector<JsonValue>& values, const Plan& plan) {
  Program program;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i >= plan.subgraphs.size()) {
      values[i].Refuse("there are fewer subgraphs", fmt::format("{}", plan.subgraphs.size()));
      break;
    }
    program.subgraphs.push_back(Reader(plan, plan.subgraphs[i]).Run(values[i]));
  }
  if (!values.empty() && values.size() < plan.subgraphs.size())
    values.front().Refuse("each subgraph is lowered",
                          fmt::format("{} entries", plan.subgraphs.size()));
  return program;
}

}  // namespace tessera::plan::files
