#include "tessera/base/yaml_number.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace tessera::base {
namespace {

// The text without underscores, which may stand between two digits only.
std::optional<std::string> DropUnderscores(std::string_view text) {
  const auto digit = [&](size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return std::nullopt;
    }
  }
  return plain;
}

// Takes a binary suffix off the end; the factor that it stands for.
int64_t TakeSuffix(std::string_view& text) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kSuffixes = {
      {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}}};
  for (const auto& [suffix, bits] : kSuffixes) {
    if (text.size() <= suffix.size() || text.substr(text.size() - suffix.size()) != suffix) continue;
    text.remove_suffix(suffix.size());
    return int64_t{1} << bits;
  }
  return 1;
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  const std::optional<std::string> plain = DropUnderscores(text);
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  const int64_t factor = TakeSuffix(digits);
  const bool hexadecimal = digits.size() > 2 && digits.substr(0, 2) == "0x";
  if (hexadecimal) digits.remove_prefix(2);
  if (digits.empty() || digits.front() == '-') return std::nullopt;

  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (__builtin_mul_overflow(value, negative ? -factor : factor, &value)) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  const std::optional<std::string> plain = DropUnderscores(text);
  if (!plain) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), value);
  if (error != std::errc() || end != plain->data() + plain->size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace tessera::base
