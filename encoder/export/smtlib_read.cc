#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "tessera/base/suggest.h"
#include "tessera/encoder/export/s_expression.h"
#include "tessera/encoder/export/smtlib.h"

namespace tessera::encoder {
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
  SmtlibReader(std::string_view output, std::string_view file, TermRecord& record, const Symbols& symbols)
      : output_(output), file_(file), record_(record), symbols_(symbols) {}

  base::Expected<Claim> Read();

 private:
  void ReadStatus(const SExpression& answer);
  void ReadModel(const SExpression& answer);
  void ReadBinding(const SExpression& binding);
  void Bind(const SExpression& name, const SExpression& value);
  void BindTruth(const SExpression& name, const SExpression& value, Literal variable);
  void BindRank(const SExpression& name, const SExpression& value, Integer integer);
  void CheckCoverage();
  base::Diagnostic& Refuse(const SExpression& place, std::string message);

  std::string_view output_;
  std::string_view file_;
  TermRecord& record_;
  const Symbols& symbols_;
  std::optional<Claim> claim_;
  std::optional<base::Diagnostic> fault_;
};

// Keeps the first fault.
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
    // After unsat and unknown there is no model, and solvers say so with an (error ...) of their own.
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
    base::Diagnostic& fault = Refuse(name, fmt::format("the formula has no variable '{}'", name.text));
    fault.hint = base::DidYouMean(name.text, symbols_.Names());
    if (fault.hint.empty()) fault.hint = "this may be the model of another formula";
    return;
  }
  if (const Literal* variable = std::get_if<Literal>(unknown)) return BindTruth(name, value, *variable);
  BindRank(name, value, std::get<Integer>(*unknown));
}

void SmtlibReader::BindTruth(const SExpression& name, const SExpression& value, Literal variable) {
  const std::optional<bool> truth = TruthOf(value);
  if (!truth) {
    Refuse(value, fmt::format("'{}' is a truth", name.text)).expected = "true or false";
    return;
  }
  const Literal literal = *truth ? variable : ~variable;
  if (record_.IsAssigned(variable.Variable()) && !record_.IsTrue(literal)) {
    Refuse(name, fmt::format("the value of '{}' contradicts an earlier one", name.text));
    return;
  }
  record_.Assign(literal);
}

void SmtlibReader::BindRank(const SExpression& name, const SExpression& value, Integer integer) {
  const std::optional<int64_t> rank = IntegerOf(value);
  const TermRecord::Number& number = record_.NumberOf(integer);
  if (!rank) {
    Refuse(value, fmt::format("'{}' is an integer", name.text)).expected = "a number like 7 or (- 7)";
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
    const Literal* variable = std::get_if<Literal>(&unknown);
    const bool known = variable != nullptr ? record_.IsAssigned(variable->Variable())
                                           : record_.NumberOf(std::get<Integer>(unknown)).rank.has_value();
    if (known) continue;
    SExpression end;
    end.line = static_cast<int>(std::count(output_.begin(), output_.end(), '\n')) + 1;
    Refuse(end, fmt::format("the model gives no value to '{}'", name)).hint =
        "ask the solver with (get-model); the output may be truncated, or the model of another formula";
    return;
  }
}

}  // namespace

base::Expected<Claim> ReadSmtlibModel(std::string_view output, std::string_view file, TermRecord& record,
                                      const Symbols& symbols) {
  return SmtlibReader(output, file, record, symbols).Read();
}

}  // namespace tessera::encoder
