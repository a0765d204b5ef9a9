#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/refutation/refute.h"

// What refutation.json says: the question, and in words why it has no plan
// (docs/certificate-format.md). The proofs about placements are certificates of their own, in the
// same folder.
namespace tessera::plan::refutation {

std::string WriteRefutation(const Plan& question, const Refutation& refutation);

// What such a document states.
struct Document {
  Plan question;           // those parts of a Plan that Judge looks at
  Refutation stated;       // but for its proofs...
  int64_t placements = 0;  // ... which are counted
};

// `file` is for messages.
base::Expected<Document> ReadRefutation(std::string_view text, std::string file);

// Where the document states another refutation than was found, in words; empty if it does not.
std::string FindDifference(const Document& document, const Refutation& found);

}  // namespace tessera::plan::refutation
