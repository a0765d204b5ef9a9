// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/problem/files/csv_fields.h"
#include "tessera/problem/files/problem_files.h"

namespace tessera::problem::files {
namespace {

using base::Diagnostic;
using base::Expected;
using base::Unexpected;

// Names what the problem states and CSV cannot represent; empty if there is no such thing.
std::string BeyondCsv(const Problem& problem) {
  if (problem.memories.size() != 1) return fmt::format("{} memories", problem.memories.size());
  const Memory& memory = problem.memories[0];
  if (!memory.banks.empty()) return "banks";
  if (!memory.modes.empty()) return "modes";
  if (!memory.reserved.empty()) return "reserved ranges";
  if (memory.alignment != 1) return "the alignment of the memory";
  if (!problem.loops.empty()) return "loops";
  if (!problem.rules.empty()) return "rules";
  if (!problem.costs.empty()) return "costs";
  for (const Buffer& buffer : problem.buffers) {
    if (!buffer.accesses.empty()) return fmt::format("accesses (of buffer '{}')", buffer.id);
    if (buffer.lifespans.front().lower < 0)
      return fmt::format("negative steps (of buffer '{}')", buffer.id);
  }
  std::set<std::string> ids;
  for (const Buffer& buffer : problem.buffers) {
    const auto [id, fresh] = ids.insert(base::Printable(buffer.id));
    if (!fresh) return fmt::format("ids that differ in control characters alone ('{}')", *id);
  }
  return "";
}

// An id in RFC 4180 form on one line: quoted if it holds separators, with control characters
// escaped.
std::string FieldOf(std::string_view id) {
  std::string text = base::Printable(id);
  const bool plain = text.find_first_of(",\"") == std::string::npos && !text.starts_with(' ') &&
                     !text.ends_with(' ');
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

template <typename Predicate>
bool Any(const Problem& problem, Predicate predicate) {
  return std::any_of(problem.buffers.begin(), problem.buffers.end(), predicate);
}

void AppendGaps(const std::vector<WindowedGap>& gaps, Step added, std::string& text) {
  const char* separator = "";
  for (const WindowedGap& gap : gaps) {
    fmt::format_to(std::back_inserter(text), "{}{}-{}", separator, gap.steps.lower,
                   gap.steps.upper - added);
    if (gap.window.begin < gap.window.end)
      fmt::format_to(std::back_inserter(text), "@{}:{}", gap.window.begin, gap.window.end);
    separator = " ";
  }
}

}  // namespace

Expected<std::string> WriteCsv(const Problem& problem, const Allocation* allocation,
                               Lifetimes lifetimes, const Fallbacks* fallbacks) {
  const Fallbacks given = fallbacks != nullptr ? *fallbacks : Fallbacks();
  std::string beyond = BeyondCsv(problem);
  if (std::any_of(given.begin(), given.end(),
                  [](const auto& each) { return each && each->value != 0; }))
    beyond = "the value of a fallback";
  const auto runs = beyond.empty() ? FindChunkRuns(problem) : std::nullopt;
  if (!runs) {
    if (beyond.empty()) beyond = "relations";
    Diagnostic diagnostic;
    diagnostic.message = "CSV cannot state " + beyond;
    diagnostic.hint = "write JSON instead";
    return Unexpected(std::move(diagnostic));
  }
  const bool alignment = Any(problem, [](const Buffer& buffer) { return buffer.alignment != 1; });
  const bool offset = allocation != nullptr ||
                      Any(problem, [](const Buffer& buffer) { return buffer.offset.has_value(); });
  const bool hint = Any(problem, [](const Buffer& buffer) { return buffer.hint.has_value(); });
  const bool value = Any(problem, [](const Buffer& buffer) { return buffer.value.has_value(); });
  const bool gaps = !runs->empty() ||
                    Any(problem, [](const Buffer& buffer) { return buffer.lifespans.size() > 1; });

  const bool inclusive = lifetimes == Lifetimes::kInclusive;
  const Step added = inclusive ? 1 : 0;
  std::string text =
      fmt::format("id,{},size{}{}{}{}{}{}\n", inclusive ? "start,end" : "lower,upper",
                  alignment ? ",alignment" : "", offset ? ",offset" : "", hint ? ",hint" : "",
                  value ? ",value" : "", given.empty() ? "" : ",fallback", gaps ? ",gaps" : "");
  const auto append_optional = [&text](const std::optional<Bytes>& value) {
    text += ',';
    if (value) text += fmt::to_string(*value);
  };
  auto run = runs->begin();
  for (size_t i = 0; i < problem.buffers.size();) {
    const bool is_run = run != runs->end() && run->first == i;
    const ChunkRun chunks = is_run ? *run++ : ChunkRun{i, {0}};
    const FoldedLine line = FoldLine(problem, chunks);
    const Buffer& buffer = problem.buffers[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{}", FieldOf(line.id), line.life.lower,
                   line.life.upper - added, line.size);
    if (alignment) append_optional(buffer.alignment);
    if (offset) append_optional(allocation != nullptr ? allocation->offsets[i] : buffer.offset);
    if (hint) append_optional(buffer.hint);
    if (value) append_optional(buffer.value);
    if (!given.empty()) append_optional(given[i] ? std::optional(given[i]->size) : std::nullopt);
    if (gaps) {
      text += ',';
      AppendGaps(line.gaps, added, text);
    }
    text += '\n';
    i += chunks.at.size();
  }
  return text;
}

}  // namespace tessera::problem::files
