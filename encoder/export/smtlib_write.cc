#include <fmt/format.h>

#include <array>

#include "tessera/base/checked.h"
#include "tessera/encoder/export/smtlib.h"

// Integers are written by their ranks: first + step * rank. Between two integers of one step s,
//
//     f + s * k + d <= g + s * l    is    k + ceil((f + d - g) / s) <= l
//
// because k - l is an integer: a difference, whatever the alignment. Only where steps differ do factors remain.
namespace tessera::encoder {
namespace {

std::string NumberText(int64_t value) {
  return value < 0 ? fmt::format("(- {})", -value) : fmt::format("{}", value);
}

class Writer {
 public:
  Writer(const TermRecord& record, const Symbols& symbols) : record_(record), symbols_(symbols) {}

  std::string Write(std::string_view header, std::string_view sizes);

 private:
  void Assert(Topic topic, const std::string& statement);
  std::string LiteralText(Literal literal) const;
  std::string ClauseText(std::span<const Literal> clause) const;
  std::string OrderText(const TermRecord::Order& order) const;
  std::string Sum(Integer integer, int64_t factor, int64_t constant) const;

  const TermRecord& record_;
  const Symbols& symbols_;
  TopicCounts asserted_{};
  std::string text_;
};

std::string Writer::LiteralText(Literal literal) const {
  if (const TermRecord::Bound* bound = record_.FindBound(literal.Variable())) {
    return fmt::format("({} {} {})", literal.Negative() ? "<" : ">=", symbols_.Of(bound->integer),
                       bound->rank);
  }
  const std::string& name = symbols_.OfVariable(literal.Variable());
  return literal.Negative() ? fmt::format("(not {})", name) : name;
}

std::string Writer::ClauseText(std::span<const Literal> clause) const {
  if (clause.empty()) return "false";
  if (clause.size() == 1) return LiteralText(clause.front());
  std::string text = "(or";
  for (const Literal literal : clause) text += ' ' + LiteralText(literal);
  return text + ')';
}

// factor * rank + constant; a constant of zero and the rank of a single value are left out.
std::string Writer::Sum(Integer integer, int64_t factor, int64_t constant) const {
  const std::string& name = symbols_.Of(integer);
  if (name.empty()) return NumberText(constant);
  const std::string product = factor == 1 ? name : fmt::format("(* {} {})", factor, name);
  return constant == 0 ? product : fmt::format("(+ {} {})", product, NumberText(constant));
}

std::string Writer::OrderText(const TermRecord::Order& order) const {
  const Domain& low = record_.NumberOf(order.low).domain;
  const Domain& high = record_.NumberOf(order.high).domain;
  int64_t constant = low.first + order.distance - high.first;
  int64_t low_step = low.step;
  int64_t high_step = high.step;
  if (low_step == high_step) {
    constant = base::CeilDiv(constant, low_step);
    low_step = high_step = 1;
  }
  const std::string statement =
      fmt::format("(<= {} {})", Sum(order.low, low_step, constant), Sum(order.high, high_step, 0));
  return order.guard == kTrue ? statement : fmt::format("(=> {} {})", LiteralText(order.guard), statement);
}

void Writer::Assert(Topic topic, const std::string& statement) {
  text_ += fmt::format("(assert (! {} :named {}.{}))\n", statement, NameOf(topic),
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
    const std::string& name = symbols_.Of(Integer{static_cast<int32_t>(i)});
    if (name.empty()) continue;
    text_ += fmt::format("(declare-const {} Int)\n", name);
    Assert(Topic::kOffsets, fmt::format("(<= 0 {} {})", name, record_.Numbers()[i].domain.count - 1));
  }
  for (int32_t variable = 1; variable <= record_.VariableCount(); ++variable) {
    const std::string& name = symbols_.OfVariable(variable);
    if (!name.empty()) text_ += fmt::format("(declare-const {} Bool)\n", name);
  }
  for (size_t topic = 0; topic < kTopicCount; ++topic) {
    const auto about = static_cast<Topic>(topic);
    for (size_t clause = 0; clause < record_.ClauseCount(); ++clause)
      if (record_.TopicAt(clause) == about) Assert(about, ClauseText(record_.ClauseAt(clause)));
    for (const TermRecord::Order& order : record_.Orders())
      if (order.topic == about) Assert(about, OrderText(order));
  }
  return text_ + "(check-sat)\n(get-model)\n";
}

}  // namespace

std::string WriteSmtlib(const TermRecord& record, const Symbols& symbols, std::string_view header,
                        std::string_view sizes) {
  return Writer(record, symbols).Write(header, sizes);
}

}  // namespace tessera::encoder
