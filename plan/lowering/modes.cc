#include "tessera/plan/lowering/modes.h"

#include <fmt/core.h>

namespace tessera::plan::lowering {

using problem::AccessKind;

void Modes::BeginSubgraph(const Precedence& order) {
  order_ = &order;
  if (!switches_.empty()) before_ = switches_.back().mode;
  switches_.clear();
  running_.clear();
}

bool Modes::Allows(int mode, const BankUse& use) const {
  return rules_.FirstForbidden(mode, use.read, use.engine, AccessKind::kRead) < 0 &&
         rules_.FirstForbidden(mode, use.written, use.engine, AccessKind::kWrite) < 0;
}

std::string Modes::Refusal(int mode, const BankUse& use) const {
  return fmt::format("may find mode '{}', which does not let '{}' do what it does",
                     rules_.Memory().modes[static_cast<size_t>(mode)].name, use.engine);
}

std::string Modes::Switch(int run, int mode) {
  std::string fault;
  const std::optional<int> last = switches_.empty() ? before_ : std::optional(switches_.back().mode);
  if (!switches_.empty() && !order_->Precedes(switches_.back().run, run))
    fault = fmt::format("does not wait for #{}, which sets a mode too", switches_.back().run);
  if (fault.empty() && last && !rules_.MayFollow(*last, mode))
    fault = fmt::format("sets mode {}, which may not follow mode {}", mode, *last);
  for (const Running& running : running_) {
    if (fault.empty() && !order_->Precedes(running.run, run) && !Allows(mode, running.use))
      fault = fmt::format("does not wait for #{}, which its mode does not allow", running.run);
  }
  std::erase_if(running_, [&](const Running& running) { return order_->Precedes(running.run, run); });
  switches_.push_back({run, mode});
  return fault;
}

std::string Modes::Use(int run, const BankUse& use) {
  if (rules_.Memory().modes.empty() || (use.read == 0 && use.written == 0)) return "";
  running_.push_back({run, use});
  for (size_t i = switches_.size(); i-- > 0;) {
    if (!Allows(switches_[i].mode, use)) return Refusal(switches_[i].mode, use);
    if (order_->Precedes(switches_[i].run, run)) return "";
  }
  if (before_) return Allows(*before_, use) ? "" : Refusal(*before_, use);
  for (size_t mode = 0; mode < rules_.Memory().modes.size(); ++mode) {
    if (!Allows(static_cast<int>(mode), use)) return Refusal(static_cast<int>(mode), use);
  }
  return "";
}

}  // namespace tessera::plan::lowering
