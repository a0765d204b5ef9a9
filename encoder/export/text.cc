// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <variant>
#include <vector>

#include "tessera/encoder/export/formats.h"
#include "tessera/encoder/formulation/meaning.h"

namespace tessera::encoder::exports {

namespace {

std::string Join(const std::vector<std::string>& phrases, std::string_view separator) {
  return fmt::format("{}", fmt::join(phrases, separator));
}

int64_t UnitOf(const TermRecord::Number& number) {
  return number.quantity ? number.quantity->unit : 1;
}

}  // namespace

std::string Sentences::Of(formulation::Literal literal) const {
  if (literal == formulation::kTrue) return "true";
  if (literal == formulation::kFalse) return "false";
  const ClauseRecord::Variable& variable = record_.VariableAt(literal.Variable());
  const bool negated = literal.Negative() != variable.negated;
  const std::string phrase = wording_.Of(variable.meaning, negated);
  const bool is_auxiliary = std::holds_alternative<formulation::Auxiliary>(variable.meaning);
  return is_auxiliary ? fmt::format("{} {}", phrase, literal.Variable()) : phrase;
}

// A clause is printed as an implication: its negative literals are the premises, the rest is the
// conclusion. If the conclusion is empty, the negation of the last premise is the conclusion.
std::string Sentences::Of(std::span<const formulation::Literal> clause) const {
  if (clause.empty()) return "this cannot hold";
  std::vector<std::string> premises;
  std::vector<std::string> conclusions;
  for (const formulation::Literal literal : clause) {
    (literal.Negative() ? premises : conclusions)
        .push_back(Of(literal.Negative() ? ~literal : literal));
  }
  if (conclusions.empty()) {
    for (auto literal = clause.rbegin(); conclusions.empty(); ++literal) {
      if (literal->Negative()) conclusions.push_back(Of(*literal));
    }
    premises.pop_back();
  }
  const std::string conclusion = Join(conclusions, " or ");
  return premises.empty() ? conclusion
                          : fmt::format("if {}, then {}", Join(premises, " and "), conclusion);
}

std::string Sentences::Of(const TermRecord::Number& number) const {
  const std::string name = NameOf(number);
  const int64_t unit = UnitOf(number);
  const int64_t first = number.domain.first * unit;
  const int64_t last = number.domain.Last() * unit;
  const int64_t step = number.domain.step * unit;
  if (number.domain.count == 1) return fmt::format("{} is {}", name, first);
  if (step == 1) return fmt::format("{} is from {} to {}", name, first, last);
  if (first % step == 0)
    return fmt::format("{} is a multiple of {} from {} to {}", name, step, first, last);
  return fmt::format("{} is {} plus a multiple of {}, up to {}", name, first, step, last);
}

std::string Sentences::NameOf(const TermRecord::Number& number) const {
  return number.quantity ? wording_.Of(*number.quantity) : "auxiliary";
}

// "offset of a + 16 <= offset of b", in bytes.
struct Sentences::Statement {
  const Sentences& sentences;
  const TermRecord& terms;

  std::string Name(formulation::Integer integer) const {
    return sentences.NameOf(terms.NumberOf(integer));
  }
  int64_t Unit(formulation::Integer integer) const { return UnitOf(terms.NumberOf(integer)); }

  std::string operator()(const TermRecord::Order& order) const {
    const int64_t bytes = order.distance * Unit(order.low);
    return fmt::format("{}{} <= {}{}", Name(order.low),
                       bytes > 0 ? fmt::format(" + {}", bytes) : "", Name(order.high),
                       bytes < 0 ? fmt::format(" + {}", -bytes) : "");
  }
  std::string operator()(const TermRecord::Division& division) const {
    return fmt::format("{} mod {} = {}", Name(division.integer),
                       division.modulus * Unit(division.integer), Name(division.remainder));
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
  return condition.guard == formulation::kTrue
             ? statement
             : fmt::format("if {}: {}", Of(condition.guard), statement);
}

std::string TabulateSizes(const formulation::TopicCounts& variables,
                          const formulation::TopicCounts& counts, std::string_view conditions) {
  const auto row = [](std::string_view topic, const auto& first, const auto& second) {
    return fmt::format("{:<10}{:>12}{:>12}\n", topic, first, second);
  };
  std::string table = row("topic", "variables", conditions);
  int64_t all_variables = 0;
  int64_t all_counts = 0;
  for (size_t topic = 0; topic < formulation::kTopicCount; ++topic) {
    if (variables[topic] == 0 && counts[topic] == 0) continue;
    table += row(NameOf(static_cast<formulation::Topic>(topic)), variables[topic], counts[topic]);
    all_variables += variables[topic];
    all_counts += counts[topic];
  }
  return table + row("total", all_variables, all_counts);
}

namespace {

std::vector<std::string> LinesAbout(formulation::Topic topic, const TermRecord& record,
                                    const Sentences& sentences) {
  std::vector<std::string> lines;
  if (topic == formulation::Topic::kOffsets) {
    for (const TermRecord::Number& number : record.Numbers()) lines.push_back(sentences.Of(number));
  }
  for (size_t clause = 0; clause < record.ClauseCount(); ++clause)
    if (record.TopicAt(clause) == topic) lines.push_back(sentences.Of(record.ClauseAt(clause)));
  for (const TermRecord::Condition& condition : record.Conditions())
    if (condition.topic == topic) lines.push_back(sentences.Of(record, condition));
  return lines;
}

}  // namespace

std::string WriteText(const TermRecord& record, const Sentences& sentences) {
  std::string text;
  for (size_t index = 0; index < formulation::kTopicCount; ++index) {
    const auto topic = static_cast<formulation::Topic>(index);
    const std::vector<std::string> lines = LinesAbout(topic, record, sentences);
    if (lines.empty()) continue;
    text += fmt::format("{}: {}\n", NameOf(topic), formulation::SentenceOf(topic));
    for (size_t i = 0; i < lines.size(); ++i) text += fmt::format("  {:>4}  {}\n", i + 1, lines[i]);
    text += '\n';
  }
  return text;
}

}  // namespace tessera::encoder::exports
