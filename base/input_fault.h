// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <memory>
#include <utility>

#include "tessera/base/diagnostic.h"

namespace tessera::base {

// Thrown if input proves wrong during work that has no error values, as when a callback of the
// caller returns a wrong answer. An engine turns an exception into an unknown answer, so the code
// that calls the callback keeps this one and throws it again after the engine.
class InputFault : public std::exception {
 public:
  explicit InputFault(Diagnostic diagnostic)
      : diagnostic_(std::make_shared<const Diagnostic>(std::move(diagnostic))) {}
  const Diagnostic& Get() const noexcept { return *diagnostic_; }
  const char* what() const noexcept override { return diagnostic_->message.c_str(); }

 private:
  std::shared_ptr<const Diagnostic> diagnostic_;  // copies of an exception must not throw
};

}  // namespace tessera::base
