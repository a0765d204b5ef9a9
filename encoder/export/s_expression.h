#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

namespace tessera::encoder {

// A node of what an SMT solver prints: an atom, or a list in parentheses.
struct SExpression {
  enum class Kind : uint8_t { kSymbol, kString, kList };
  Kind kind = Kind::kSymbol;
  std::string_view text;  // of an atom, without its bars or quotes; points into the input
  std::vector<SExpression> items;
  int line = 1;
  int column = 1;

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool IsList() const { return kind == Kind::kList; }
};

// All expressions of a text in a row, with ; comments between them. Refuses lists, bars and quotes that do not
// end, and lists nested deeper than kDeepestList.
base::Expected<std::vector<SExpression>> ReadSExpressions(std::string_view text, std::string_view file);

inline constexpr size_t kDeepestList = 100;

}  // namespace tessera::encoder
