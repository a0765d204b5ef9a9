// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/result.h>

#include <string>

#include "tessera/base/diagnostic.h"

// Private: errors as values, and the boundary that no exception crosses.
namespace tessera::api {

Error AsError(CallStatus status, const base::Diagnostic& diagnostic);

inline Error BadInput(const base::Diagnostic& diagnostic) {
  return AsError(CallStatus::kBadInput, diagnostic);
}

// Converts an error of the library back. Throws std::bad_alloc if memory ran out, which is not a
// fault of the input.
base::Diagnostic AsDiagnostic(const Error& error);
void ThrowIfExhausted(const Error& error);

// An argument that is wrong.
Error BadArgument(std::string message, std::string expected);

Error AsUnsupported(std::string message);

// The texts are so short that they need no allocation.
inline Error OutOfMemory() {
  Error error;
  error.status = CallStatus::kStopped;
  error.message = error.text = "out of memory";
  return error;
}

// Returns the exception that is being handled as an error.
Error CaughtError() noexcept;

// Calls `work`, which returns a Result, and turns an exception into an error.
template <typename Work>
auto Guarded(const Work& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return CaughtError();
  }
}

}  // namespace tessera::api
