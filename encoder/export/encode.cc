#include <fmt/format.h>

#include "tessera/encoder/export/dimacs.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/header.h"
#include "tessera/encoder/export/sizes.h"
#include "tessera/encoder/export/smtlib.h"
#include "tessera/encoder/export/targets.h"
#include "tessera/encoder/export/text.h"
#include "tessera/encoder/export/transcript.h"

namespace tessera::encoder {
namespace {

base::Unexpected Refuse(std::string reason) {
  base::Diagnostic fault;
  fault.message = std::move(reason);
  return base::Unexpected(std::move(fault));
}

base::Unexpected RefuseFull() {
  return Refuse(fmt::format("the formula has more than {} clauses", kClauseLimit));
}

// Counts of a record of terms, in which integers and the bounds of their domains count as well.
std::string TabulateTerms(const TermRecord& record) {
  TopicCounts variables{};
  for (int32_t variable = kTrue.Variable() + 1; variable <= record.VariableCount(); ++variable) {
    if (record.FindBound(variable) == nullptr)
      ++variables[static_cast<size_t>(record.VariableAt(variable).topic)];
  }
  TopicCounts conditions = record.Counts();
  const auto numbers = static_cast<int64_t>(record.Numbers().size());
  variables[static_cast<size_t>(Topic::kOffsets)] += numbers;
  conditions[static_cast<size_t>(Topic::kOffsets)] += numbers;
  return TabulateSizes(variables, conditions, "conditions");
}

std::string TabulateClauses(const ClauseRecord& record) {
  return TabulateSizes(record.CountVariables(), record.Counts(), "clauses");
}

base::Expected<Formula> EncodeDimacs(Transcript& transcript, const FormulaOptions& options,
                                     std::string_view header) {
  ClauseTarget target(options.integers, transcript.Measure());
  transcript.WriteTo(target);
  const ClauseRecord& record = target.Clauses();
  if (record.Full()) return RefuseFull();
  Formula formula{"", TabulateClauses(record)};
  formula.text = WriteDimacs(record, Sentences(record, transcript.Words()), header, formula.sizes);
  return formula;
}

base::Expected<Formula> EncodeSmtlib(Transcript& transcript, std::string_view header) {
  TermTarget target;
  transcript.WriteTo(target);
  const TermRecord& record = target.Clauses();
  if (record.Full()) return RefuseFull();
  const Sentences sentences(record, transcript.Words());
  Formula formula{"", TabulateTerms(record)};
  formula.text = WriteSmtlib(record, Symbols(record, sentences), header, formula.sizes);
  return formula;
}

// The sizes at the end are those of the conditions, and of the clauses that a SAT solver would get.
base::Expected<Formula> EncodeText(Transcript& transcript, const FormulaOptions& options,
                                   std::string_view header) {
  TermTarget target;
  transcript.WriteTo(target);
  const TermRecord& record = target.Clauses();
  if (record.Full()) return RefuseFull();
  ClauseTarget clauses(options.integers, transcript.Measure());
  transcript.WriteTo(clauses);
  const std::string in_clauses = clauses.Clauses().Full() ? "(more than a SAT solver should be given)\n"
                                                          : TabulateClauses(clauses.Clauses());
  Formula formula;
  formula.sizes =
      fmt::format("size as conditions\n{}\nsize as clauses\n{}", TabulateTerms(record), in_clauses);
  formula.text = fmt::format("{}\n\n{}{}", header, WriteText(record, Sentences(record, transcript.Words())),
                             formula.sizes);
  return formula;
}

}  // namespace

base::Expected<Formula> Encode(const problem::ProblemDocument& document, const FormulaOptions& options) {
  Transcript transcript(document, options);
  if (const std::optional<std::string> reason = transcript.TooLarge()) return Refuse(*reason);
  const std::string header = WriteHeader(document, options);
  switch (options.format) {
    case FormulaFormat::kDimacs:
      return EncodeDimacs(transcript, options, header);
    case FormulaFormat::kSmtlib:
      return EncodeSmtlib(transcript, header);
    case FormulaFormat::kText:
      return EncodeText(transcript, options, header);
  }
  return Refuse("there is no such format");
}

}  // namespace tessera::encoder
