#include "tessera/encoder/adapt/buffer_draft.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace tessera::encoder {

using problem::Access;
using problem::Lifespan;

void BufferDraft::Live(problem::Step lower, problem::Step upper) {
  if (lower < upper) buffer.lifespans.push_back({lower, upper});
}

void BufferDraft::Touch(problem::Step step, std::string_view engine, problem::AccessKind kind) {
  buffer.accesses.push_back({step, std::string(engine), kind});
}

void BufferDraft::Finish() {
  std::vector<Lifespan>& lives = buffer.lifespans;
  std::sort(lives.begin(), lives.end(),
            [](const Lifespan& a, const Lifespan& b) { return a.lower < b.lower; });
  std::vector<Lifespan> merged;
  for (const Lifespan& life : lives) {
    if (!merged.empty() && life.lower <= merged.back().upper) {
      merged.back().upper = std::max(merged.back().upper, life.upper);
    } else {
      merged.push_back(life);
    }
  }
  lives = std::move(merged);

  std::vector<Access>& accesses = buffer.accesses;
  std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
    return std::tie(a.step, a.kind, a.engine) < std::tie(b.step, b.kind, b.engine);
  });
  accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
}

}  // namespace tessera::encoder
