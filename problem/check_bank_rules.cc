// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/rule_check.h"

// Checks of rules about the banks that buffers touch. Rounding an offset down can only leave a
// bank, as the bounds of banks are multiples too.
namespace tessera::problem {
namespace {

template <typename IsBad>
bool NoBank(size_t banks, IsBad is_bad) {
  for (size_t bank = 0; bank < banks; ++bank) {
    if (is_bad(bank)) return false;
  }
  return true;
}

bool CanStayIn(const KnownItem& item) {
  std::vector<bool> listed(item.memory.banks.size(), false);
  for (const int bank : item.wanted.banks) listed[static_cast<size_t>(bank)] = true;
  return NoBank(listed.size(),
                [&](size_t bank) { return item.first.touched[bank] && !listed[bank]; });
}

bool CanBeTheSame(const KnownItem& item) {
  const KnownPlace& a = item.first;
  const KnownPlace& b = item.second;
  return NoBank(item.memory.banks.size(), [&](size_t bank) {
    return (a.touched[bank] && b.untouched[bank]) || (a.untouched[bank] && b.touched[bank]);
  });
}

bool CanBeDifferent(const KnownItem& item) {
  return NoBank(item.memory.banks.size(),
                [&](size_t bank) { return item.first.touched[bank] && item.second.touched[bank]; });
}

Bytes Any(const Problem&, const Rule&) { return 0; }

}  // namespace

extern const RuleCheck kBanksCheck = {
    .can_hold = CanStayIn,
    .fault =
        [](const KnownItem&) {
          return std::string("touches a bank that is not among those allowed");
        },
    .divisor = Any,
};

// A buffer may leave a bank that the other keeps.
extern const RuleCheck kSameBankCheck = {
    .can_hold = CanBeTheSame,
    .fault = [](const KnownItem&) { return std::string("do not touch the same banks"); },
    .divisor = CommonAlignment,
};

extern const RuleCheck kDifferentBankCheck = {
    .can_hold = CanBeDifferent,
    .fault = [](const KnownItem&) { return std::string("touch the same bank"); },
    .divisor = Any,
};

}  // namespace tessera::problem
