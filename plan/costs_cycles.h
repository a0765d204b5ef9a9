#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/plan/depth.h"
#include "tessera/plan/plan.h"

// Cycles of one operator's arithmetic, of one transfer, and of one port: docs/program.md, Costs.
namespace tessera::plan {

// A sum or product beyond base::kMaxTotal stays there.
inline int64_t Plus(int64_t a, int64_t b) { return base::CheckedAdd(a, b).value_or(base::kMaxTotal); }
inline int64_t Times(int64_t a, int64_t b) { return base::CheckedMul(a, b).value_or(base::kMaxTotal); }

// Adjacent bytes, and the loops around them from the innermost to the outermost. Empty: no bytes.
struct Pieces {
  int64_t bytes = 0;  // of one run
  std::vector<int64_t> loops;
};

// The region of those extents as it lies in its home; `extents` has the tensor's rank.
Pieces PiecesOf(const graph::Tensor& tensor, const std::vector<int64_t>& extents,
                const hw_profiles::RoleLayout& layout);

// One slice of the constant that is multiplied by depth, for so many output channels.
Pieces PiecesOfDepth(const Plan& plan, const DepthSlices& slices, int64_t depth, int64_t channels);

// Bytes of the region in its home, without row pitch; 0 where an extent is 0.
int64_t PayloadOf(const graph::Tensor& tensor, const std::vector<int64_t>& extents,
                  const hw_profiles::RoleLayout& layout);

enum class Way : uint8_t { kFromHome, kToHome };

// One transfer between the tile memory and `home`; engines that work in `home` themselves.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Way way, const Pieces& pieces);
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Way way, const Pieces& pieces);

// The tile memory's port, or any port that streams without pause.
int64_t PortCycles(const hw_profiles::Port& port, int64_t read, int64_t written);

// Whether what comes out of the memory and what goes into it take turns.
bool TakesTurns(const hw_profiles::Profile& profile, int memory);

// The arithmetic of an operator that makes `made` of its first output. All 0 where that is empty.
struct Arithmetic {
  int64_t start = 0;
  int64_t body = 0;
};
Arithmetic ArithmeticOf(const Plan& plan, const graph::Operator& op, const std::vector<int64_t>& made,
                        const std::optional<DepthSlices>& depth);

}  // namespace tessera::plan
