// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "tessera/encoder/export/formats.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/transcript.h"

namespace tessera::encoder::exports {
namespace {

// Whether the output is that of an SMT solver: it consists of sat, unsat, unknown and lists, while
// SAT solvers begin each line with c, s or v.
bool IsSmtlib(std::string_view output) {
  const size_t begin = output.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  output.remove_prefix(begin);
  const std::string_view word = output.substr(0, output.find_first_of(" \t\r\n("));
  return word.empty() || word.front() == ';' || word == "sat" || word == "unsat" ||
         word == "unknown" || word == "success";
}

std::string FindBrokenClause(const ClauseRecord& record, const formulation::Model& model,
                             const Sentences& sentences) {
  for (size_t i = 0; i < record.ClauseCount(); ++i) {
    const std::span<const formulation::Literal> clause = record.ClauseAt(i);
    const bool holds = std::any_of(clause.begin(), clause.end(), [&](formulation::Literal literal) {
      return model.IsTrue(literal);
    });
    if (!holds)
      return fmt::format("{}: {}", formulation::NameOf(record.TopicAt(i)), sentences.Of(clause));
  }
  return {};
}

std::string FindBrokenCondition(const TermRecord& record, const Sentences& sentences) {
  for (const TermRecord::Condition& condition : record.Conditions())
    if (!record.IsMet(condition))
      return fmt::format("{}: {}", formulation::NameOf(condition.topic),
                         sentences.Of(record, condition));
  return {};
}

// The answer for a model that violates nothing, or that violates a condition.
Decoded Conclude(std::string broken, const Transcript& transcript) {
  Decoded decoded{Decoded::Claim::kModel, std::nullopt, std::nullopt, std::move(broken)};
  if (!decoded.broken.empty()) return decoded;
  decoded.allocation = transcript.Decode();
  decoded.candidate = transcript.SelectedCandidate();
  return decoded;
}

// The answer if there is no model.
Decoded ClaimAlone(Decoded::Claim claim) { return {claim, std::nullopt, std::nullopt, ""}; }

base::Expected<Decoded> DecodeDimacs(Transcript& transcript, const FormulaOptions& options,
                                     std::string_view output, std::string_view file) {
  ClauseTarget target(options.integers, transcript.Measure());
  transcript.WriteTo(target);
  ClauseRecord& record = target.Clauses();
  const Sentences sentences(record, transcript.Words());
  const base::Expected<Decoded::Claim> claim = ReadDimacsModel(output, file, record, sentences);
  if (!claim) return tl::unexpected(claim.error());
  if (*claim != Decoded::Claim::kModel) return ClaimAlone(*claim);
  return Conclude(FindBrokenClause(record, target, sentences), transcript);
}

base::Expected<Decoded> DecodeSmtlib(Transcript& transcript, std::string_view output,
                                     std::string_view file) {
  TermTarget target;
  transcript.WriteTo(target);
  TermRecord& record = target.Clauses();
  const Sentences sentences(record, transcript.Words());
  const Symbols symbols(record, sentences);
  const base::Expected<Decoded::Claim> claim = ReadSmtlibModel(output, file, record, symbols);
  if (!claim) return tl::unexpected(claim.error());
  if (*claim != Decoded::Claim::kModel) return ClaimAlone(*claim);
  std::string broken = FindBrokenClause(record, target, sentences);
  if (broken.empty()) broken = FindBrokenCondition(record, sentences);
  return Conclude(std::move(broken), transcript);
}

}  // namespace

base::Expected<Decoded> Decode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options, std::string_view output,
                               std::string_view file) {
  Transcript transcript(document, options);
  if (const std::optional<std::string> reason = transcript.TooLarge()) {
    base::Diagnostic fault;
    fault.file = file;
    fault.message = *reason;
    return tl::unexpected(std::move(fault));
  }
  return IsSmtlib(output) ? DecodeSmtlib(transcript, output, file)
                          : DecodeDimacs(transcript, options, output, file);
}

}  // namespace tessera::encoder::exports
