// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tessera/base/text.h"
#include "tessera/encoder/export/formats.h"

namespace tessera::encoder::exports {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEndsOfAtoms = " \t\r\n()|\";";

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  base::Expected<std::vector<SExpression>> Parse();

 private:
  bool SkipBlanks();
  void Advance(size_t count);
  SExpression TakeAtom();
  bool TakeQuoted(SExpression& atom, char quote);
  base::Unexpected Refuse(int line, int column, std::string message) const;

  std::string_view text_;
  std::string_view file_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
};

void Parser::Advance(size_t count) {
  for (; count > 0; --count, ++position_) {
    ++column_;
    if (text_[position_] != '\n') continue;
    ++line_;
    column_ = 1;
  }
}

// False at the end of the text.
bool Parser::SkipBlanks() {
  while (position_ < text_.size()) {
    if (text_[position_] == ';') {
      Advance(std::min(text_.find('\n', position_), text_.size()) - position_);
    } else if (kBlanks.find(text_[position_]) != std::string_view::npos) {
      Advance(1);
    } else {
      return true;
    }
  }
  return false;
}

// A quote inside "..." is doubled; the text of a string is kept unchanged.
bool Parser::TakeQuoted(SExpression& atom, char quote) {
  size_t end = text_.find(quote, position_ + 1);
  while (quote == '"' && end != std::string_view::npos && text_.substr(end + 1, 1) == "\"")
    end = text_.find(quote, end + 2);
  if (end == std::string_view::npos) return false;
  atom.text = text_.substr(position_ + 1, end - position_ - 1);
  Advance(end + 1 - position_);
  return true;
}

SExpression Parser::TakeAtom() {
  SExpression atom;
  atom.line = line_;
  atom.column = column_;
  const size_t end = std::min(text_.find_first_of(kEndsOfAtoms, position_), text_.size());
  atom.text = text_.substr(position_, end - position_);
  Advance(atom.text.size());
  return atom;
}

base::Unexpected Parser::Refuse(int line, int column, std::string message) const {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.file = file_;
  fault.line = line;
  fault.column = column;
  fault.excerpt = base::LineOf(text_, line);
  return base::Unexpected(std::move(fault));
}

base::Expected<std::vector<SExpression>> Parser::Parse() {
  std::vector<SExpression> open(1);  // lists that are open; the first is the whole text
  while (SkipBlanks()) {
    const char next = text_[position_];
    if (next == '(') {
      if (open.size() > kDeepestList)
        return Refuse(line_, column_, "the lists are nested too deeply");
      SExpression& list = open.emplace_back();
      list.kind = SExpression::Kind::kList;
      list.line = line_;
      list.column = column_;
      Advance(1);
    } else if (next == ')') {
      if (open.size() == 1) return Refuse(line_, column_, "')' closes nothing");
      Advance(1);
      SExpression list = std::move(open.back());
      open.pop_back();
      open.back().items.push_back(std::move(list));
    } else if (next == '|' || next == '"') {
      SExpression atom;
      atom.kind = next == '|' ? SExpression::Kind::kSymbol : SExpression::Kind::kString;
      atom.line = line_;
      atom.column = column_;
      if (!TakeQuoted(atom, next))
        return Refuse(line_, column_, std::string(1, next) + " is never closed");
      open.back().items.push_back(atom);
    } else {
      open.back().items.push_back(TakeAtom());
    }
  }
  if (open.size() > 1)
    return Refuse(open.back().line, open.back().column,
                  "'(' is never closed: the output is truncated");
  return std::move(open.front().items);
}

}  // namespace

base::Expected<std::vector<SExpression>> ReadSExpressions(std::string_view text,
                                                          std::string_view file) {
  return Parser(text, file).Parse();
}

