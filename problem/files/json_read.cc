// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <array>

#include "tessera/base/json_reader.h"
#include "tessera/problem/files/json_sections.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem::files {
namespace {

using base::Expected;
using base::IntegerRange;
using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;

constexpr IntegerRange kCounts = {0, std::numeric_limits<int>::max()};

std::optional<int> ReadCount(JsonObject& object, std::string_view key) {
  if (const JsonValue value = object.Optional(key)) return static_cast<int>(value.Integer(kCounts));
  return std::nullopt;
}

std::optional<int64_t> ReadOptional(JsonObject& object, std::string_view key, IntegerRange range) {
  if (const JsonValue value = object.Optional(key)) return value.Integer(range);
  return std::nullopt;
}

Reserved ReadReserved(const JsonValue& value) {
  JsonObject object = value.Object();
  Reserved reserved;
  if (const JsonValue range = object.Required("range")) reserved.range = ReadRange(range);
  reserved.reason = object.String("reason", "");
  return reserved;
}

Bank ReadBank(const JsonValue& value) {
  JsonObject object = value.Object();
  Bank bank;
  bank.name = object.String("name", "");
  if (const JsonValue range = object.Required("range")) bank.range = ReadRange(range);
  if (const JsonValue ports = object.Optional("ports")) {
    JsonObject limits = ports.Object();
    bank.ports = {ReadCount(limits, "total"), ReadCount(limits, "reads"),
                  ReadCount(limits, "writes")};
  }
  return bank;
}

// "pe.read": the text before the last dot is the engine.
Permission ReadPermission(const JsonValue& value) {
  const std::string text = value.String();
  const size_t dot = text.rfind('.');
  const std::string kind = dot == std::string::npos ? text : text.substr(dot + 1);
  Permission permission;
  if (dot != std::string::npos) permission.engine = text.substr(0, dot);
  const auto* const word = std::find(kAccessWords.begin(), kAccessWords.end(), kind);
  if (word == kAccessWords.end() || (dot != std::string::npos && permission.engine.empty())) {
    value.Refuse(fmt::format("'{}' is not an access", text),
                 "read, write, ENGINE.read or ENGINE.write");
    return permission;
  }
  permission.kind = static_cast<AccessKind>(word - kAccessWords.begin());
  return permission;
}

BankMode ReadBankMode(const JsonValue& value) {
  static const std::array<BankMode, kBankModeWords.size()> kMeanings = {
      BankMode{false, {{"", AccessKind::kRead}}}, BankMode{false, {{"", AccessKind::kWrite}}},
      BankMode{false, {{"", AccessKind::kRead}, {"", AccessKind::kWrite}}}, BankMode{},
      BankMode{true, {}}};
  if (value.IsString()) return kMeanings[value.OneOf(kBankModeWords)];
  BankMode mode;
  for (const JsonValue& permission : value.Items())
    mode.allowed.push_back(ReadPermission(permission));
  return mode;
}

Mode ReadMode(const JsonValue& value) {
  JsonObject object = value.Object();
  Mode mode;
  mode.name = object.String("name", "");
  for (const JsonValue& bank : object.Items("banks")) mode.banks.push_back(ReadBankMode(bank));
  return mode;
}

std::vector<int> ReadBankSet(const JsonValue& value, const std::vector<Bank>& banks) {
  std::vector<int> set;
  for (const JsonValue& bank : value.Items()) set.push_back(ReadReference(bank, banks, "bank"));
  return set;
}

Memory ReadMemory(const JsonValue& value) {
  JsonObject object = value.Object();
  Memory memory;
  memory.name = object.String("name", "");
  memory.capacity = object.Integer("capacity", kAddresses);
  memory.alignment = object.Integer("alignment", kSizes, 1);
  for (const JsonValue& item : object.Items("reserved", Presence::kOptional))
    memory.reserved.push_back(ReadReserved(item));
  for (const JsonValue& item : object.Items("banks", Presence::kOptional))
    memory.banks.push_back(ReadBank(item));
  for (const std::string_view key : BankSetKeys()) {
    for (const JsonValue& set : object.Items(key, Presence::kOptional))
      memory.bank_sets[std::string(key)].push_back(ReadBankSet(set, memory.banks));
  }
  for (const JsonValue& item : object.Items("modes", Presence::kOptional))
    memory.modes.push_back(ReadMode(item));
  if (const JsonValue transitions = object.Optional("transitions")) {
    memory.transitions.emplace();
    for (const JsonValue& pair : transitions.Items()) {
      const std::vector<JsonValue> ends = pair.Items(2);
      const int from = ReadReference(ends[0], memory.modes, "mode");
      const int to = ReadReference(ends[1], memory.modes, "mode");
      memory.transitions->emplace_back(from, to);
    }
  }
  return memory;
}

Access ReadAccess(const JsonValue& value) {
  JsonObject object = value.Object();
  Access access;
  access.step = object.Integer("step", kSteps);
  access.engine = object.String("engine", "");
  access.kind = static_cast<AccessKind>(object.OneOf("kind", kAccessWords));
  return access;
}

std::vector<Lifespan> ReadLifespans(JsonObject& object) {
  std::vector<Lifespan> lifespans;
  for (const JsonValue& life : object.Items("lifespans")) {
    const std::vector<JsonValue> ends = life.Items(2);
    lifespans.push_back({ends[0].Integer(kSteps), ends[1].Integer(kSteps)});
  }
  return lifespans;
}

Buffer ReadBuffer(JsonObject& object, const std::vector<Memory>& memories) {
  Buffer buffer;
  buffer.id = object.String("id");
  buffer.name = object.String("name", "");
  buffer.role = object.String("role", "");
  buffer.size = object.Integer("size", kSizes);
  buffer.lifespans = ReadLifespans(object);
  buffer.alignment = object.Integer("alignment", kSizes, 1);
  if (const JsonValue memory = object.Optional("memory"))
    buffer.memory = ReadReference(memory, memories, "memory");
  buffer.span =
      static_cast<Span>(object.OneOf("span", kSpanWords, static_cast<size_t>(Span::kAny)));
  if (const JsonValue allowed = object.Optional("allowed_banks")) {
    const bool known = static_cast<size_t>(buffer.memory) < memories.size();
    buffer.allowed_banks = ReadBankSet(
        allowed, known ? memories[static_cast<size_t>(buffer.memory)].banks : std::vector<Bank>());
  }
  buffer.offset = ReadOptional(object, "offset", kAddresses);
  buffer.hint = ReadOptional(object, "hint", kAddresses);
  buffer.value = ReadOptional(object, "value", kAddresses);
  for (const JsonValue& access : object.Items("accesses", Presence::kOptional))
    buffer.accesses.push_back(ReadAccess(access));
  buffer.annotations = object.UserKeys();
  return buffer;
}

// Reads a fallback. Its memory and its size default to those of the buffer.
Fallback ReadFallback(const JsonValue& value, const Buffer& buffer,
                      const std::vector<Memory>& memories) {
  JsonObject object = value.Object();
  Fallback fallback;
  fallback.memory = buffer.memory;
  if (const JsonValue memory = object.Optional("memory"))
    fallback.memory = ReadReference(memory, memories, "memory");
  fallback.size = object.Integer("size", kSizes, buffer.size);
  fallback.value = object.Integer("value", kAddresses, 0);
  return fallback;
}

// A composite buffer: one buffer for each chunk, which kColocate relations hold together.
void ReadComposite(JsonObject& object, const std::vector<JsonValue>& chunks, Problem& problem) {
  if (chunks.empty()) object.Refuse("a composite buffer without chunks", "at least one chunk");
  Buffer common;
  common.id = object.String("id");
  common.name = object.String("name", "");
  common.role = object.String("role", "");
  if (const JsonValue memory = object.Optional("memory"))
    common.memory = ReadReference(memory, problem.memories, "memory");
  common.annotations = object.UserKeys();
  const int64_t alignment = object.Integer("alignment", kSizes, 1);
  const std::optional<int64_t> offset = ReadOptional(object, "offset", kAddresses);
  const std::optional<int64_t> hint = ReadOptional(object, "hint", kAddresses);
  const std::optional<int64_t> value = ReadOptional(object, "value", kAddresses);
  const auto first = static_cast<int>(problem.buffers.size());
  Bytes end = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    JsonObject chunk = chunks[i].Object();
    Buffer buffer = common;
    buffer.id = fmt::format("{}[{}]", common.id, i);
    const JsonValue stated = chunk.Required("range");
    const AddressRange range = stated ? ReadRange(stated) : AddressRange{end, end + 1};
    if (i == 0 ? range.begin != 0 : range.begin < end)
      stated.Refuse(i == 0 ? "the first chunk begins elsewhere" : "the chunks do not ascend",
                    i == 0 ? "a range from 0 on" : fmt::format("a range from {} or more on", end));
    end = range.end;
    buffer.size = std::max<Bytes>(1, range.end - range.begin);
    buffer.lifespans = ReadLifespans(chunk);
    if (i == 0) {
      buffer.alignment = alignment;
      buffer.offset = offset;
      buffer.hint = hint;
      buffer.value = value;
    } else {
      problem.relations.push_back(
          {RelationKind::kColocate, first, static_cast<int>(problem.buffers.size()), range.begin});
    }
    problem.buffers.push_back(std::move(buffer));
  }
}

