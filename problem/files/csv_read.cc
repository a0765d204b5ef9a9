// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/problem/files/csv_fields.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem::files {
namespace {

using base::Diagnostic;
using base::Expected;
using base::kMaxTotal;
using base::Unexpected;

enum Column : uint8_t {
  kId,
  kLower,
  kUpper,
  kSize,
  kAlignment,
  kOffset,
  kHint,
  kValue,
  kFallback,
  kGaps
};
constexpr std::array<std::string_view, 10> kColumnNames = {
    "id", "lower", "upper", "size", "alignment", "offset", "hint", "value", "fallback", "gaps"};
constexpr size_t kRequiredColumns = 4;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The place of an id in the file.
struct IdPlace {
  int line = 0;
  int column = 0;
};

// Reads line by line. Each step returns whether it succeeded; on failure fault_ holds the reason.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view file_name, std::optional<Lifetimes> lifetimes)
      : text_(text), file_name_(file_name), lifetimes_(lifetimes) {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark)
      text_.remove_prefix(kByteOrderMark.size());
  }

  // Call it after Read, with the number of buffers.
  Fallbacks TakeFallbacks(size_t buffers) {
    if (!fallbacks_.empty()) fallbacks_.resize(buffers);
    return std::move(fallbacks_);
  }

  Expected<Problem> Read() {
    problem_.memories.emplace_back();
    problem_.memories[0].capacity = kMaxTotal;
    int line = 0;
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t end = rest.find('\n');
      std::string_view content = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      ++line;
      if (!content.empty() && content.back() == '\r') content.remove_suffix(1);
      const Field whole = {content, line, 1};
      if (Trim(whole).text.empty()) continue;
      if (!(columns_.empty() ? ReadHeader(whole) : ReadRow(whole)))
        return Unexpected(std::move(*fault_));
    }
    if (columns_.empty()) {
      Refuse({"", 1, 1}, "the file has no header", "id,lower,upper,size");
      return Unexpected(std::move(*fault_));
    }
    if (std::optional<Diagnostic> fault = CheckWellFormed(problem_)) {
      if (const auto repeated = FindRepeatedId(problem_)) {
        RefuseId(repeated->first, repeated->second);
        return Unexpected(std::move(*fault_));
      }
      fault->file = file_name_;
      return Unexpected(std::move(*fault));
    }
    return std::move(problem_);
  }

 private:
  bool Refuse(const Field& field, std::string message, std::string expected = "",
              std::string hint = "") {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.file = file_name_;
    diagnostic.line = field.line;
    diagnostic.column = field.column;
    diagnostic.expected = std::move(expected);
    diagnostic.found = field.text;
    diagnostic.hint = std::move(hint);
    diagnostic.excerpt = base::LineOf(text_, field.line);
    fault_ = std::move(diagnostic);
    return false;
  }

  // The fields of a line (RFC 4180). A field that begins with a quote ends with one and may hold
  // commas. A quoted field ends on its line.
  std::optional<std::vector<Field>> SplitLine(Field rest) {
    std::vector<Field> fields;
    for (;;) {
      Field field = Trim(rest);
      size_t end = rest.text.find(',');
      if (field.text.starts_with('"')) {
        const size_t skipped = static_cast<size_t>(field.column - rest.column);
        const size_t close = FindClosingQuote(field.text);
        if (close == std::string_view::npos) {
          Refuse(field, "the quote is not closed in its line", "a closing quote");
          return std::nullopt;
        }
        end = rest.text.find(',', skipped + close);
        const Field behind = Trim({rest.text.substr(0, end).substr(skipped + close + 1), rest.line,
                                   field.column + static_cast<int>(close) + 1});
        if (!behind.text.empty()) {
          Refuse(behind, "text behind the closing quote",
                 "a comma, or two quotes for one inside the field");
          return std::nullopt;
        }
        field = {field.text.substr(1, close - 1), field.line, field.column + 1, true};
      } else {
        field = Trim({rest.text.substr(0, end), rest.line, rest.column});
      }
      fields.push_back(field);
      if (end == std::string_view::npos) return fields;
      rest.text.remove_prefix(end + 1);
      rest.column += static_cast<int>(end) + 1;
    }
  }

  // Returns the name of the column that a name of another tool stands for.
  std::string_view NameOf(std::string_view name) const {
    if (name == "buffer" || name == "buffer_id") return kColumnNames[kId];
    if (name == "begin" || name == "start") return kColumnNames[kLower];
    if (name == "end" && lifetimes_) return kColumnNames[kUpper];
    return name;
  }

  bool ReadHeader(const Field& line) {
    const std::optional<std::vector<Field>> fields = SplitLine(line);
    if (!fields) return false;
    for (const Field& field : *fields) {
      const auto known = std::find(kColumnNames.begin(), kColumnNames.end(), NameOf(field.text));
      if (known == kColumnNames.end()) return RefuseColumn(field);
      const auto column = static_cast<Column>(known - kColumnNames.begin());
      if (std::find(columns_.begin(), columns_.end(), column) != columns_.end()) {
        return Refuse(field, fmt::format("the column '{}' is given twice", field.text),
                      "each column once");
      }
      columns_.push_back(column);
    }
    for (size_t i = 0; i < kRequiredColumns; ++i) {
      if (std::find(columns_.begin(), columns_.end(), static_cast<Column>(i)) != columns_.end())
        continue;
      return Refuse(line, fmt::format("the column '{}' is missing", kColumnNames[i]),
                    "id, lower, upper, size");
    }
    return true;
  }

  bool RefuseColumn(const Field& field) {
    const std::string expected = "one of " + base::Join(kColumnNames);
    if (field.text == "end") {
      return Refuse(
          field, "the column 'end' is ambiguous", expected,
          "some tools count 'end' as the last step of the life, others as the step after it; if it "
          "is the step after, rename it to 'upper', else add 1 as well; or state --lifetimes");
    }
    return Refuse(field, fmt::format("unknown column '{}'", field.text), expected,
                  base::DidYouMean(field.text, kColumnNames));
  }

  bool ReadRow(const Field& line) {
    const std::optional<std::vector<Field>> split = SplitLine(line);
    if (!split) return false;
    const std::vector<Field>& fields = *split;
    if (fields.size() < columns_.size()) {
      const Field end = {"", line.line, line.column + static_cast<int>(line.text.size())};
      return Refuse(end,
                    fmt::format("the field '{}' is missing", kColumnNames[columns_[fields.size()]]),
                    fmt::format("{} fields", columns_.size()));
    }
    if (fields.size() > columns_.size()) {
      return Refuse(fields[columns_.size()], "a field beyond the last column",
                    fmt::format("{} fields", columns_.size()));
    }
    Buffer buffer;
    buffer.lifespans.resize(1);
    std::array<Field, kColumnNames.size()> by_column;
    for (size_t i = 0; i < fields.size(); ++i) {
      by_column[columns_[i]] = fields[i];
      if (!ReadField(columns_[i], fields[i], buffer)) return false;
    }
    Lifespan& life = buffer.lifespans[0];
    life.upper += Added();
    if (life.lower >= life.upper) {
      const bool inclusive = Added() > 0;
      return Refuse(by_column[kUpper],
                    fmt::format("the life [{}, {}) is empty", life.lower, life.upper),
                    inclusive ? "start <= end" : "lower < upper",
                    inclusive ? "end is the last step" : "upper is the step after the last");
    }
    std::vector<WindowedGap> gaps;
    if (!ReadGaps(by_column[kGaps], buffer, gaps)) return false;
    const size_t known = problem_.buffers.size();
    if (!AppendWithGaps(std::move(buffer), gaps, problem_))
      return Refuse(by_column[kGaps], "the gaps leave bytes that live at no step");
    if (!by_column[kFallback].text.empty() && !ReadFallback(by_column[kFallback], known))
      return false;
    // The id of each chunk has the place of its line.
    ids_.resize(ids_.size() + problem_.buffers.size() - known - 1, ids_.back());
    return true;
  }

  bool ReadField(Column column, const Field& field, Buffer& buffer) {
    if (field.text.empty() && column >= kRequiredColumns) return true;
    switch (column) {
      case kId:
        return ReadId(field, buffer.id);
      case kLower:
        return ReadNumber(field, "lower", 0, buffer.lifespans[0].lower);
      case kUpper:
        return ReadNumber(field, "upper", 0, buffer.lifespans[0].upper);
      case kSize:
        return ReadNumber(field, "size", 1, buffer.size);
      case kAlignment:
        return ReadNumber(field, "alignment", 1, buffer.alignment);
      case kOffset:
        return ReadNumber(field, "offset", 0, buffer.offset.emplace());
      case kHint:
        return ReadNumber(field, "hint", 0, buffer.hint.emplace());
      case kValue:
        return ReadNumber(field, "value", 0, buffer.value.emplace());
      case kFallback:
      case kGaps:
        return true;  // need lower and upper, in whichever order the columns come
    }
    return true;
  }

  // Reads the fallback of the buffer that the line appended.
  bool ReadFallback(const Field& field, size_t buffer) {
    Fallback fallback;
    if (!ReadNumber(field, "fallback", 1, fallback.size)) return false;
    if (problem_.buffers.size() > buffer + 1)
      return Refuse(field, "a fallback and gaps in which bytes live on", "one of the two");
    if (!problem_.buffers[buffer].value)
      return Refuse(field, "a fallback of a buffer without a value, which is always placed",
                    "a value in this row");
    if (fallback.size >= problem_.buffers[buffer].size)
      return Refuse(field, "the fallback is no smaller than the buffer",
                    fmt::format("less than {} bytes", problem_.buffers[buffer].size));
    fallbacks_.resize(buffer + 1);
    fallbacks_.back() = fallback;
    return true;
  }

  bool ReadId(const Field& field, std::string& id) {
    if (field.text.empty()) return Refuse(field, "the field 'id' is empty", "a name");
    // All formats can represent an id in UTF-8. Other bytes become escapes here, where they enter.
    id = base::AsUtf8(Unquote(field));
    ids_.push_back({field.line, field.column});
    return true;
  }

  void RefuseId(size_t earlier, size_t later) {
    Refuse({problem_.buffers[later].id, ids_[later].line, ids_[later].column},
           fmt::format("the id '{}' is already that of line {}", problem_.buffers[later].id,
                       ids_[earlier].line),
           "ids that differ");
  }

  bool ReadNumber(const Field& field, std::string_view name, int64_t least, int64_t& value) {
    if (field.text.empty())
      return Refuse(field, fmt::format("the field '{}' is empty", name), "a number");
    if (field.text.front() == '-' || field.text.front() == '+') {
      return Refuse(field, fmt::format("{} has a sign", name), "decimal digits");
    }
    const char* const end = field.text.data() + field.text.size();
    const auto [rest, error] = std::from_chars(field.text.data(), end, value);
    if (error == std::errc::invalid_argument || rest != end) {
      return Refuse(field, fmt::format("{} is not a whole number", name), "decimal digits");
    }
    if (error == std::errc::result_out_of_range || value > kMaxTotal) {
      return Refuse(field, fmt::format("{} is too large", name), "at most 2^62");
    }
    if (value < least)
      return Refuse(field, fmt::format("{} is too small", name), fmt::format("at least {}", least));
    return true;
  }

  // "3-5 8-9@0:64": no byte lives in steps [3, 5), and bytes [0, 64) alone in [8, 9).
  bool ReadGaps(const Field& field, const Buffer& buffer, std::vector<WindowedGap>& gaps) {
    Lifespan rest = buffer.lifespans[0];
    for (const Field& text : Split(field, ' ')) {
      if (text.text.empty()) continue;
      WindowedGap gap;
      if (!ReadGap(text, buffer.size, gap)) return false;
      if (gap.steps.lower < rest.lower || gap.steps.upper > rest.upper) {
        return Refuse(text, "the gap leaves the life or overlaps the gap before",
                      "ascending gaps within [lower, upper)");
      }
      rest.lower = gap.steps.upper;
      gaps.push_back(gap);
    }
    return true;
  }

  bool ReadGap(const Field& text, Bytes size, WindowedGap& gap) {
    const std::vector<Field> parts = Split(text, '@');
    const std::vector<Field> ends = Split(parts[0], '-');
    if (ends.size() != 2 || parts.size() > 2)
      return Refuse(text, "a gap is not of the form a-b or a-b@from:to", "3-5 8-9@0:64");
    if (!ReadNumber(ends[0], "gap", 0, gap.steps.lower) ||
        !ReadNumber(ends[1], "gap", 0, gap.steps.upper))
      return false;
    gap.steps.upper += Added();
    if (gap.steps.lower >= gap.steps.upper) return Refuse(text, "the gap is empty", "a < b");
    return parts.size() < 2 || ReadWindow(parts[1], size, gap.window);
  }

  bool ReadWindow(const Field& text, Bytes size, AddressRange& window) {
    const std::vector<Field> ends = Split(text, ':');
    if (ends.size() != 2) return Refuse(text, "a window is not of the form from:to", "0:64");
    if (!ReadNumber(ends[0], "window", 0, window.begin) ||
        !ReadNumber(ends[1], "window", 0, window.end))
      return false;
    if (window.begin < window.end && window.end <= size) return true;
    return Refuse(text, "the window is empty or leaves the buffer",
                  fmt::format("from < to <= {}", size));
  }

  // The number to add to the end of a stated life so that the life is half-open.
  Step Added() const { return lifetimes_ == Lifetimes::kInclusive ? 1 : 0; }

  std::string_view text_;
  std::string file_name_;
  std::optional<Lifetimes> lifetimes_;
  std::vector<Column> columns_;
  std::vector<IdPlace> ids_;  // of each buffer
  Problem problem_;
  Fallbacks fallbacks_;
  std::optional<Diagnostic> fault_;
};

}  // namespace

Expected<Problem> ReadCsv(std::string_view text, std::string_view file_name,
                          std::optional<Lifetimes> lifetimes, Fallbacks* fallbacks) {
  CsvReader reader(text, file_name, lifetimes);
  Expected<Problem> problem = reader.Read();
  if (problem && fallbacks != nullptr) *fallbacks = reader.TakeFallbacks(problem->buffers.size());
  return problem;
}

Expected<ProblemDocument> ReadCsvOrJson(std::string_view text, std::string_view file,
                                        std::optional<Lifetimes> lifetimes) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string_view::npos && text[first] == '{') return ReadProblem(text, file);
  ProblemDocument document;
  Expected<Problem> problem = ReadCsv(text, file, lifetimes, &document.fallbacks);
  if (!problem) return Unexpected(std::move(problem.error()));
  document.problem = *std::move(problem);
  return document;
}

}  // namespace tessera::problem::files
