#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The options of every command that searches.
struct SearchOptions {
  uint64_t seed = 0;
  std::optional<int64_t> budget;
  std::optional<double> timeout_s;
  std::optional<int64_t> memory_limit;    // bytes
  std::string engine;                     // empty: all that the command uses by default
  std::vector<std::string> switched_off;  // rules of the canonical and lazy engines
  bool verbose = false;

  void Declare(CLI::App& app);
  base::Budget Limit(int64_t otherwise) const { return base::Budget{budget.value_or(otherwise)}; }
  std::optional<base::Stop::Clock::time_point> Deadline() const;
  int64_t MemoryLimit()
      const;  // three quarters of what the process may have, unless the options state another
};

// Engines in the order in which a portfolio asks them, or the one that the options name. Z3 is
// asked only by name: it can be stopped by a watchdog alone, which would make answers depend on the
// clock.
class EngineSet {
 public:
  explicit EngineSet(const SearchOptions& options);

  // Those of these names, in their order, without these rules. A name that FindUnknown names makes
  // none.
  EngineSet(std::span<const std::string> names, std::span<const std::string> switched_off,
            uint64_t seed);

  // An engine or a rule that this program does not have, in words; empty where it has all.
  static std::string FindUnknown(std::span<const std::string> names,
                                 std::span<const std::string> switched_off);

  const std::vector<const problem::Engine*>& Pointers() const { return pointers_; }

 private:
  std::vector<std::unique_ptr<problem::Engine>> engines_;
  std::vector<const problem::Engine*> pointers_;
};

}  // namespace tessera::cli
