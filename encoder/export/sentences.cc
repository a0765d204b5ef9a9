#include "tessera/encoder/export/sentences.h"

#include <fmt/format.h>

#include <variant>
#include <vector>

namespace tessera::encoder {
namespace {

std::string Join(const std::vector<std::string>& phrases, std::string_view separator) {
  return fmt::format("{}", fmt::join(phrases, separator));
}

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
  const std::string name = wording_.Of(number.quantity);
  const int64_t unit = number.quantity.unit;
  const int64_t first = number.domain.first * unit;
  const int64_t last = number.domain.Last() * unit;
  const int64_t step = number.domain.step * unit;
  if (number.domain.count == 1) return fmt::format("{} is {}", name, first);
  if (step == 1) return fmt::format("{} is from {} to {}", name, first, last);
  if (first % step == 0) return fmt::format("{} is a multiple of {} from {} to {}", name, step, first, last);
  return fmt::format("{} is {} plus a multiple of {}, up to {}", name, first, step, last);
}

std::string Sentences::Of(const TermRecord& terms, const TermRecord::Order& order) const {
  const Quantity& low = terms.NumberOf(order.low).quantity;
  const Quantity& high = terms.NumberOf(order.high).quantity;
  const int64_t bytes = order.distance * low.unit;
  std::string text;
  if (order.guard != kTrue) text = fmt::format("if {}: ", Of(order.guard));
  text += wording_.Of(low);
  if (bytes > 0) text += fmt::format(" + {}", bytes);
  text += fmt::format(" <= {}", wording_.Of(high));
  if (bytes < 0) text += fmt::format(" + {}", -bytes);
  return text;
}

}  // namespace tessera::encoder
