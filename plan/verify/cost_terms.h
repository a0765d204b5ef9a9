// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/work_count.h"

// Cycles of one operator's arithmetic, of one transfer, and of one port: docs/program.md, Costs.
namespace tessera::plan::verify {

// A sum or product beyond base::kMaxTotal saturates.
inline int64_t Plus(int64_t a, int64_t b) {
  return base::CheckedAdd(a, b).value_or(base::kMaxTotal);
}
inline int64_t Times(int64_t a, int64_t b) {
  return base::CheckedMul(a, b).value_or(base::kMaxTotal);
}

// Adjacent bytes, and the loops around them from the innermost to the outermost. Empty: no bytes.
struct Pieces {
  int64_t bytes = 0;  // of one run
  std::vector<int64_t> loops;
  int64_t request = 0;  // bytes asked for at a time; 0: a run
};

// The region of those extents as stored in its home; `extents` has the tensor's rank.
Pieces PiecesOf(const graph::Tensor& tensor, const std::vector<int64_t>& extents,
                const hw_profiles::RoleLayout& layout);

// The pieces of one slice of the constant that is multiplied with split K, for the given number of
// output channels.
Pieces PiecesOfK(const Plan& plan, const KSlices& slices, int64_t k_extent, int64_t channels);

// Bytes of the region in its home, without row pitch; 0 if an extent is 0.
int64_t PayloadOf(const graph::Tensor& tensor, const std::vector<int64_t>& extents,
                  const hw_profiles::RoleLayout& layout);

enum class Direction : uint8_t { kFromHome, kToHome };

// TransferCycles returns the cycles of one transfer between the tile memory and `home`,
// DirectCycles those of the access of engines that work in `home`.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                       const Pieces& pieces);
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                     const Pieces& pieces);

// The part of a slice's read latency that the previous slice of the same operand hides.
int64_t HiddenLatency(const hw_profiles::Profile& profile, int home);

// A transfer that waits for its latency and then moves its bytes.
struct Waiting {
  int64_t latency = 0;
  int64_t cycles = 0;
  bool begun = false;  // earlier bytes of the same buffer arrive while the subgraph before runs
};

// The cycles of these transfers from one home, in this order, if up to `most` of them are under way
// at the same time, and as many as the link permits.
int64_t CyclesInQueue(const hw_profiles::Profile& profile, int home,
                      const std::vector<Waiting>& transfers, int64_t most);

// The cycles of the tile memory's port, or of any port that streams without pause, for these bytes.
int64_t PortCycles(const hw_profiles::Port& port, int64_t read, int64_t written);

// A lower bound of the sum of PortCycles over steps that together read and write at least these
// bytes.
int64_t LeastPortCycles(const hw_profiles::Port& port, int64_t read, int64_t written);

// Whether reads from the memory and writes to it exclude each other in time.
bool TakesTurns(const hw_profiles::Profile& profile, int memory);

// The arithmetic of an operator that computes `made` of its first output. All 0 if that is empty.
struct Arithmetic {
  int64_t start = 0;
  int64_t body = 0;
};
Arithmetic ArithmeticOf(const Plan& plan, const graph::Operator& op,
                        const std::vector<int64_t>& made, const std::optional<KSlices>& k_extent);

// Returns a lower bound of the sum of the bodies of tiles that together cover `made`. The start is
// that of one tile.
Arithmetic LeastArithmeticOf(const Plan& plan, const graph::Operator& op,
                             const std::vector<int64_t>& made);

// ArithmeticOf for an engine that works in output blocks. The result is never less than that of
// ArithmeticOf, except for the rounding of doubles.
// `table_memory` has the table of the operator.
Arithmetic ArithmeticInBlocks(const Plan& plan, const graph::Operator& op, const BlockGrid& grid,
                              const std::optional<KSlices>& k_extent, int table_memory);

}  // namespace tessera::plan::verify