Loop ReadLoop(const JsonValue& value) {
  JsonObject object = value.Object();
  Loop loop;
  loop.begin = object.Integer("begin", kSteps);
  loop.end = object.Integer("end", kSteps);
  for (const JsonValue& exit : object.Items("exits")) loop.exits.push_back(exit.Integer(kSteps));
  return loop;
}

Relation ReadRelation(const JsonValue& value, const BufferIndex& buffers) {
  JsonObject object = value.Object();
  Relation relation;
  relation.kind = static_cast<RelationKind>(object.OneOf("kind", kRelationWords));
  const auto buffer = [&](std::string_view key) {
    const JsonValue id = object.Required(key);
    return id ? buffers.Read(id) : 0;
  };
  relation.first = buffer("first");
  relation.second = buffer("second");
  if (relation.kind == RelationKind::kColocate) relation.delta = object.Integer("delta", kSteps, 0);
  return relation;
}

Ladder ReadLadder(const JsonValue& value, const BufferIndex& index,
                  const std::vector<Buffer>& buffers) {
  JsonObject object = value.Object();
  Ladder ladder;
  for (const JsonValue& item : object.Items("candidates")) {
    JsonObject candidate = item.Object();
    ladder.candidates.push_back({candidate.String("name"), {}});
    if (const JsonValue sizes = candidate.Required("sizes"))
      ladder.candidates.back().sizes = index.ReadAll(sizes, kSizes, buffers);
  }
  return ladder;
}

