// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/export/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_reader.h"
#include "tessera/encoder/export/formats.h"
#include "tessera/encoder/export/formula_record.h"
#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/formulation.h"
#include "tessera/encoder/formulation/meaning.h"
#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::exports {
namespace {

// A formula for SAT solvers: integers are encoded as clauses.
class ClauseTarget final : public formulation::Target {
 public:
  ClauseTarget(sat::IntegerEncoding encoding, const formulation::Magnitude& magnitude)
      : record_(sat::kClauseLimit),
        integers_(sat::MakeIntegers(encoding, magnitude, record_, record_)) {}

  ClauseRecord& Clauses() override { return record_; }
  formulation::IntegerSink& Integers() override { return *integers_; }
  bool IsTrue(formulation::Literal literal) const override { return record_.IsTrue(literal); }

 private:
  ClauseRecord record_;
  std::unique_ptr<formulation::IntegerSink> integers_;
};

// A formula for SMT solvers and human readers: integers stay integers.
class TermTarget final : public formulation::Target {
 public:
  TermTarget() : record_(sat::kClauseLimit) {}

  TermRecord& Clauses() override { return record_; }
  formulation::IntegerSink& Integers() override { return record_; }
  bool IsTrue(formulation::Literal literal) const override { return record_.IsTrue(literal); }

 private:
  TermRecord record_;
};

// Writes a Problem to a target that decides nothing. The capacity is fixed. With tile candidates
// there is one variable for each candidate, and at least one of them holds. Writing the Problem
// again makes the same variables in the same order; this is why a model from an external solver can
// be read.
class Transcript {
 public:
  // `document` must outlive this object. Only the capacity and the candidate of the options are
  // used.
  Transcript(const problem::files::ProblemDocument& document, const FormulaOptions& options);

  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // Returns why the formula cannot be written, or nullopt.
  std::optional<std::string> TooLarge() const {
    return formulation::TooLarge(question_.problem, address_constraints_);
  }

  const formulation::Wording& Words() const { return wording_; }
  formulation::Magnitude Measure() const { return formulation::Addresses::Measure(question_); }

  // `target` must outlive this object. Later reads refer to the last target.
  void WriteTo(formulation::Target& target);

  // The model of the target in terms of the Problem, and the first candidate that it selects.
  problem::Allocation Decode() const { return formulation_->Decode(); }
  std::optional<size_t> SelectedCandidate() const;

 private:
  problem::Problem problem_;       // with the sizes of the requested candidate
  const problem::Ladder* ladder_;  // null if the sizes are fixed
  formulation::Wording wording_;
  formulation::AddressConstraints address_constraints_;
  formulation::FormulationInput question_;
  formulation::Target* target_ = nullptr;
  std::optional<formulation::Formulation> formulation_;
  std::vector<formulation::Literal> candidates_;  // empty without tile candidates
};

Transcript::Transcript(const problem::files::ProblemDocument& document,
                       const FormulaOptions& options)
    : problem_(options.candidate
                   ? AtCandidate(document.problem, document.ladder->candidates[*options.candidate])
                   : document.problem),
      ladder_(document.ladder && !options.candidate ? &*document.ladder : nullptr),
      wording_(problem_, ladder_),
      address_constraints_(formulation::FindAddressConstraints(problem_, ladder_)),
      question_{problem_, ladder_, address_constraints_, options.capacity} {}

void Transcript::WriteTo(formulation::Target& target) {
  target_ = &target;
  formulation_.emplace(question_, target);
  formulation_->Write();
  candidates_.clear();
  if (ladder_ == nullptr) return;
  for (size_t candidate = 0; candidate < ladder_->candidates.size(); ++candidate) {
    if (target.Clauses().Full()) return;
    candidates_.push_back(formulation_->SelectCandidate(candidate));
  }
  target.Clauses().Enter(formulation::Topic::kSizes);
  target.Clauses().Add(candidates_);
}

std::optional<size_t> Transcript::SelectedCandidate() const {
  const auto selected =
      std::find_if(candidates_.begin(), candidates_.end(),
                   [this](formulation::Literal candidate) { return target_->IsTrue(candidate); });
  if (selected == candidates_.end()) return std::nullopt;
  return static_cast<size_t>(selected - candidates_.begin());
}

constexpr std::string_view kTitle = "tessera-formula ";
constexpr int64_t kVersion = 1;
constexpr std::array<std::string_view, 3> kIntegerWords = {"auto", "order", "bits"};

// FNV-1a over the Problem in its file format. It detects mistakes, not attacks: the content of a
// model is checked in any case.
std::string MarkOf(const problem::files::ProblemDocument& document) {
  const problem::Ladder* ladder = document.ladder ? &*document.ladder : nullptr;
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : problem::files::WriteProblem(document.problem, ladder))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

base::Diagnostic NotAFormula(std::string_view file, std::string_view line) {
  base::Diagnostic fault;
  fault.file = file;
  fault.line = 1;
  fault.column = 1;
  fault.message = "this is no formula of `tessera encode`";
  fault.expected = fmt::format("a first line with '{}{{...}}'", kTitle);
  fault.found = line.empty() ? "nothing" : std::string(line.substr(0, 40));
  return fault;
}

}  // namespace

