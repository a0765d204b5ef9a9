#include "tessera/base/stop.h"

namespace tessera::base {

bool Stop::Requested() const {
  return requested_.load(std::memory_order_relaxed) || (deadline_ && Clock::now() >= *deadline_) ||
         (parent_ != nullptr && parent_->Requested());
}

}  // namespace tessera::base
