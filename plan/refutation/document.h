#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/refutation/refute.h"

// What refutation.json says: the question, and in words why it has no plan
// (docs/certificate-format.md). The proofs about placements are certificates of their own, in the same
// folder.
namespace tessera::plan::refutation {

std::string WriteRefutation(const Plan& question, const Refutation& refutation);

// The question: those parts of a Plan that Judge looks at. `file` is for messages.
base::Expected<Plan> ReadQuestion(std::string_view text, std::string file);

}  // namespace tessera::plan::refutation
