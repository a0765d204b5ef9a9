#include "tessera/encoder/export/sentences.h"

#include <fmt/format.h>

#include <variant>
#include <vector>

namespace tessera::encoder {
namespace {

std::string Join(const std::vector<std::string>& phrases, std::string_view separator) {
  return fmt::format("{}", fmt::join(phrases, separator));
}

int64_t UnitOf(const TermRecord::Number& number) { return number.quantity ? number.quantity->unit : 1; }

}  // namespace

std::string Sentences::Of(Literal literal) const {
  if (literal == kTrue) return "true";
  if (literal == kFalse) return "false";
  const ClauseRecord::Variable& variable = record_.VariableAt(literal.Variable());
  const bool negated = literal.Negative() != variable.negated;
  const std::string phrase = wording_.Of(variable.meaning, negated);
  const bool is_helper = std::holds_alternative<Helper>(variable.meaning);
  return is_helper ? fmt::format("{} {}", phrase, literal.Variable()) : phrase;
}

// A clause reads as an implication: what it negates are the premises, the rest is the conclusion. With nothing
// left to conclude, the last premise must give way.
std::string Sentences::Of(std::span<const Literal> clause) const {
  if (clause.empty()) return "this cannot hold";
  std::vector<std::string> premises;
  std::vector<std::string> conclusions;
  for (const Literal literal : clause) {
    (literal.Negative() ? premises : conclusions).push_back(Of(literal.Negative() ? ~literal : literal));
  }
  if (conclusions.empty()) {
    for (auto literal = clause.rbegin(); conclusions.empty(); ++literal) {
      if (literal->Negative()) conclusions.push_back(Of(*literal));
    }
    premises.pop_back();
  }
  const std::string conclusion = Join(conclusions, " or ");
  return premises.empty() ? conclusion : fmt::format("if {}, then {}", Join(premises, " and "), conclusion);
}

std::string Sentences::Of(const TermRecord::Number& number) const {
  const std::string name = NameOf(number);
  const int64_t unit = UnitOf(number);
  const int64_t first = number.domain.first * unit;
  const int64_t last = number.domain.Last() * unit;
  const int64_t step = number.domain.step * unit;
  if (number.domain.count == 1) return fmt::format("{} is {}", name, first);
  if (step == 1) return fmt::format("{} is from {} to {}", name, first, last);
  if (first % step == 0) return fmt::format("{} is a multiple of {} from {} to {}", name, step, first, last);
  return fmt::format("{} is {} plus a multiple of {}, up to {}", name, first, step, last);
}

std::string Sentences::NameOf(const TermRecord::Number& number) const {
  return number.quantity ? wording_.Of(*number.quantity) : "helper";
}

// "offset of a + 16 <= offset of b", in bytes.
struct Sentences::Statement {
  const Sentences& sentences;
  const TermRecord& terms;

  std::string Name(Integer integer) const { return sentences.NameOf(terms.NumberOf(integer)); }
  int64_t Unit(Integer integer) const { return UnitOf(terms.NumberOf(integer)); }

  std::string operator()(const TermRecord::Order& order) const {
    const int64_t bytes = order.distance * Unit(order.low);
    return fmt::format("{}{} <= {}{}", Name(order.low), bytes > 0 ? fmt::format(" + {}", bytes) : "",
                       Name(order.high), bytes < 0 ? fmt::format(" + {}", -bytes) : "");
  }
  std::string operator()(const TermRecord::Division& division) const {
    return fmt::format("{} mod {} = {}", Name(division.integer), division.modulus * Unit(division.integer),
                       Name(division.remainder));
  }
  std::string operator()(const TermRecord::Sum& sum) const {
    return fmt::format("{} + {} = {} + {}", Name(sum.first), Name(sum.second), Name(sum.sum.base),
                       sum.sum.shift * Unit(sum.first));
  }
  std::string operator()(const TermRecord::Xor& difference) const {
    return fmt::format("{} XOR {} = {}", Name(difference.first), Name(difference.second),
                       difference.mask * Unit(difference.first));
  }
};

std::string Sentences::Of(const TermRecord& terms, const TermRecord::Condition& condition) const {
  const std::string statement = std::visit(Statement{*this, terms}, condition.statement);
  return condition.guard == kTrue ? statement : fmt::format("if {}: {}", Of(condition.guard), statement);
}

}  // namespace tessera::encoder
