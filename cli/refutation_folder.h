#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/destinations.h"
#include "tessera/plan/refutation/refute.h"

// Folders with the proof that a network has no plan (docs/certificate-format.md, "Certificates of
// plans").
namespace tessera::cli {

// Tells `files` that a call writes this folder.
void AddRefutation(Destinations& files, const std::string& folder);

// Writes the folder: the question, and each proof about a placement as a certificate of its own.
// Refuses more than 64 MiB.
base::Expected<void> WriteRefutationIn(const std::string& folder, const plan::Plan& question,
                                       const plan::refutation::Refutation& refutation);

// Whether the folder holds such a proof.
bool HoldsRefutation(const std::string& folder);

// Judges the question again, with the proofs in the folder alone. A diagnostic where they cannot be
// read.
base::Expected<plan::refutation::Judgement> CheckRefutationIn(const std::string& folder);

}  // namespace tessera::cli
