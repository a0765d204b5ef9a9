// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/encoder/formulation/backend.h"
#include "tessera/encoder/formulation/meaning.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// Meanings in the user's terms: "a below b", "w touches b0", "mode of sram at step 3 is w".
// Addresses are bytes. Control characters in names become '?', so that a sentence is one line.
class Wording {
 public:
  // `ladder` may be null. Both arguments must outlive this object.
  Wording(const problem::Problem& problem, const problem::Ladder* ladder)
      : problem_(problem), ladder_(ladder) {}

  std::string Of(const Quantity& quantity) const;  // "offset of w"

  // The condition, or its negation. An Auxiliary is only called "auxiliary".
  std::string Of(const Meaning& meaning, bool negated = false) const;

  std::string OfBuffer(int buffer) const;
  std::string OfMemory(int memory) const;  // by name if names are distinct, else "memory 1"
  std::string OfBank(int memory, int bank) const;
  std::string OfMode(int memory, int mode) const;
  std::string OfCandidate(int candidate) const;

 private:
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
};

// The name of a topic: "liveness"; and its sentence: "buffers that live together share no byte".
std::string_view NameOf(Topic topic);
std::string_view SentenceOf(Topic topic);

}  // namespace tessera::encoder::formulation
