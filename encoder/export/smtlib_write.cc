// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/export/formats.h"

namespace tessera::encoder::exports {

namespace {

// "offset of w / 16": the rank of the number, in bytes.
std::string RankName(const TermRecord::Number& number, const Sentences& sentences) {
  std::string name = sentences.NameOf(number);
  const int64_t unit = number.quantity ? number.quantity->unit : 1;
  const int64_t first = number.domain.first * unit;
  const int64_t step = number.domain.step * unit;
  if (first != 0) name = fmt::format("({} - {})", name, first);
  return step == 1 ? name : fmt::format("{} / {}", name, step);
}

}  // namespace

Symbols::Symbols(const TermRecord& record, const Sentences& sentences)
    : variables_(static_cast<size_t>(record.VariableCount()) + 1) {
  for (size_t i = 0; i < record.Numbers().size(); ++i) {
    const TermRecord::Number& number = record.Numbers()[i];
    integers_.push_back(
        number.domain.count == 1
            ? ""
            : Register(RankName(number, sentences), formulation::Integer{static_cast<int32_t>(i)}));
  }
  for (int32_t variable = formulation::kTrue.Variable() + 1; variable <= record.VariableCount();
       ++variable) {
    if (record.FindBound(variable) != nullptr) continue;
    variables_[static_cast<size_t>(variable)] =
        Register(sentences.Of(formulation::Literal(variable)), formulation::Literal(variable));
  }
}

// A quoted symbol may contain any printable character except | and \.
std::string Symbols::Register(std::string name, Unknown unknown) {
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return c == '|' || c == '\\' || c < 0x20 || c >= 0x7f; }, '?');
  std::string unique = name;
  for (int copy = 2; !unknowns_.try_emplace(unique, unknown).second; ++copy)
    unique = fmt::format("{} ({})", name, copy);
  return fmt::format("|{}|", unique);
}

const Symbols::Unknown* Symbols::Find(std::string_view name) const {
  const auto found = unknowns_.find(name);
  return found == unknowns_.end() ? nullptr : &found->second;
}

std::vector<std::string_view> Symbols::Names() const {
  std::vector<std::string_view> names;
  for (const auto& [name, unknown] : unknowns_) names.push_back(name);
  return names;
}

// Integers are written by their ranks: first + step * rank. Between two integers of one step s,
//
//     f + s * k + d <= g + s * l    is    k + ceil((f + d - g) / s) <= l
//
// because k - l is an integer. The result is a difference, for any alignment. Factors remain only
// if the steps differ.

namespace {

std::string NumberText(int64_t value) {
  return value < 0 ? fmt::format("(- {})", -value) : fmt::format("{}", value);
}

class Writer {
 public:
  Writer(const TermRecord& record, const Symbols& symbols) : record_(record), symbols_(symbols) {}

  std::string Write(std::string_view header, std::string_view sizes);

 private:
  struct Statement;

  void Assert(formulation::Topic topic, const std::string& statement);
  std::string LiteralText(formulation::Literal literal) const;
  std::string ClauseText(std::span<const formulation::Literal> clause) const;
  std::string ConditionText(const TermRecord::Condition& condition) const;
  std::string Sum(formulation::Integer integer, int64_t factor, int64_t constant) const;

  const TermRecord& record_;
  const Symbols& symbols_;
  formulation::TopicCounts asserted_{};
  std::string text_;
};

std::string Writer::LiteralText(formulation::Literal literal) const {
  if (const TermRecord::Bound* bound = record_.FindBound(literal.Variable())) {
    return fmt::format("({} {} {})", literal.Negative() ? "<" : ">=", symbols_.Of(bound->integer),
                       bound->rank);
  }
  const std::string& name = symbols_.OfVariable(literal.Variable());
  return literal.Negative() ? fmt::format("(not {})", name) : name;
}

std::string Writer::ClauseText(std::span<const formulation::Literal> clause) const {
  if (clause.empty()) return "false";
  if (clause.size() == 1) return LiteralText(clause.front());
  std::string text = "(or";
  for (const formulation::Literal literal : clause) text += ' ' + LiteralText(literal);
  return text + ')';
}

// factor * rank + constant. Omits a constant of zero, and the rank of an integer with a single
// value.
std::string Writer::Sum(formulation::Integer integer, int64_t factor, int64_t constant) const {
  const std::string& name = symbols_.Of(integer);
  if (name.empty()) return NumberText(constant);
  const std::string product = factor == 1 ? name : fmt::format("(* {} {})", factor, name);
  return constant == 0 ? product : fmt::format("(+ {} {})", product, NumberText(constant));
}

struct Writer::Statement {
  const Writer& writer;
  const TermRecord& record;

