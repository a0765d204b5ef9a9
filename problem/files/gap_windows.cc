// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/problem/files/csv_fields.h"

namespace tessera::problem::files {

namespace {

// Returns the lives of a byte: the whole life without the gaps whose windows do not contain the
// byte.
std::vector<Lifespan> LivesOf(Bytes byte, Lifespan whole, const std::vector<WindowedGap>& gaps) {
  std::vector<Lifespan> lives;
  for (const WindowedGap& gap : gaps) {
    if (gap.window.begin <= byte && byte < gap.window.end) continue;
    if (whole.lower < gap.steps.lower) lives.push_back({whole.lower, gap.steps.lower});
    whole.lower = gap.steps.upper;
  }
  if (whole.lower < whole.upper) lives.push_back(whole);
  return lives;
}

struct GapChunk {
  AddressRange bytes;
  std::vector<Lifespan> lives;
};

std::vector<GapChunk> ChunksOf(const Buffer& buffer, const std::vector<WindowedGap>& gaps) {
  std::set<Bytes> cuts = {0, buffer.size};
  for (const WindowedGap& gap : gaps) {
    if (gap.window.begin < gap.window.end) cuts.insert({gap.window.begin, gap.window.end});
  }
  std::vector<GapChunk> chunks;
  for (auto cut = cuts.begin(); *cut != buffer.size; ++cut) {
    std::vector<Lifespan> lives = LivesOf(*cut, buffer.lifespans[0], gaps);
    if (!chunks.empty() && chunks.back().lives == lives) {
      chunks.back().bytes.end = *std::next(cut);
    } else {
      chunks.push_back({{*cut, *std::next(cut)}, std::move(lives)});
    }
  }
  return chunks;
}

std::string ChunkId(std::string_view stem, size_t chunk) {
  return std::string(stem) + '[' + std::to_string(chunk) + ']';
}

// The runs that the relations describe, by first buffer; nullopt if they describe something else.
std::optional<std::vector<ChunkRun>> FindRuns(const Problem& problem) {
  std::vector<ChunkRun> runs;
  for (const Relation& relation : problem.relations) {
    if (relation.kind != RelationKind::kColocate) return std::nullopt;
    const auto first = static_cast<size_t>(relation.first);
    const auto second = static_cast<size_t>(relation.second);
    if (runs.empty() || runs.back().first != first) runs.push_back({first, {0}});
    const ChunkRun& run = runs.back();
    if (second != first + run.at.size()) return std::nullopt;
    if (relation.delta != run.at.back() + problem.buffers[second - 1].size) return std::nullopt;
    runs.back().at.push_back(relation.delta);
  }
  std::sort(runs.begin(), runs.end(),
            [](const ChunkRun& a, const ChunkRun& b) { return a.first < b.first; });
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first < runs[i - 1].first + runs[i - 1].at.size()) return std::nullopt;
  }
  return runs;
}

// Whether ids, offsets and alignments are those that AppendWithGaps sets for chunks.
bool AreChunks(const Problem& problem, const ChunkRun& run) {
  const Buffer& base = problem.buffers[run.first];
  if (!base.id.ends_with("[0]")) return false;
  const std::string_view stem = std::string_view(base.id).substr(0, base.id.size() - 3);
  for (size_t i = 1; i < run.at.size(); ++i) {
    const Buffer& chunk = problem.buffers[run.first + i];
    const bool follows = chunk.offset.has_value() == base.offset.has_value() &&
                         chunk.offset.value_or(run.at[i]) - base.offset.value_or(0) == run.at[i];
    const bool is_plain =
        chunk.alignment == 1 && !chunk.hint && !chunk.value && chunk.memory == base.memory;
    if (chunk.id != ChunkId(stem, i) || !is_plain || !follows) return false;
  }
  return true;
}

