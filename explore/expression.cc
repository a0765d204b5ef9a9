// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::explore {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 0 times infinity is 0: the infinite end is a number without a limit, not a value.
double Times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

template <typename Operate>
NumberInterval HullOf(const NumberInterval& a, const NumberInterval& b, Operate operate) {
  const std::array<double, 4> ends = {operate(a.low, b.low), operate(a.low, b.high),
                                      operate(a.high, b.low), operate(a.high, b.high)};
  if (std::any_of(ends.begin(), ends.end(), [](double end) { return std::isnan(end); }))
    return {-kInfinity, kInfinity};
  return {*std::min_element(ends.begin(), ends.end()), *std::max_element(ends.begin(), ends.end())};
}

NumberInterval Truth(bool surely, bool possibly) {
  return {surely ? 1.0 : 0.0, possibly ? 1.0 : 0.0};
}

bool IsSurely(const NumberInterval& a) { return a.low > 0 || a.high < 0; }
bool IsPossibly(const NumberInterval& a) { return a.low != 0 || a.high != 0; }

NumberInterval Divide(const NumberInterval& a, const NumberInterval& b) {
  if (b.low <= 0 && b.high >= 0) {
    // The quotient has a bound only if 0 is the lower end of the divisor and the dividend is not
    // negative.
    if (b.low == 0 && b.high > 0 && a.low >= 0)
      return {std::isinf(b.high) ? 0 : a.low / b.high, kInfinity};
    return {-kInfinity, kInfinity};
  }
  return HullOf(a, b, [](double x, double y) { return std::isinf(y) ? 0 : x / y; });
}

NumberInterval Raise(const NumberInterval& a, const NumberInterval& b) {
  if (a.low < 0 && !(a.IsPoint() && b.IsPoint())) return {-kInfinity, kInfinity};
  return HullOf(a, b, [](double x, double y) { return std::pow(x, y); });
}

template <typename Apply>
NumberInterval Monotone(const NumberInterval& a, Apply apply) {
  // Replaces a NaN at one end, if the other end is a number.
  return {std::fmax(apply(a.low), -kInfinity), std::fmin(apply(a.high), kInfinity)};
}

}  // namespace

NumberInterval Combine(Operation operation, const NumberInterval& a, const NumberInterval& b) {
  switch (operation) {
    case Operation::kOr:
      return Truth(IsSurely(a) || IsSurely(b), IsPossibly(a) || IsPossibly(b));
    case Operation::kAnd:
      return Truth(IsSurely(a) && IsSurely(b), IsPossibly(a) && IsPossibly(b));
    case Operation::kLess:
      return Truth(a.high < b.low, a.low < b.high);
    case Operation::kLessOrEqual:
      return Truth(a.high <= b.low, a.low <= b.high);
    case Operation::kEqual:
      return Truth(a.IsPoint() && b.IsPoint() && a.low == b.low,
                   a.low <= b.high && b.low <= a.high);
    case Operation::kNotEqual:
      return Truth(a.high < b.low || b.high < a.low,
                   !(a.IsPoint() && b.IsPoint() && a.low == b.low));
    case Operation::kAdd:
      return {a.low + b.low, a.high + b.high};
    case Operation::kSubtract:
      return {a.low - b.high, a.high - b.low};
    case Operation::kMultiply:
      return HullOf(a, b, Times);
    case Operation::kDivide:
      return Divide(a, b);
    case Operation::kPower:
      return Raise(a, b);
    case Operation::kMinimum:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Operation::kMaximum:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    default:
      return a;
  }
}

NumberInterval Apply(Operation operation, const NumberInterval& a) {
  switch (operation) {
    case Operation::kNot:
      return Truth(!IsPossibly(a), !IsSurely(a));
    case Operation::kNegate:
      return {-a.high, -a.low};
    case Operation::kCeil:
      return Monotone(a, [](double x) { return std::ceil(x); });
    case Operation::kFloor:
      return Monotone(a, [](double x) { return std::floor(x); });
    case Operation::kLog2:
      return Monotone(a, [](double x) { return std::log2(x); });
    case Operation::kSqrt:
      return Monotone(a, [](double x) { return std::sqrt(x); });
    default:
      return a;
  }
}

// A recursive descent parser. Values are computed node by node, with interval arithmetic.

