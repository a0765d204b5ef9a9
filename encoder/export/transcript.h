#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tessera/encoder/backend.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/formulation.h"
#include "tessera/encoder/wording.h"
#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// A Problem said once to a target that decides nothing: capacity fixed, and with a ladder one variable for
// each rung, of which at least one holds. Saying it again gives the same variables in the same order, which is
// what lets a model come back from elsewhere.
class Transcript {
 public:
  // `document` outlives this. Of the options, capacity and rung count.
  Transcript(const problem::ProblemDocument& document, const FormulaOptions& options);

  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // Why it cannot be written, or nullopt.
  std::optional<std::string> TooLarge() const { return encoder::TooLarge(question_.problem, demands_); }

  const Wording& Words() const { return wording_; }
  Magnitude Measure() const { return Addresses::Measure(question_); }

  // `target` outlives this. What is read back afterwards is of the target written to last.
  void WriteTo(Target& target);

  // The target's model in the Problem's own terms, and the first rung that it selects.
  problem::Allocation Decode() const { return formulation_->Decode(); }
  std::optional<size_t> SelectedRung() const;

 private:
  problem::Problem problem_;       // with the sizes of the rung asked for
  const problem::Ladder* ladder_;  // null where the sizes are known
  Wording wording_;
  Demands demands_;
  Question question_;
  Target* target_ = nullptr;
  std::optional<Formulation> formulation_;
  std::vector<Literal> rungs_;  // empty without a ladder
};

}  // namespace tessera::encoder
