#include "tessera/encoder/export/transcript.h"

#include <algorithm>

namespace tessera::encoder {

Transcript::Transcript(const problem::ProblemDocument& document, const FormulaOptions& options)
    : problem_(options.rung ? AtRung(document.problem, document.ladder->rungs[*options.rung])
                            : document.problem),
      ladder_(document.ladder && !options.rung ? &*document.ladder : nullptr),
      wording_(problem_, ladder_),
      demands_(Analyse(problem_, ladder_)),
      question_{problem_, ladder_, demands_, options.capacity} {}

void Transcript::WriteTo(Target& target) {
  target_ = &target;
  formulation_.emplace(question_, target);
  formulation_->Write();
  rungs_.clear();
  if (ladder_ == nullptr) return;
  for (size_t rung = 0; rung < ladder_->rungs.size(); ++rung) {
    if (target.Clauses().Full()) return;
    rungs_.push_back(formulation_->SelectRung(rung));
  }
  target.Clauses().Enter(Topic::kSizes);
  target.Clauses().Add(rungs_);
}

std::optional<size_t> Transcript::SelectedRung() const {
  const auto selected =
      std::find_if(rungs_.begin(), rungs_.end(), [this](Literal rung) { return target_->IsTrue(rung); });
  if (selected == rungs_.end()) return std::nullopt;
  return static_cast<size_t>(selected - rungs_.begin());
}

}  // namespace tessera::encoder
