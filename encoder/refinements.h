#pragma once

namespace tessera::encoder {

// What a formulation may add to a Problem's own words so that a solver has less to do. Each can be switched off;
// none changes an answer, some change which of several placements is found. docs/encoding.md says what each is
// worth.
struct Refinements {
  bool positions = true;      // offsets that can matter (normal_positions.h)
  bool symmetry = true;       // of buffers alike in everything the first lies below (symmetry.h)
  bool bank_sums = true;      // what lies in a bank at once is no larger than the bank (bank_sums.h)
  bool decomposition = true;  // parts of a Problem that share nothing are decided apart (decomposition.h)

  bool loose_ends = true;  // an end that rungs size may be too high, where that can only hurt

  // The Problem's own words and nothing else: what a certificate needs.
  static Refinements None() { return {false, false, false, false, false}; }
};

}  // namespace tessera::encoder
