#include <fmt/format.h>

#include <iterator>

#include "tessera/encoder/export/dimacs.h"

namespace tessera::encoder {
namespace {

std::string AsComments(std::string_view text) {
  std::string comments;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    comments += fmt::format("c {}\n", text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return comments;
}

}  // namespace

std::string WriteDimacs(const ClauseRecord& record, const Sentences& sentences, std::string_view header,
                        std::string_view sizes) {
  std::string text =
      fmt::format("c {}\nc\n{}c\nc variables, in the words of the problem; addresses are bytes:\n", header,
                  AsComments(sizes));
  const auto out = std::back_inserter(text);
  for (int32_t variable = kTrue.Variable(); variable <= record.VariableCount(); ++variable)
    fmt::format_to(out, "c {} {}\n", variable, sentences.Of(Literal(variable)));
  fmt::format_to(out, "p cnf {} {}\n{} 0\n", record.VariableCount(), record.ClauseCount() + 1,
                 kTrue.Dimacs());
  for (size_t clause = 0; clause < record.ClauseCount(); ++clause) {
    for (const Literal literal : record.ClauseAt(clause)) fmt::format_to(out, "{} ", literal.Dimacs());
    text += "0\n";
  }
  return text;
}

}  // namespace tessera::encoder