struct Expression::Node {
  Operation operation = Operation::kNumber;
  double number = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace {

using Node = Expression::Node;
using NodePointer = std::shared_ptr<const Node>;

struct Function {
  std::string_view name;
  Operation operation;
  bool takes_many;
};

constexpr std::array<Function, 6> kFunctions = {{{"min", Operation::kMinimum, true},
                                                 {"max", Operation::kMaximum, true},
                                                 {"ceil", Operation::kCeil, false},
                                                 {"floor", Operation::kFloor, false},
                                                 {"log2", Operation::kLog2, false},
                                                 {"sqrt", Operation::kSqrt, false}}};

bool IsNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool IsNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NodePointer Parse() {
    NodePointer root = Or();
    if (!fault_ && at_ < text_.size()) Complain("an operator");
    return root;
  }

  const std::optional<base::Diagnostic>& Fault() const { return fault_; }
  std::set<std::string> TakeNames() { return std::move(names_); }

 private:
  static constexpr int kDeepest = 100;
  static constexpr int kMostOperations = 1000;  // they may nest: "1 + 1 + 1" does

  NodePointer Make(Operation operation, std::vector<NodePointer> operands) {
    if (!fault_ && ++operations_ > kMostOperations)
      Complain("at most " + std::to_string(kMostOperations) + " operations");
    return std::make_shared<const Node>(Node{operation, 0, {}, std::move(operands)});
  }

  void Skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  NodePointer Complain(std::string expected) {
    if (!fault_) {
      fault_.emplace();
      fault_->message = "the expression cannot be read";
      fault_->column = static_cast<int>(at_) + 1;
      fault_->expected = std::move(expected);
      fault_->found = at_ < text_.size() ? std::string(text_.substr(at_)) : "the end";
    }
    at_ = text_.size();
    return std::make_shared<const Node>();
  }

  bool TakeSign(std::string_view sign) {
    Skip();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  bool TakeWord(std::string_view word) {
    Skip();
    const size_t end = at_ + word.size();
    if (!text_.substr(at_).starts_with(word) || (end < text_.size() && IsNamePart(text_[end])))
      return false;
    at_ = end;
    return true;
  }

  NodePointer Or() {
    NodePointer left = And();
    while (TakeWord("or")) left = Make(Operation::kOr, {left, And()});
    return left;
  }

  NodePointer And() {
    NodePointer left = Not();
    while (TakeWord("and")) left = Make(Operation::kAnd, {left, Not()});
    return left;
  }

  NodePointer Not() {
    int negations = 0;
    while (TakeWord("not")) ++negations;
    NodePointer operand = Comparison();
    for (; negations > 0 && !fault_; --negations) operand = Make(Operation::kNot, {operand});
    return operand;
  }

  NodePointer Comparison() {
    NodePointer left = Sum();
    if (TakeSign("<=")) return Make(Operation::kLessOrEqual, {left, Sum()});
    if (TakeSign("<")) return Make(Operation::kLess, {left, Sum()});
    if (TakeSign("==")) return Make(Operation::kEqual, {left, Sum()});
    if (TakeSign("!=")) return Make(Operation::kNotEqual, {left, Sum()});
    if (TakeSign(">=")) return Make(Operation::kLessOrEqual, {Sum(), left});
    if (TakeSign(">")) return Make(Operation::kLess, {Sum(), left});
    return left;
  }

  NodePointer Sum() {
    NodePointer left = Product();
    while (true) {
      if (TakeSign("+")) {
        left = Make(Operation::kAdd, {left, Product()});
      } else if (TakeSign("-")) {
        left = Make(Operation::kSubtract, {left, Product()});
      } else {
        return left;
      }
    }
  }

  NodePointer Product() {
    NodePointer left = Negation();
    while (true) {
      if (TakeSign("*")) {
        left = Make(Operation::kMultiply, {left, Negation()});
      } else if (TakeSign("/")) {
        left = Make(Operation::kDivide, {left, Negation()});
      } else {
        return left;
      }
    }
  }

  NodePointer Negation() {
    if (++depth_ > kDeepest) return Complain("at most 100 levels");
    NodePointer operand = TakeSign("-") ? Make(Operation::kNegate, {Negation()}) : RaisedTerm();
    --depth_;
    return operand;
  }

  NodePointer RaisedTerm() {
    const NodePointer base = Term();
    return TakeSign("^") ? Make(Operation::kPower, {base, Negation()}) : base;
  }

  NodePointer Term() {
    if (TakeSign("(")) {
      const NodePointer inner = Or();
      return fault_ || TakeSign(")") ? inner : Complain("')'");
    }
    Skip();
    if (at_ >= text_.size()) return Complain("a number, a name or '('");
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')
      return Number();
    return IsNameStart(text_[at_]) ? Name() : Complain("a number, a name or '('");
  }

  NodePointer Number() {
    size_t end = at_;
    while (end < text_.size() &&
           (IsNamePart(text_[end]) || text_[end] == '.' ||
            ((text_[end] == '+' || text_[end] == '-') && (text_[end - 1] == 'e'))))
      ++end;
    const std::optional<double> value = ParseQuantity(text_.substr(at_, end - at_));
    if (!value) return Complain("a number, as 12, 0.5, 2e9 or 128Ki");
    at_ = end;
    return std::make_shared<const Node>(Node{Operation::kNumber, *value, {}, {}});
  }

  // A dot or a star belongs to the name if the name continues after it: "operators.*.unroll".
  NodePointer Name() {
    size_t end = at_;
    while (end < text_.size()) {
      const bool is_inner_dot =
          text_[end] == '.' && end + 1 < text_.size() && IsNamePart(text_[end + 1]);
      if (text_.substr(end).starts_with(".*.")) {
        end += 3;
      } else if (IsNamePart(text_[end]) || is_inner_dot) {
        ++end;
      } else {
        break;
      }
    }
    const std::string name(text_.substr(at_, end - at_));
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                       [&](const Function& each) { return each.name == name; });
    at_ = end;
    if (function != kFunctions.end() && TakeSign("(")) return Call(*function);
    names_.insert(name);
    return std::make_shared<const Node>(Node{Operation::kName, 0, name, {}});
  }

  NodePointer Call(const Function& function) {
    std::vector<NodePointer> arguments = {Or()};
    while (!fault_ && function.takes_many && TakeSign(",")) arguments.push_back(Or());
    if (!fault_ && !TakeSign(")")) return Complain(function.takes_many ? "',' or ')'" : "')'");
    return Make(function.operation, std::move(arguments));
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int operations_ = 0;
  std::set<std::string> names_;
  std::optional<base::Diagnostic> fault_;
};

NumberInterval Value(const Node& node, const Names& names, std::string& unknown) {
  if (node.operation == Operation::kNumber) return NumberInterval::Of(node.number);
  if (node.operation == Operation::kName) {
    const std::optional<NumberInterval> value = names(node.name);
    if (!value && unknown.empty()) unknown = node.name;
    return value.value_or(NumberInterval{});
  }
  NumberInterval value = Apply(node.operation, Value(*node.operands.front(), names, unknown));
  for (size_t i = 1; i < node.operands.size(); ++i)
    value = Combine(node.operation, value, Value(*node.operands[i], names, unknown));
  return value;
}

}  // namespace

base::Expected<Expression> Expression::Parse(std::string_view text) {
  Parser parser(text);
  Expression expression;
  expression.text_ = text;
  expression.root_ = parser.Parse();
  if (parser.Fault()) return base::Unexpected(*parser.Fault());
  expression.names_ = parser.TakeNames();
  return expression;
}

base::Expected<NumberInterval> Expression::Evaluate(const Names& names) const {
  std::string unknown;
  const NumberInterval value = Value(*root_, names, unknown);
  if (unknown.empty()) return value;
  base::Diagnostic fault;
  fault.message = "the expression '" + text_ + "' names '" + unknown + "', which has no number";
  return base::Unexpected(fault);
}

std::optional<double> ParseQuantity(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kSuffixes = {"Ki", "Mi", "Gi", "Ti"};
  double factor = 1;
  for (size_t i = 0; i < kSuffixes.size(); ++i) {
    if (!text.ends_with(kSuffixes[i])) continue;
    factor = std::pow(1024.0, static_cast<double>(i + 1));
    text.remove_suffix(2);
    break;
  }
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits),
               [](char c) { return c != '_'; });
  if (digits.empty() || std::isalpha(static_cast<unsigned char>(digits.front())) != 0)
    return std::nullopt;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value * factor)) return std::nullopt;
  return value * factor;
}

}  // namespace tessera::explore
