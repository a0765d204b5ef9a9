#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/encoder/export/sentences.h"
#include "tessera/encoder/export/term_record.h"

namespace tessera::encoder {

// Names for the free variables of a record in SMT-LIB: quoted symbols that say what they mean,
// |a below b|, |offset of w / 16|. An integer stands for its rank, which the name tells: (value - first) /
// step. Names are unique; bounds and constants have none.
class Symbols {
 public:
  Symbols(const TermRecord& record, const Sentences& sentences);

  // With the bars; empty for what has no name.
  const std::string& Of(Integer integer) const { return integers_[static_cast<size_t>(integer.index)]; }
  const std::string& OfVariable(int32_t variable) const { return variables_[static_cast<size_t>(variable)]; }

  // A variable or an integer.
  using Unknown = std::variant<Literal, Integer>;

  // By the name between the bars; null when there is none.
  const Unknown* Find(std::string_view name) const;
  std::vector<std::string_view> Names() const;

 private:
  std::string Register(std::string name, Unknown unknown);

  std::vector<std::string> integers_;
  std::vector<std::string> variables_;
  std::map<std::string, Unknown, std::less<>> unknowns_;
};

}  // namespace tessera::encoder