std::string WriteHeader(const problem::files::ProblemDocument& document,
                        const FormulaOptions& options) {
  nlohmann::ordered_json json;
  json["version"] = kVersion;
  json["problem"] = MarkOf(document);
  json["capacity"] = options.capacity;
  if (options.candidate) json["candidate"] = document.ladder->candidates[*options.candidate].name;
  json["integers"] = kIntegerWords[static_cast<size_t>(options.integers)];
  return std::string(kTitle) + json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

base::Expected<FormulaOptions> ReadOptions(std::string_view formula, std::string_view file,
                                           const problem::files::ProblemDocument& document) {
  const std::string_view line = formula.substr(0, formula.find('\n'));
  const size_t title = line.find(kTitle);
  if (title > 2) return tl::unexpected(NotAFormula(file, line));
  base::JsonReader reader(line.substr(title + kTitle.size()), std::string(file));
  FormulaOptions options;
  {
    base::JsonObject root = reader.Root().Object();
    root.Integer("version", {kVersion, kVersion});
    options.capacity = root.Integer("capacity", {0, base::kMaxTotal});
    options.integers = static_cast<sat::IntegerEncoding>(root.OneOf("integers", kIntegerWords));
    const base::JsonValue mark = root.Required("problem");
    if (mark && mark.String() != MarkOf(document))
      mark.Refuse("this is the formula of another problem",
                  "the mark of the given one, " + MarkOf(document));
    if (const base::JsonValue name = root.Optional("candidate")) {
      const auto& candidates =
          document.ladder ? document.ladder->candidates : std::vector<problem::CandidateSizes>();
      const auto candidate =
          std::find_if(candidates.begin(), candidates.end(),
                       [&](const auto& known) { return known.name == name.String(); });
      if (candidate == candidates.end()) name.Refuse("the problem has no such candidate");
      options.candidate = static_cast<size_t>(candidate - candidates.begin());
    }
  }
  return reader.Finish(options);
}

namespace {

base::Unexpected Refuse(std::string reason) {
  base::Diagnostic fault;
  fault.message = std::move(reason);
  return base::Unexpected(std::move(fault));
}

base::Unexpected RefuseFull() {
  return Refuse(fmt::format("the formula has more than {} clauses", sat::kClauseLimit));
}

// Returns the table of sizes of a record of terms. Integers and the bounds of their domains count
// as well.
std::string TabulateTerms(const TermRecord& record) {
  formulation::TopicCounts variables{};
  for (int32_t variable = formulation::kTrue.Variable() + 1; variable <= record.VariableCount();
       ++variable) {
    if (record.FindBound(variable) == nullptr)
      ++variables[static_cast<size_t>(record.VariableAt(variable).topic)];
  }
  formulation::TopicCounts conditions = record.Counts();
  const auto numbers = static_cast<int64_t>(record.Numbers().size());
  variables[static_cast<size_t>(formulation::Topic::kOffsets)] += numbers;
  conditions[static_cast<size_t>(formulation::Topic::kOffsets)] += numbers;
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

// The table of sizes at the end counts the conditions, and the clauses of the formula for SAT
// solvers.
base::Expected<Formula> EncodeText(Transcript& transcript, const FormulaOptions& options,
                                   std::string_view header) {
  TermTarget target;
  transcript.WriteTo(target);
  const TermRecord& record = target.Clauses();
  if (record.Full()) return RefuseFull();
  ClauseTarget clauses(options.integers, transcript.Measure());
  transcript.WriteTo(clauses);
  const std::string in_clauses = clauses.Clauses().Full()
                                     ? "(more than a SAT solver should be given)\n"
                                     : TabulateClauses(clauses.Clauses());
  Formula formula;
  formula.sizes =
      fmt::format("size as conditions\n{}\nsize as clauses\n{}", TabulateTerms(record), in_clauses);
  formula.text =
      fmt::format("{}\n\n{}{}", header, WriteText(record, Sentences(record, transcript.Words())),
                  formula.sizes);
  return formula;
}

}  // namespace

base::Expected<Formula> Encode(const problem::files::ProblemDocument& document,
                               const FormulaOptions& options) {
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
