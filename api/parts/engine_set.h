// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/problem/engine.h"

namespace tessera::api::parts {

// Engines in the order in which a portfolio uses them. Z3 is used only by name: only a watchdog can
// stop it, so its answers would depend on the clock.
class EngineSet {
 public:
  // Makes the engines with these names, in this order, without these rules. Skips names that
  // FindUnknown reports.
  EngineSet(std::span<const std::string> names, std::span<const std::string> switched_off,
            uint64_t seed);

  // All engines of this build, and all rules that can be switched off.
  static std::vector<std::string> Names();
  static std::vector<std::string> Rules();

  // Returns whether this is the whole library; Tessera::allocate has fewer engines.
  static bool IsWhole();

  // Returns the engine with this name, or the default engines if the name is empty.
  static std::vector<std::string> NamesOfWanted(const std::string& only);

  // An engine or rule that this program does not have, in words, and those that it has.
  struct Unknown {
    std::string what;  // "engine 'foo'"
    std::vector<std::string> known;
  };
  // Returns the first of these names that is unknown; nullopt if all are known.
  static std::optional<Unknown> FindUnknown(std::span<const std::string> names,
                                            std::span<const std::string> switched_off);

  const std::vector<const problem::Engine*>& Pointers() const { return pointers_; }

 private:
  std::vector<std::unique_ptr<problem::Engine>> engines_;
  std::vector<const problem::Engine*> pointers_;
};

}  // namespace tessera::api::parts
