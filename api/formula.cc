// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/export/formula.h"

#include <tessera/formula.h>

#include <array>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/model_answer.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"

namespace tessera::api {
namespace {

using encoder::exports::FormulaFormat;
using encoder::sat::IntegerEncoding;

template <typename Value>
struct Word {
  std::string_view name;
  Value value;
};

constexpr std::array<Word<FormulaFormat>, 3> kFormulaFormats = {{{"dimacs", FormulaFormat::kDimacs},
                                                                 {"smtlib", FormulaFormat::kSmtlib},
                                                                 {"text", FormulaFormat::kText}}};
constexpr std::array<Word<IntegerEncoding>, 3> kIntegers = {
    {{"auto", IntegerEncoding::kByMagnitude},
     {"order", IntegerEncoding::kOrder},
     {"bits", IntegerEncoding::kBits}}};

template <typename Value, size_t count>
Result<Value> Choose(const char* option, const std::string& given,
                     const std::array<Word<Value>, count>& words) {
  std::vector<std::string_view> names;
  for (const Word<Value>& word : words) {
    if (word.name == given) return word.value;
    names.push_back(word.name);
  }
  return BadArgument(std::string(option) + " is '" + given + "'", "one of " + base::Join(names));
}

Result<encoder::exports::FormulaOptions> Resolve(const Problem::Content& problem,
                                                 const FormulaOptions& given) {
  if (auto error = RefuseConstraints(problem, "a formula")) return *std::move(error);
  encoder::exports::FormulaOptions options;
  const Result<FormulaFormat> format = Choose("format", given.format, kFormulaFormats);
  if (!format) return format.Error();
  const Result<IntegerEncoding> integers = Choose("integers", given.integers, kIntegers);
  if (!integers) return integers.Error();
  options.format = *format;
  options.integers = *integers;
  options.capacity = given.capacity.value_or(problem.document.problem.memories[0].capacity);
  if (options.capacity < 0 || options.capacity >= base::kMaxTotal)
    return BadArgument("neither problem nor options say how large the memory is", "a capacity");
  if (given.candidate.empty()) return options;
  const Result<size_t> index = FindCandidate(problem, given.candidate);
  if (!index) return index.Error();
  options.candidate = *index;
  return options;
}

Result<Formula> WriteFormula(const Problem::Content& problem, const FormulaOptions& given) {
  const Result<encoder::exports::FormulaOptions> options = Resolve(problem, given);
  if (!options) return options.Error();
  base::Expected<encoder::exports::Formula> formula =
      encoder::exports::Encode(problem.document, *options);
  if (!formula) return AsError(CallStatus::kUnsupported, formula.error());
  return Formula{std::move(formula->text), std::move(formula->sizes)};
}

Result<AllocateAnswer> ReadModel(const Problem& problem, std::string_view formula,
                                 std::string_view output, const std::string& name) {
  if (auto error = RefuseConstraints(problem.Get(), "a formula")) return *std::move(error);
  const problem::files::ProblemDocument& document = problem.Get().document;
  const auto options = encoder::exports::ReadOptions(formula, "formula", document);
  if (!options) return BadInput(options.error());
  const auto decoded = encoder::exports::Decode(document, *options, output, name);
  if (!decoded) return BadInput(decoded.error());
  if (!decoded->broken.empty())
    return BadArgument(name + ": the model breaks " + decoded->broken, "a model of the formula");
  parts::ModelAnswer judged = parts::JudgeModel(document, *options, *decoded);
  if (!judged.wrong.empty()) {
    base::Diagnostic fault;
    fault.message = "a model of the formula is no answer to the problem: " + judged.wrong;
    return AsError(CallStatus::kInternal, fault);
  }
  const problem::Result& result = judged.document.result;
  AllocateAnswer answer;
  answer.outcome = OutcomeOf(result.status);
  answer.lower_bound = result.lower_bound;
  answer.engine = result.engine;
  answer.reason = result.reason;
  if (result.allocation) {
    answer.allocation = AsAllocation(AsProblem({std::move(judged.problem), std::nullopt}),
                                     std::move(judged.document));
  }
  return answer;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Formula> Encode(const Problem& problem, const FormulaOptions& options) {
  return api::Guarded([&] { return api::WriteFormula(problem.Get(), options); });
}

Result<AllocateAnswer> Decode(const Problem& problem, std::string_view formula,
                              std::string_view output, const std::string& name) {
  return api::Guarded([&] { return api::ReadModel(problem, formula, output, name); });
}

}  // namespace v0
}  // namespace tessera
