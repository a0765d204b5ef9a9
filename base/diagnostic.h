#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace tessera::base {

// What is wrong with an input, where, and what to do about it.
//
//     networks/a.yaml:12:7: error: unknown key 'strde'
//        12 |       strde: 2
//           |       ^
//       expected: one of kernel, stride, pads
//       hint: did you mean 'stride'?
struct Diagnostic {
  std::string message;   // one clause, no final stop: "unknown key 'strde'"
  std::string file;      // as the user named it; empty when the input is no file
  int line = 0;          // counted from 1; 0 when unknown
  int column = 0;        // counted from 1 in bytes; 0 when unknown
  std::string pointer;   // JSON pointer (RFC 6901), for JSON documents that parse
  std::string expected;  // what would have been accepted
  std::string found;     // what stands there instead
  std::string hint;      // the cure
  std::string excerpt;   // the source line, for the caret
};

// The value, or why there is none.
template <typename T>
using Expected = tl::expected<T, Diagnostic>;

using Unexpected = tl::unexpected<Diagnostic>;

// The text shown above; ends in a newline.
std::string Format(const Diagnostic& diagnostic);

// The line of `text` that `line` (from 1) names, without its line break; empty when there is none.
std::string LineOf(std::string_view text, int line);

}  // namespace tessera::base
