// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "tessera/encoder/export/formats.h"

namespace tessera::encoder::exports {

namespace {

std::string AsComments(std::string_view text) {
  std::string comments;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    comments += fmt::format("c {}\n", text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return comments;
}

}  // namespace

std::string WriteDimacs(const ClauseRecord& record, const Sentences& sentences,
                        std::string_view header, std::string_view sizes) {
  std::string text =
      fmt::format("c {}\nc\n{}c\nc variables, in the words of the problem; addresses are bytes:\n",
                  header, AsComments(sizes));
  const auto out = std::back_inserter(text);
  for (int32_t variable = formulation::kTrue.Variable(); variable <= record.VariableCount();
       ++variable)
    fmt::format_to(out, "c {} {}\n", variable, sentences.Of(formulation::Literal(variable)));
  fmt::format_to(out, "p cnf {} {}\n{} 0\n", record.VariableCount(), record.ClauseCount() + 1,
                 formulation::kTrue.Dimacs());
  for (size_t clause = 0; clause < record.ClauseCount(); ++clause) {
    for (const formulation::Literal literal : record.ClauseAt(clause))
      fmt::format_to(out, "{} ", literal.Dimacs());
    text += "0\n";
  }
  return text;
}

namespace {

using Claim = Decoded::Claim;

constexpr std::string_view kGaps = " \t\r";

// Removes the next word from `line`; empty if there is none.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kGaps), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kGaps));
  line.remove_prefix(word.size());
  return word;
}

class DimacsReader {
 public:
  DimacsReader(std::string_view output, std::string_view file, ClauseRecord& record,
               const Sentences& sentences)
      : output_(output), file_(file), record_(record), sentences_(sentences) {}

  base::Expected<Claim> Read();

 private:
  void ReadLine(std::string_view line);
  void ReadStatus(std::string_view word);
  void ReadValue(std::string_view word);
  void CheckEnd();
  void CheckCoverage();
  base::Diagnostic& Refuse(const char* place, std::string message);

  std::string_view output_;
  std::string_view file_;
  ClauseRecord& record_;
  const Sentences& sentences_;
  int line_number_ = 0;
  std::string_view line_;
  std::optional<Claim> claim_;
  bool has_values_ = false;
  bool ended_ = false;
  std::optional<base::Diagnostic> fault_;
};

// Keeps the first error. `place` points into the current line.
base::Diagnostic& DimacsReader::Refuse(const char* place, std::string message) {
  fault_ = base::Diagnostic{};
  fault_->message = std::move(message);
  fault_->file = file_;
  fault_->line = line_number_;
  fault_->column = static_cast<int>(place - line_.data()) + 1;
  fault_->excerpt = line_;
  return *fault_;
}

base::Expected<Claim> DimacsReader::Read() {
  std::string_view rest = output_;
  while (!rest.empty() && !fault_) {
    const size_t end = rest.find('\n');
    line_ = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    ++line_number_;
    ReadLine(line_);
  }
  if (!fault_) CheckEnd();
  if (!fault_ && claim_ == Claim::kModel) CheckCoverage();
  if (fault_) return tl::unexpected(*fault_);
  return *claim_;
}

void DimacsReader::ReadLine(std::string_view line) {
  const std::string_view kind = TakeWord(line);
  if (kind.empty() || kind.front() == 'c') return;
  if (kind == "s") {
    line.remove_prefix(std::min(line.find_first_not_of(kGaps), line.size()));
    return ReadStatus(line.substr(0, line.find_last_not_of(kGaps) + 1));
  }
  if (kind != "v") {
    Refuse(kind.data(), "this is no line of a SAT solver").expected =
        "a line that begins with c (comment), s (status) or v (values)";
    return;
  }
  has_values_ = true;
  for (std::string_view word = TakeWord(line); !word.empty() && !fault_; word = TakeWord(line))
    ReadValue(word);
}

void DimacsReader::ReadStatus(std::string_view word) {
  const std::optional<Claim> claim = word == "SATISFIABLE"     ? std::optional(Claim::kModel)
                                     : word == "UNSATISFIABLE" ? std::optional(Claim::kNothingFits)
                                     : word == "UNKNOWN" || word == "INDETERMINATE"
                                         ? std::optional(Claim::kUndecided)
                                         : std::nullopt;
  if (!claim) {
    Refuse(word.data(), "this is no status").expected = "SATISFIABLE, UNSATISFIABLE or UNKNOWN";
  } else if (claim_ && *claim_ != *claim) {
    Refuse(word.data(), "the status contradicts the one above");
  }
  claim_ = claim;
}

void DimacsReader::ReadValue(std::string_view word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc::invalid_argument || end != word.data() + word.size()) {
    Refuse(word.data(), "this is no literal").expected = "a variable's number, or its negative";
    return;
  }
  if (ended_) {
    Refuse(word.data(), "the values have ended with 0 before");
    return;
  }
  if (error != std::errc() || number > record_.VariableCount() ||
      number < -record_.VariableCount()) {
    base::Diagnostic& fault =
        Refuse(word.data(), fmt::format("the formula has no variable {}", word));
    fault.expected = fmt::format("a variable from 1 to {}", record_.VariableCount());
    fault.hint = "this may be the model of another formula";
    return;
  }
  ended_ = number == 0;
  if (ended_) return;
  const formulation::Literal literal(static_cast<int32_t>(number));
  if (record_.IsAssigned(literal.Variable()) && !record_.IsTrue(literal)) {
    Refuse(word.data(), literal == formulation::kFalse
                            ? "variable 1 is true in every formula of `tessera encode`"
                            : fmt::format("the value of variable {} contradicts an earlier one",
                                          literal.Variable()));
    return;
  }
  record_.Assign(literal);
}

void DimacsReader::CheckEnd() {
  const char* const end = line_.data() + line_.size();
  if (!claim_) {
    Refuse(end, "the output ends without a status").expected =
        "a line 's SATISFIABLE' or 's UNSATISFIABLE'";
  } else if (*claim_ == Claim::kModel && !ended_) {
    Refuse(end, has_values_ ? "the values end without 0: the output is truncated"
                            : "the output is satisfiable but gives no values")
        .expected = "lines of v that end in 0";
  } else if (*claim_ != Claim::kModel && has_values_) {
    Refuse(end, "the output gives values although it is not satisfiable");
  }
}

// A variable may be missing only if every clause holds without it.
void DimacsReader::CheckCoverage() {
  for (size_t clause = 0; clause < record_.ClauseCount(); ++clause) {
    formulation::Literal open = formulation::kTrue;
    bool holds = false;
    for (const formulation::Literal literal : record_.ClauseAt(clause)) {
      if (!record_.IsAssigned(literal.Variable()))
        open = literal;
      else
        holds = holds || record_.IsTrue(literal);
    }
    if (holds || open == formulation::kTrue) continue;
    base::Diagnostic& fault =
        Refuse(line_.data() + line_.size(),
               fmt::format("the model gives no value to variable {}", open.Variable()));
    fault.found = fmt::format("nothing about '{}', on which a clause depends",
                              sentences_.Of(formulation::Literal(open.Variable())));
    fault.hint = "the output may be truncated, or the model of another formula";
    return;
  }
}

}  // namespace

base::Expected<Claim> ReadDimacsModel(std::string_view output, std::string_view file,
                                      ClauseRecord& record, const Sentences& sentences) {
  return DimacsReader(output, file, record, sentences).Read();
}

}  // namespace tessera::encoder::exports