  const formulation::Domain& DomainOf(formulation::Integer integer) const {
    return record.NumberOf(integer).domain;
  }
  std::string Value(formulation::Integer integer) const {
    return writer.Sum(integer, DomainOf(integer).step, DomainOf(integer).first);
  }

  std::string operator()(const TermRecord::Order& order) const {
    const formulation::Domain& low = DomainOf(order.low);
    const formulation::Domain& high = DomainOf(order.high);
    const int64_t constant = low.first + order.distance - high.first;
    const bool alike = low.step == high.step;
    return fmt::format("(<= {} {})",
                       writer.Sum(order.low, alike ? 1 : low.step,
                                  alike ? base::CeilDiv(constant, low.step) : constant),
                       writer.Sum(order.high, alike ? 1 : high.step, 0));
  }
  std::string operator()(const TermRecord::Division& division) const {
    return fmt::format("(= (mod {} {}) {})", Value(division.integer), division.modulus,
                       Value(division.remainder));
  }
  std::string operator()(const TermRecord::Sum& sum) const {
    return fmt::format("(= (+ {} {}) (+ {} {}))", Value(sum.first), Value(sum.second),
                       Value(sum.sum.base), NumberText(sum.sum.shift));
  }
  // Each digit of the mask adds its worth if `first` lacks it, and subtracts it if `first` has it.
  std::string operator()(const TermRecord::Xor& difference) const {
    const std::string first = Value(difference.first);
    if (difference.mask == 0) return fmt::format("(= {} {})", first, Value(difference.second));
    std::string flipped = "(+ " + first;
    for (int64_t worth = 1; worth <= difference.mask; worth *= 2) {
      if ((difference.mask & worth) == 0) continue;
      flipped += fmt::format(" (* {} (- 1 (* 2 (mod (div {} {}) 2))))", worth, first, worth);
    }
    return fmt::format("(= {}) {})", flipped, Value(difference.second));
  }
};

std::string Writer::ConditionText(const TermRecord::Condition& condition) const {
  const std::string statement = std::visit(Statement{*this, record_}, condition.statement);
  return condition.guard == formulation::kTrue
             ? statement
             : fmt::format("(=> {} {})", LiteralText(condition.guard), statement);
}

void Writer::Assert(formulation::Topic topic, const std::string& statement) {
  text_ += fmt::format("(assert (! {} :named {}.{}))\n", statement, formulation::NameOf(topic),
                       ++asserted_[static_cast<size_t>(topic)]);
}

std::string Writer::Write(std::string_view header, std::string_view sizes) {
  text_ = fmt::format("; {}\n;\n", header);
  while (!sizes.empty()) {
    const size_t end = sizes.find('\n');
    text_ += fmt::format("; {}\n", sizes.substr(0, end));
    sizes.remove_prefix(end == std::string_view::npos ? sizes.size() : end + 1);
  }
  text_ += "(set-option :produce-models true)\n(set-logic QF_LIA)\n";
  for (size_t i = 0; i < record_.Numbers().size(); ++i) {
    const std::string& name = symbols_.Of(formulation::Integer{static_cast<int32_t>(i)});
    if (name.empty()) continue;
    text_ += fmt::format("(declare-const {} Int)\n", name);
    Assert(formulation::Topic::kOffsets,
           fmt::format("(<= 0 {} {})", name, record_.Numbers()[i].domain.count - 1));
  }
  for (int32_t variable = 1; variable <= record_.VariableCount(); ++variable) {
    const std::string& name = symbols_.OfVariable(variable);
    if (!name.empty()) text_ += fmt::format("(declare-const {} Bool)\n", name);
  }
  for (size_t topic = 0; topic < formulation::kTopicCount; ++topic) {
    const auto about = static_cast<formulation::Topic>(topic);
    for (size_t clause = 0; clause < record_.ClauseCount(); ++clause)
      if (record_.TopicAt(clause) == about) Assert(about, ClauseText(record_.ClauseAt(clause)));
    for (const TermRecord::Condition& condition : record_.Conditions())
      if (condition.topic == about) Assert(about, ConditionText(condition));
  }
  return text_ + "(check-sat)\n(get-model)\n";
}

}  // namespace

std::string WriteSmtlib(const TermRecord& record, const Symbols& symbols, std::string_view header,
                        std::string_view sizes) {
  return Writer(record, symbols).Write(header, sizes);
}

}  // namespace tessera::encoder::exports
