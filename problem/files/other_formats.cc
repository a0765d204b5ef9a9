// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/files/other_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::problem::files {

namespace {

base::Expected<ProblemDocument> AsDocument(base::Expected<Problem> problem) {
  if (!problem) return base::Unexpected(std::move(problem.error()));
  return ProblemDocument{.problem = *std::move(problem), .ladder = std::nullopt};
}

Bytes LoadOf(const Problem& problem, int memory) {
  std::vector<std::pair<Step, Bytes>> events;  // deaths come first, because they are negative
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    for (const Lifespan& life : buffer.lifespans) {
      events.emplace_back(life.lower, buffer.size);
      events.emplace_back(life.upper, -buffer.size);
    }
  }
  std::sort(events.begin(), events.end());
  Bytes load = 0, greatest = 0;
  for (const auto& [step, change] : events) {
    load += change;
    greatest = std::max(greatest, load);
  }
  return greatest;
}

// Pairs of buffers that live together. Two that meet several times, because of gaps, are one pair.
int64_t CountPairs(const Problem& problem, int memory) {
  std::vector<std::pair<Lifespan, size_t>> lives;
  bool any_gap = false;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].memory != memory) continue;
    any_gap = any_gap || problem.buffers[i].lifespans.size() > 1;
    for (const Lifespan& life : problem.buffers[i].lifespans) lives.emplace_back(life, i);
  }
  if (!any_gap) return CountMeetings(problem, memory);
  std::sort(lives.begin(), lives.end(),
            [](const auto& a, const auto& b) { return a.first.lower < b.first.lower; });
  std::vector<std::pair<Step, size_t>> alive;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const auto& [life, buffer] : lives) {
    const Step now = life.lower;
    std::erase_if(alive, [now](const auto& other) { return other.first <= now; });
    for (const auto& [end, other] : alive) {
      if (other != buffer) pairs.emplace_back(std::minmax(buffer, other));
    }
    alive.emplace_back(life.upper, buffer);
  }
  std::sort(pairs.begin(), pairs.end());
  return std::unique(pairs.begin(), pairs.end()) - pairs.begin();
}

}  // namespace

StatedPairs::StatedPairs(const Problem& problem) {
  for (const Relation& relation : problem.relations) {
    const Pair pair = std::minmax(relation.first, relation.second);
    if (relation.kind == RelationKind::kSeparate) separate.insert(pair);
    if (relation.kind == RelationKind::kExclusive) exclusive.insert(pair);
  }
}

base::Diagnostic CannotState(std::string_view format, std::string_view what) {
  base::Diagnostic diagnostic;
  diagnostic.message = fmt::format("the format {} cannot state {}", format, what);
  diagnostic.hint = "write json instead";
  return diagnostic;
}

base::Expected<ProblemDocument> ReadList(ListFormat format, std::string_view text,
                                         std::string_view file,
                                         std::optional<Lifetimes> lifetimes) {
  switch (format) {
    case ListFormat::kCsv: {
      Fallbacks fallbacks;
      base::Expected<ProblemDocument> document =
          AsDocument(ReadCsv(text, file, lifetimes, &fallbacks));
      if (document) document->fallbacks = std::move(fallbacks);
      return document;
    }
    case ListFormat::kJson:
      return ReadProblem(text, file);
    case ListFormat::kTrace:
      return AsDocument(ReadTrace(text, file));
    case ListFormat::kDsaSolver: {
      std::vector<std::string> notes;
      base::Expected<ProblemDocument> document = AsDocument(ReadDsaSolver(text, file, &notes));
      if (document) document->notes = std::move(notes);
      return document;
    }
    case ListFormat::kExecutorch:
      return AsDocument(ReadExecutorch(text, file));
    case ListFormat::kTvm:
      return AsDocument(ReadTvm(text, file));
    case ListFormat::kTfliteMicro:
      break;
  }
  base::Diagnostic diagnostic;
  diagnostic.file = file;
  diagnostic.message = "an offline plan states offsets, but neither sizes nor lives";
  diagnostic.hint = "tflite-micro can only be written";
  return base::Unexpected(std::move(diagnostic));
}

base::Expected<std::string> WriteList(ListFormat format, const ProblemDocument& document,
                                      Lifetimes lifetimes) {
  const Problem& problem = document.problem;
  const std::string_view name = kListFormatWords[static_cast<size_t>(format)];
  if (document.ladder && format != ListFormat::kJson)
    return base::Unexpected(CannotState(name, "tile candidates"));
  const bool has_values =
      std::any_of(problem.buffers.begin(), problem.buffers.end(),
                  [](const Buffer& buffer) { return buffer.value.has_value(); });
  if (has_values && format != ListFormat::kJson && format != ListFormat::kCsv)
    return base::Unexpected(CannotState(name, "values"));
  switch (format) {
    case ListFormat::kCsv:
      return WriteCsv(problem, nullptr, lifetimes, &document.fallbacks);
    case ListFormat::kJson:
      return WriteProblem(document);
    case ListFormat::kTrace:
      return WriteTrace(problem);
    case ListFormat::kDsaSolver:
      return WriteDsaSolver(problem);
    case ListFormat::kExecutorch:
      return WriteExecutorch(problem);
    case ListFormat::kTvm:
      return WriteTvm(problem);
    case ListFormat::kTfliteMicro:
      return WriteTfliteMicro(problem);
  }
  return base::Unexpected(CannotState(name, "anything"));
}

ListSummary Summarize(const Problem& problem) {
  ListSummary summary;
  summary.buffers = problem.buffers.size();
  for (size_t memory = 0; memory < problem.memories.size(); ++memory) {
    summary.load = std::max(summary.load, LoadOf(problem, static_cast<int>(memory)));
    summary.pairs += CountPairs(problem, static_cast<int>(memory));
  }
  const auto meet = [&problem](const StatedPairs::Pair& pair) {
    const Buffer& first = problem.buffers[static_cast<size_t>(pair.first)];
    const Buffer& second = problem.buffers[static_cast<size_t>(pair.second)];
    return first.memory == second.memory && LiveTogether(first, second);
  };
  const StatedPairs stated(problem);
  for (const StatedPairs::Pair& pair : stated.separate) summary.pairs += meet(pair) ? 0 : 1;
  for (const StatedPairs::Pair& pair : stated.exclusive)
    summary.pairs -= meet(pair) && !stated.separate.contains(pair) ? 1 : 0;
  return summary;
}

}  // namespace tessera::problem::files