// The bytes of the chunks that live at the step; nullopt if they are not one range.
std::optional<AddressRange> WindowAt(const Problem& problem, const ChunkRun& run, Step step) {
  std::optional<AddressRange> window;
  for (size_t i = 0; i < run.at.size(); ++i) {
    const Buffer& chunk = problem.buffers[run.first + i];
    if (!LivesAt(chunk, step)) continue;
    if (!window) window = {run.at[i], run.at[i]};
    if (window->end != run.at[i]) return std::nullopt;
    window->end += chunk.size;
  }
  return window.value_or(AddressRange{0, 0});
}

// The steps at which some chunk is born or dies.
std::set<Step> EventsOf(const Problem& problem, const ChunkRun& run) {
  std::set<Step> events;
  for (size_t i = 0; i < run.at.size(); ++i) {
    for (const Lifespan& life : problem.buffers[run.first + i].lifespans)
      events.insert({life.lower, life.upper});
  }
  return events;
}

bool HasWindows(const Problem& problem, const ChunkRun& run) {
  const std::set<Step> events = EventsOf(problem, run);
  return std::all_of(events.begin(), events.end(),
                     [&](Step step) { return WindowAt(problem, run, step).has_value(); });
}

std::vector<WindowedGap> FoldWindows(const Problem& problem, const ChunkRun& run, Bytes size) {
  const std::set<Step> events = EventsOf(problem, run);
  std::vector<WindowedGap> gaps;
  for (auto event = events.begin(); std::next(event) != events.end(); ++event) {
    const AddressRange window = *WindowAt(problem, run, *event);
    if (window == AddressRange{0, size}) continue;
    const bool extends =
        !gaps.empty() && gaps.back().steps.upper == *event && gaps.back().window == window;
    if (extends)
      gaps.back().steps.upper = *std::next(event);
    else
      gaps.push_back({{*event, *std::next(event)}, window});
  }
  return gaps;
}

}  // namespace

bool AppendWithGaps(Buffer buffer, const std::vector<WindowedGap>& gaps, Problem& problem) {
  if (gaps.empty()) {
    problem.buffers.push_back(std::move(buffer));
    return true;
  }
  const std::vector<GapChunk> chunks = ChunksOf(buffer, gaps);
  for (const GapChunk& chunk : chunks) {
    if (chunk.lives.empty()) return false;
  }
  const auto first = static_cast<int>(problem.buffers.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    Buffer& part = problem.buffers.emplace_back(buffer);
    part.size = chunks[i].bytes.end - chunks[i].bytes.begin;
    part.lifespans = chunks[i].lives;
    if (chunks.size() == 1) break;
    part.id = ChunkId(buffer.id, i);
    if (i == 0) continue;
    part.alignment = 1;
    part.hint.reset();
    part.value.reset();
    if (part.offset) *part.offset += chunks[i].bytes.begin;
    problem.relations.push_back({RelationKind::kColocate, first,
                                 static_cast<int>(problem.buffers.size()) - 1,
                                 chunks[i].bytes.begin});
  }
  return true;
}

std::optional<std::vector<ChunkRun>> FindChunkRuns(const Problem& problem) {
  std::optional<std::vector<ChunkRun>> runs = FindRuns(problem);
  if (!runs) return std::nullopt;
  const bool all = std::all_of(runs->begin(), runs->end(), [&](const ChunkRun& run) {
    return AreChunks(problem, run) && HasWindows(problem, run);
  });
  return all ? std::move(runs) : std::nullopt;
}

FoldedLine FoldLine(const Problem& problem, const ChunkRun& run) {
  const Buffer& base = problem.buffers[run.first];
  FoldedLine line = {base.id, {base.lifespans.front().lower, base.lifespans.back().upper}, 0, {}};
  for (size_t i = 0; i < run.at.size(); ++i) {
    const Buffer& chunk = problem.buffers[run.first + i];
    line.size += chunk.size;
    line.life.lower = std::min(line.life.lower, chunk.lifespans.front().lower);
    line.life.upper = std::max(line.life.upper, chunk.lifespans.back().upper);
  }
  if (run.at.size() > 1) line.id.remove_suffix(3);
  const bool is_whole = run.at.size() == 1 && base.lifespans.size() == 1;
  if (!is_whole) line.gaps = FoldWindows(problem, run, line.size);
  return line;
}

}  // namespace tessera::problem::files
