#pragma once

#include <memory>
#include <string_view>

#include "tessera/encoder/lazy/options.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder {

// The engine "lazy": conflict-driven clause learning over bounds and orders that come into being on demand
// (lazy/solver.h). At its best on tight packings and on proofs that nothing fits.
//
// Honours sizes, alignments, fixed offsets, hints, reserved ranges, gaps, several memories, separate,
// exclusive, colocate and adjacent; answers kUnsupported on modes, ports, spans and banks that restrict
// something, and beyond the magnitudes of lazy/support.h. kInfeasible comes of a derived empty clause alone;
// kUnknown of the budget (conflicts) or the stop. The same calls on a session give the same answers.
class LazyEngine final : public problem::Engine {
 public:
  LazyEngine() = default;
  explicit LazyEngine(const LazyOptions& options) : options_(options) {}

  std::string_view Name() const override { return "lazy"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  LazyOptions options_;
};

}  // namespace tessera::encoder
