// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/problem/engine.h"
#include "tessera/problem/result.h"

namespace tessera::search {

// An engine whose answers the test chooses.
class ScriptedEngine final : public problem::Engine {
 public:
  using Script = std::function<problem::Result(problem::Bytes capacity)>;
  ScriptedEngine(std::string name, Script script)
      : name_(std::move(name)), script_(std::move(script)) {}
  ScriptedEngine(std::string name, const problem::Result& answer)
      : ScriptedEngine(std::move(name), [answer](problem::Bytes) { return answer; }) {}

  std::string_view Name() const override { return name_; }
  std::unique_ptr<problem::Session> Open(const problem::Problem&,
                                         const problem::Ladder*) const override {
    return std::make_unique<Scripted>(script_);
  }

 private:
  class Scripted final : public problem::Session {
   public:
    explicit Scripted(Script script) : script_(std::move(script)) {}
    problem::Result Solve(size_t, problem::Bytes capacity, const base::Budget&,
                          const base::Stop&) override {
      return script_(capacity);
    }

   private:
    Script script_;
  };
  std::string name_;
  Script script_;
};

inline problem::Result Answer(problem::Status status, std::string reason = {}) {
  problem::Result result;
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

}  // namespace tessera::search
