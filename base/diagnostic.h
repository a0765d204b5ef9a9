// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tessera::base {

// An error in an input: what is wrong, where it is, and how to correct it.
//
//     networks/a.yaml:12:7: error: unknown key 'strde'
//        12 |       strde: 2
//           |       ^
//       expected: one of kernel, stride, pads
//       hint: did you mean 'stride'?
struct Diagnostic {
  std::string message;   // one clause, no final stop: "unknown key 'strde'"
  std::string file;      // as the user named it; empty if the input is not a file
  int line = 0;          // counted from 1; 0 when unknown
  int column = 0;        // counted from 1 in bytes; 0 when unknown
  std::string pointer;   // JSON pointer (RFC 6901), for JSON documents that parse
  std::string expected;  // what the reader accepts here
  std::string found;     // what the input contains instead
  std::string hint;      // how to correct it
  std::string excerpt;   // the source line, for the caret
};

// A value, or the diagnostic that explains why there is no value.
template <typename T>
using Expected = tl::expected<T, Diagnostic>;

using Unexpected = tl::unexpected<Diagnostic>;

// The text shown above. It ends in a newline.
std::string Format(const Diagnostic& diagnostic);

// Line number `line` (from 1) of `text` without its line break; empty if it does not exist.
std::string LineOf(std::string_view text, int line);

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