namespace {

using Claim = Decoded::Claim;

// "7" or "(- 7)"; nullopt for anything else, and beyond 64 bits.
std::optional<int64_t> IntegerOf(const SExpression& value) {
  if (value.IsList()) {
    if (value.items.size() != 2 || !value.items[0].Is("-")) return std::nullopt;
    const std::optional<int64_t> number = IntegerOf(value.items[1]);
    return number ? std::optional(-*number) : std::nullopt;
  }
  int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (value.text.empty() || error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

std::optional<bool> TruthOf(const SExpression& value) {
  if (value.Is("true")) return true;
  if (value.Is("false")) return false;
  return std::nullopt;
}

class SmtlibReader {
 public:
  SmtlibReader(std::string_view output, std::string_view file, TermRecord& record,
               const Symbols& symbols)
      : output_(output), file_(file), record_(record), symbols_(symbols) {}

  base::Expected<Claim> Read();

 private:
  void ReadStatus(const SExpression& answer);
  void ReadModel(const SExpression& answer);
  void ReadBinding(const SExpression& binding);
  void Bind(const SExpression& name, const SExpression& value);
  void BindTruth(const SExpression& name, const SExpression& value, formulation::Literal variable);
  void BindRank(const SExpression& name, const SExpression& value, formulation::Integer integer);
  void CheckCoverage();
  base::Diagnostic& Refuse(const SExpression& place, std::string message);

  std::string_view output_;
  std::string_view file_;
  TermRecord& record_;
  const Symbols& symbols_;
  std::optional<Claim> claim_;
  std::optional<base::Diagnostic> fault_;
};

// Keeps the first error.
base::Diagnostic& SmtlibReader::Refuse(const SExpression& place, std::string message) {
  if (fault_) return *fault_;
  fault_ = base::Diagnostic{};
  fault_->message = std::move(message);
  fault_->file = file_;
  fault_->line = place.line;
  fault_->column = place.column;
  fault_->excerpt = base::LineOf(output_, place.line);
  return *fault_;
}

base::Expected<Claim> SmtlibReader::Read() {
  const base::Expected<std::vector<SExpression>> answers = ReadSExpressions(output_, file_);
  if (!answers) return tl::unexpected(answers.error());
  for (const SExpression& answer : *answers) {
    if (fault_) break;
    if (!answer.IsList())
      ReadStatus(answer);
    else if (claim_ == Claim::kModel)
      ReadModel(answer);
    // After unsat and unknown there is no model. Solvers report this with an (error ...).
    else if (answer.items.empty() || !answer.items[0].Is("error"))
      Refuse(answer, "a model without 'sat' before it");
  }
  if (!fault_ && !claim_) {
    Refuse(SExpression{}, "the output holds no answer").expected = "sat, unsat or unknown";
  }
  if (!fault_ && claim_ == Claim::kModel) CheckCoverage();
  if (fault_) return tl::unexpected(*fault_);
  return *claim_;
}

void SmtlibReader::ReadStatus(const SExpression& answer) {
  if (answer.Is("success") || answer.kind == SExpression::Kind::kString) return;
  const std::optional<Claim> claim = answer.Is("sat")       ? std::optional(Claim::kModel)
                                     : answer.Is("unsat")   ? std::optional(Claim::kNothingFits)
                                     : answer.Is("unknown") ? std::optional(Claim::kUndecided)
                                                            : std::nullopt;
  if (!claim) {
    base::Diagnostic& fault = Refuse(answer, "this is no answer of an SMT solver");
    fault.expected = "sat, unsat, unknown, or a model in parentheses";
    fault.found = answer.text;
  } else if (claim_ && *claim_ != *claim) {
    Refuse(answer, "the answer contradicts the one above");
  }
  claim_ = claim;
}

void SmtlibReader::ReadModel(const SExpression& answer) {
  for (const SExpression& binding : answer.items) {
    if (binding.Is("model") && &binding == &answer.items.front()) continue;  // before SMT-LIB 2.6
    if (answer.items.front().Is("error")) {
      Refuse(answer, "the solver reports an error instead of a model");
      return;
    }
    ReadBinding(binding);
  }
}

// (name value), or (define-fun name () Sort value).
void SmtlibReader::ReadBinding(const SExpression& binding) {
  const std::vector<SExpression>& items = binding.items;
  if (items.size() == 2 && !items[0].IsList()) return Bind(items[0], items[1]);
  const bool defines =
      items.size() == 5 && items[0].Is("define-fun") && items[2].IsList() && items[2].items.empty();
  if (defines) return Bind(items[1], items[4]);
  Refuse(binding, "this gives no variable a value").expected =
      "(define-fun NAME () SORT VALUE), or (NAME VALUE)";
}

void SmtlibReader::Bind(const SExpression& name, const SExpression& value) {
  const Symbols::Unknown* unknown = symbols_.Find(name.text);
  if (unknown == nullptr) {
    base::Diagnostic& fault =
        Refuse(name, fmt::format("the formula has no variable '{}'", name.text));
    fault.hint = base::DidYouMean(name.text, symbols_.Names());
    if (fault.hint.empty()) fault.hint = "this may be the model of another formula";
    return;
  }
  if (const formulation::Literal* variable = std::get_if<formulation::Literal>(unknown))
    return BindTruth(name, value, *variable);
  BindRank(name, value, std::get<formulation::Integer>(*unknown));
}

void SmtlibReader::BindTruth(const SExpression& name, const SExpression& value,
                             formulation::Literal variable) {
  const std::optional<bool> truth = TruthOf(value);
  if (!truth) {
    Refuse(value, fmt::format("'{}' is a truth", name.text)).expected = "true or false";
    return;
  }
  const formulation::Literal literal = *truth ? variable : ~variable;
  if (record_.IsAssigned(variable.Variable()) && !record_.IsTrue(literal)) {
    Refuse(name, fmt::format("the value of '{}' contradicts an earlier one", name.text));
    return;
  }
  record_.Assign(literal);
}

void SmtlibReader::BindRank(const SExpression& name, const SExpression& value,
                            formulation::Integer integer) {
  const std::optional<int64_t> rank = IntegerOf(value);
  const TermRecord::Number& number = record_.NumberOf(integer);
  if (!rank) {
    Refuse(value, fmt::format("'{}' is an integer", name.text)).expected =
        "a number like 7 or (- 7)";
  } else if (*rank < 0 || *rank >= number.domain.count) {
    base::Diagnostic& fault = Refuse(value, fmt::format("'{}' has no such value", name.text));
    fault.expected = fmt::format("0 to {}", number.domain.count - 1);
    fault.found = fmt::format("{}", *rank);
  } else if (number.rank && *number.rank != *rank) {
    Refuse(name, fmt::format("the value of '{}' contradicts an earlier one", name.text));
  } else {
    record_.AssignRank(integer, *rank);
  }
}

void SmtlibReader::CheckCoverage() {
  for (const std::string_view name : symbols_.Names()) {
    const Symbols::Unknown& unknown = *symbols_.Find(name);
    const formulation::Literal* variable = std::get_if<formulation::Literal>(&unknown);
    const bool known =
        variable != nullptr
            ? record_.IsAssigned(variable->Variable())
            : record_.NumberOf(std::get<formulation::Integer>(unknown)).rank.has_value();
    if (known) continue;
    SExpression end;
    end.line = static_cast<int>(std::count(output_.begin(), output_.end(), '\n')) + 1;
    Refuse(end, fmt::format("the model gives no value to '{}'", name)).hint =
        "ask the solver with (get-model); the output may be truncated, or the model of another "
        "formula";
    return;
  }
}

}  // namespace

base::Expected<Claim> ReadSmtlibModel(std::string_view output, std::string_view file,
                                      TermRecord& record, const Symbols& symbols) {
  return SmtlibReader(output, file, record, symbols).Read();
}

}  // namespace tessera::encoder::exports
