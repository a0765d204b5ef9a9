// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/problem/files/other_formats.h"
#include "tessera/problem/well_formed.h"

// Traces of allocations and frees.
namespace tessera::problem::files {
namespace {

using base::Diagnostic;
using base::Expected;
using base::Unexpected;

struct Word {
  std::string_view text;
  int column = 1;
};

std::vector<Word> WordsOf(std::string_view line) {
  std::vector<Word> words;
  for (size_t at = 0; at < line.size();) {
    const size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back({line.substr(begin, end - begin), static_cast<int>(begin) + 1});
    at = end;
  }
  return words;
}

class TraceReader {
 public:
  TraceReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Expected<Problem> Read() {
    problem_.memories.emplace_back();
    problem_.memories[0].capacity = base::kMaxTotal;
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t end = rest.find('\n');
      const std::vector<Word> words = WordsOf(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      ++line_;
      if (words.empty() || words[0].text.starts_with('#')) continue;
      if (!ReadLine(words)) return Unexpected(std::move(*fault_));
      ++step_;
    }
    for (const auto& [id, buffer] : alive_)
      problem_.buffers[buffer].lifespans = {{problem_.buffers[buffer].lifespans[0].lower, step_}};
    if (std::optional<Diagnostic> fault = CheckWellFormed(problem_)) {
      fault->file = file_;
      return Unexpected(std::move(*fault));
    }
    return std::move(problem_);
  }

 private:
  bool Refuse(const Word& word, std::string message, std::string expected) {
    fault_.emplace();
    fault_->message = std::move(message);
    fault_->file = file_;
    fault_->line = line_;
    fault_->column = word.column;
    fault_->expected = std::move(expected);
    fault_->found = word.text;
    fault_->excerpt = base::LineOf(text_, line_);
    return false;
  }

  bool ReadLine(const std::vector<Word>& words) {
    static constexpr std::string_view kForms = "alloc ID SIZE [ALIGNMENT], or free ID";
    const std::string_view kind = words[0].text;
    if (kind == "alloc" && (words.size() == 3 || words.size() == 4)) return Allocate(words);
    if (kind == "free" && words.size() == 2) return Free(words[1]);
    if (kind == "alloc" || kind == "free")
      return Refuse(words[0], fmt::format("{} words in a line", words.size()), std::string(kForms));
    return Refuse(words[0], "the line is neither an allocation nor a free", std::string(kForms));
  }

  bool Allocate(const std::vector<Word>& words) {
    Buffer buffer;
    if (!ReadNumber(words[2], buffer.size)) return false;
    if (words.size() == 4 && !ReadNumber(words[3], buffer.alignment)) return false;
    if (alive_.contains(words[1].text))
      return Refuse(words[1], "the id is in use", "an id that is free");
    buffer.id = FreeName(base::AsUtf8(std::string(words[1].text)));
    buffer.lifespans = {{step_, step_ + 1}};
    alive_.emplace(words[1].text, problem_.buffers.size());
    problem_.buffers.push_back(std::move(buffer));
    return true;
  }

  // Returns the id; if it is taken, with the least number that makes it differ from all earlier
  // names.
  std::string FreeName(const std::string& id) {
    std::string name = id;
    for (int& use = uses_[id]; !names_.insert(name).second;)
      name = id + fmt::format("#{}", ++use + 1);
    return name;
  }

  bool Free(const Word& id) {
    const auto found = alive_.find(id.text);
    if (found == alive_.end()) return Refuse(id, "the id is not in use", "an id that is alive");
    problem_.buffers[found->second].lifespans[0].upper = step_;
    alive_.erase(found);
    return true;
  }

  bool ReadNumber(const Word& word, int64_t& value) {
    const char* const end = word.text.data() + word.text.size();
    const auto [rest, error] = std::from_chars(word.text.data(), end, value);
    if (error != std::errc() || rest != end || value < 1 || value > base::kMaxTotal)
      return Refuse(word, "not a number of bytes", "a whole number from 1 to 2^62");
    return true;
  }

  std::string_view text_;
  std::string file_;
  int line_ = 0;
  Step step_ = 0;
  Problem problem_;
  std::unordered_map<std::string_view, size_t> alive_;
  std::unordered_map<std::string, int> uses_;  // names with a number, by id
  std::unordered_set<std::string> names_;
  std::optional<Diagnostic> fault_;
};

struct Event {
  Step step;
  bool births;  // after the deaths of the same step
  size_t buffer;
  friend auto operator<=>(const Event&, const Event&) = default;  // NOLINT(modernize-use-nullptr)
};

}  // namespace

Expected<Problem> ReadTrace(std::string_view text, std::string_view file) {
  return TraceReader(text, file).Read();
}

Expected<std::string> WriteTrace(const Problem& problem) {
  static constexpr std::string_view kName = "trace";
  if (problem.memories.size() != 1) return Unexpected(CannotState(kName, "several memories"));
  const Memory& memory = problem.memories[0];
  if (!memory.reserved.empty() || !memory.banks.empty() || !memory.modes.empty())
    return Unexpected(CannotState(kName, "reserved ranges, banks and modes"));
  if (!problem.relations.empty() || !problem.rules.empty() || !problem.costs.empty() ||
      !problem.loops.empty())
    return Unexpected(CannotState(kName, "relations, rules, costs and loops"));
  std::vector<Event> events;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.lifespans.size() > 1)
      return Unexpected(CannotState(kName, fmt::format("the gaps of '{}'", buffer.id)));
    if (buffer.offset)
      return Unexpected(CannotState(kName, fmt::format("the fixed offset of '{}'", buffer.id)));
    if (buffer.id.find_first_of(" \t\r\n#") != std::string::npos)
      return Unexpected(CannotState(kName, fmt::format("the id '{}'", buffer.id)));
    events.push_back({buffer.lifespans[0].lower, true, i});
    events.push_back({buffer.lifespans[0].upper, false, i});
  }
  std::sort(events.begin(), events.end());
  std::string text;
  for (const Event& event : events) {
    const Buffer& buffer = problem.buffers[event.buffer];
    const Bytes alignment = AlignmentOf(problem, buffer);
    if (!event.births) {
      fmt::format_to(std::back_inserter(text), "free {}\n", buffer.id);
    } else if (alignment == 1) {
      fmt::format_to(std::back_inserter(text), "alloc {} {}\n", buffer.id, buffer.size);
    } else {
      fmt::format_to(std::back_inserter(text), "alloc {} {} {}\n", buffer.id, buffer.size,
                     alignment);
    }
  }
  return text;
}

}  // namespace tessera::problem::files