ProblemDocument ReadProblemObject(const JsonValue& root) {
  ProblemDocument document;
  Problem& problem = document.problem;
  JsonObject object = root.Object();
  object.Format(kProblemFormat, kFormatVersion);
  problem.name = object.String("name", "");
  for (const JsonValue& item : object.Items("memories"))
    problem.memories.push_back(ReadMemory(item));
  for (const JsonValue& item : object.Items("buffers")) {
    JsonObject buffer = item.Object();
    if (const JsonValue chunks = buffer.Optional("chunks")) {
      ReadComposite(buffer, chunks.Items(), problem);
    } else {
      problem.buffers.push_back(ReadBuffer(buffer, problem.memories));
      if (const JsonValue fallback = buffer.Optional("fallback")) {
        document.fallbacks.resize(problem.buffers.size());
        document.fallbacks.back() =
            ReadFallback(fallback, problem.buffers.back(), problem.memories);
      }
    }
  }
  if (!document.fallbacks.empty()) document.fallbacks.resize(problem.buffers.size());
  const BufferIndex index(problem.buffers);
  for (const JsonValue& item : object.Items("relations", Presence::kOptional)) {
    problem.relations.push_back(ReadRelation(item, index));
  }
  for (const JsonValue& item : object.Items("loops", Presence::kOptional))
    problem.loops.push_back(ReadLoop(item));
  for (const JsonValue& item : object.Items("rules", Presence::kOptional))
    problem.rules.push_back(ReadRule(item, problem, index));
  for (const JsonValue& item : object.Items("costs", Presence::kOptional))
    problem.costs.push_back(ReadCost(item, problem, index));
  if (const JsonValue ladder = object.Optional("tile_candidates")) {
    document.ladder = ReadLadder(ladder, index, problem.buffers);
    if (!document.fallbacks.empty())
      ladder.Refuse("tile candidates and fallbacks, which have sizes of their own",
                    "one of the two");
  }
  return document;
}

Statistics ReadStatistics(const JsonValue& value) {
  JsonObject object = value.Object();
  constexpr IntegerRange kWork = {0, std::numeric_limits<int64_t>::max()};
  return {object.Integer("nodes", kWork, 0), object.Integer("backtracks", kWork, 0),
          object.Integer("conflicts", kWork, 0)};
}

