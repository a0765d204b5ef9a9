#include "tessera/encoder/export/symbols.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::encoder {
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
    integers_.push_back(number.domain.count == 1
                            ? ""
                            : Register(RankName(number, sentences), Integer{static_cast<int32_t>(i)}));
  }
  for (int32_t variable = kTrue.Variable() + 1; variable <= record.VariableCount(); ++variable) {
    if (record.FindBound(variable) != nullptr) continue;
    variables_[static_cast<size_t>(variable)] = Register(sentences.Of(Literal(variable)), Literal(variable));
  }
}

// A quoted symbol holds any printable character but | and \.
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

}  // namespace tessera::encoder
