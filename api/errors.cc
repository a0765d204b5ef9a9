// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/errors.h"

#include <exception>
#include <new>
#include <utility>

namespace tessera::api {
namespace {

// Throws std::bad_alloc if memory runs out for the texts.
Error DescribeCaught() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const base::InputFault& fault) {
    return BadInput(fault.Get());
  } catch (const std::exception& exception) {
    base::Diagnostic fault;
    fault.message = exception.what();
    return AsError(CallStatus::kInternal, fault);
  } catch (...) {
    Error error;
    error.message = error.text = "unknown fault";
    return error;
  }
}

}  // namespace

Error CaughtError() noexcept {
  try {
    return DescribeCaught();
  } catch (...) {
    return OutOfMemory();
  }
}

Error AsError(CallStatus status, const base::Diagnostic& diagnostic) {
  return {status,
          diagnostic.message,
          diagnostic.file,
          diagnostic.line,
          diagnostic.column,
          diagnostic.pointer,
          diagnostic.expected,
          diagnostic.found,
          diagnostic.hint,
          base::Format(diagnostic)};
}

void ThrowIfExhausted(const Error& error) {
  if (error.status == CallStatus::kStopped) throw std::bad_alloc();
}

base::Diagnostic AsDiagnostic(const Error& error) {
  ThrowIfExhausted(error);
  base::Diagnostic diagnostic;
  diagnostic.message = error.message;
  diagnostic.file = error.file;
  diagnostic.line = error.line;
  diagnostic.column = error.column;
  diagnostic.pointer = error.pointer;
  diagnostic.expected = error.expected;
  diagnostic.found = error.found;
  diagnostic.hint = error.hint;
  return diagnostic;
}

Error BadArgument(std::string message, std::string expected) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return BadInput(fault);
}

Error AsUnsupported(std::string message) {
  base::Diagnostic fault;
  fault.message = std::move(message);
  return AsError(CallStatus::kUnsupported, fault);
}

}  // namespace tessera::api
