#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/access_rules.h"
#include "tessera/plan/lowering/precedence.h"

namespace tessera::plan::lowering {

// What a run does to the banks of the tile memory.
struct BankUse {
  std::string engine;
  execute::AccessRules::Banks read = 0;
  execute::AccessRules::Banks written = 0;
};

// Which modes may be in force while a run is under way: that of the last switch before it, and of every switch that is not in order
// with it. All of them must allow what it does.
class Modes {
 public:
  explicit Modes(const execute::AccessRules& rules) : rules_(rules) {}

  // All runs so far are over; those that follow are numbered by `order`, which outlives them.
  void BeginSubgraph(const Precedence& order);

  // Each gives what is wrong, in words; empty if nothing is.
  std::string Switch(int run, int mode);
  std::string Use(int run, const BankUse& use);

 private:
  struct Switched {
    int run = 0;
    int mode = 0;
  };
  struct Running {
    int run = 0;
    BankUse use;
  };

  bool Allows(int mode, const BankUse& use) const;
  std::string Refusal(int mode, const BankUse& use) const;

  const execute::AccessRules& rules_;
  const Precedence* order_ = nullptr;
  std::optional<int> before_;  // the mode in which the subgraph begins; nullopt: any
  std::vector<Switched> switches_;
  std::vector<Running> running_;
};

}  // namespace tessera::plan::lowering
