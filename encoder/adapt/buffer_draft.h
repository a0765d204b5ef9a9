#pragma once

#include <string>
#include <string_view>

#include "tessera/encoder/adapt/program.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// A buffer under construction: lives and accesses come in any order and may repeat.
struct BufferDraft {
  ProgramBuffer meaning;
  problem::Buffer buffer;

  // Lives at steps [lower, upper); none if they are equal.
  void Live(problem::Step lower, problem::Step upper);
  void LiveAt(problem::Step step) { Live(step, step + 1); }

  void Touch(problem::Step step, std::string_view engine, problem::AccessKind kind);

  // Sorts, merges lives that overlap or touch, and drops repetitions. Accesses are ascending by step, then reads before writes,
  // then by engine.
  void Finish();
};

}  // namespace tessera::encoder