void ReadModes(const JsonValue& value, const Problem& problem, Allocation& allocation) {
  JsonObject object = value.Object();
  const JsonValue name = object.Required("memory");
  if (!name) return;
  const auto memory = static_cast<size_t>(ReadReference(name, problem.memories, "memory"));
  const Step first_step = Horizon(problem).lower;
  object.Integer("first_step", {first_step, first_step}, first_step);
  const std::vector<JsonValue> schedule = object.Items("schedule");
  if (memory >= problem.memories.size()) return;
  if (!allocation.modes[memory].empty()) name.Refuse("this memory has two schedules");
  for (const JsonValue& mode : schedule) {
    allocation.modes[memory].push_back(ReadReference(mode, problem.memories[memory].modes, "mode"));
  }
}

constexpr double kMostScore = 1e300;

MemoryPeak ReadMemoryPeak(const JsonValue& value) {
  JsonObject object = value.Object();
  MemoryPeak peak;
  peak.memory = object.Required("memory").String();
  peak.peak = object.Integer("peak", kAddresses);
  peak.lower_bound = object.Integer("lower_bound", kAddresses);
  return peak;
}

AllocationDocument ReadAllocationObject(const JsonValue& root, const Problem& problem) {
  AllocationDocument document;
  Result& result = document.result;
  JsonObject object = root.Object();
  object.Format(kAllocationFormat, kFormatVersion);
  object.Optional("problem");  // for people only
  object.Optional("gap");      // follows from peak and lower_bound
  result.status = static_cast<Status>(
      object.OneOf("status", kStatusWords, static_cast<size_t>(Status::kFeasible)));
  document.capacity = ReadOptional(object, "capacity", kAddresses);
  if (const JsonValue candidate = object.Optional("candidate"))
    document.candidate = candidate.String();
  result.peak = ReadOptional(object, "peak", kAddresses);
  result.lower_bound = object.Integer("lower_bound", kAddresses, 0);
  for (const JsonValue& each : object.Items("memories", Presence::kOptional))
    document.peaks.push_back(ReadMemoryPeak(each));
  document.score = object.Number("score", 0, kMostScore, 0);
  document.score_bound = object.Number("score_bound", 0, kMostScore, 0);
  result.cost = ReadOptional(object, "cost", kAddresses);
  result.least_cost = object.Integer("least_cost", kAddresses, 0);
  result.engine = object.String("engine", "");
  result.reason = object.String("reason", "");
  if (const JsonValue explanation = object.Optional("explanation"))
    result.explanation = ReadExplanation(explanation, problem);
  document.seed = ReadOptional(object, "seed", {});
  if (const JsonValue time = object.Optional("time_ms")) document.time_ms = time.Number(0, 1e15);
  if (const JsonValue statistics = object.Optional("statistics"))
    result.statistics = ReadStatistics(statistics);
  const JsonValue offsets = object.Optional("offsets");
  const std::vector<JsonValue> modes = object.Items("modes", Presence::kOptional);
  const bool placed = result.status == Status::kOptimal || result.status == Status::kFeasible;
  if (placed != static_cast<bool>(offsets)) {
    object.Refuse(placed ? "the status says placed, yet there are no offsets"
                         : "offsets without a status that says placed");
  }
  if (!offsets) return document;
  Allocation& allocation = result.allocation.emplace();
  allocation.offsets = BufferIndex(problem.buffers).ReadAll(offsets, kSteps, problem.buffers);
  allocation.modes.resize(problem.memories.size());
  for (const JsonValue& schedule : modes) ReadModes(schedule, problem, allocation);
  return document;
}

}  // namespace

Expected<ProblemDocument> ReadProblem(std::string_view text, std::string_view file) {
  JsonReader reader(text, std::string(file));
  ProblemDocument document = ReadProblemObject(reader.Root());
  if (reader.Failed()) return reader.Finish(std::move(document));
  if (auto fault = CheckWellFormed(document.problem)) {
    reader.Refuse(std::move(*fault));
  } else if (document.ladder) {
    if (auto of_ladder = CheckWellFormed(document.problem, *document.ladder))
      reader.Refuse(std::move(*of_ladder));
  }
  if (auto fault = CheckWellFormed(document.problem, document.fallbacks))
    reader.Refuse(std::move(*fault));
  return reader.Finish(std::move(document));
}

Expected<AllocationDocument> ReadAllocation(std::string_view text, std::string_view file,
                                            const Problem& problem) {
  JsonReader reader(text, std::string(file));
  return reader.Finish(ReadAllocationObject(reader.Root(), problem));
}

}  // namespace tessera::problem::files
