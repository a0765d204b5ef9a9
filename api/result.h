// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_RESULT_H_
#define TESSERA_RESULT_H_

#include <tessera/version.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

// Results of calls. No function of this library throws: an error is a value.
namespace tessera {
inline namespace v0 {

// The outcome of a call. It concerns the call itself, not its question: see Outcome in call.h.
enum class CallStatus : std::uint8_t {
  kOk,
  kBadInput,     // an argument or a file is wrong; Error says where, and what is expected
  kUnsupported,  // valid, but not in this build or beyond what it can express
  kStopped,      // a deadline, a cancellation or the end of memory came first
  kInternal,     // an error of the library
};

struct Error {
  CallStatus status = CallStatus::kInternal;
  std::string message;   // one clause: "unknown key 'strde'"
  std::string file;      // as the caller named it; empty if the input is not a file
  int line = 0;          // from 1; 0 if unknown
  int column = 0;        // from 1, in bytes; 0 if unknown
  std::string pointer;   // JSON pointer (RFC 6901), for JSON documents that parse
  std::string expected;  // what is accepted there
  std::string found;     // what is there instead
  std::string hint;      // how to correct it
  std::string text;      // all fields together, in lines, as the command prints them
};

// A value, or the error that explains why there is none. Access to the absent one of the two ends
// the process (std::abort).
template <typename T>
class Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}               // NOLINT
  Result(tessera::Error error) : content_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool HasValue() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return HasValue(); }

  const T& Value() const& { return Get<0>(content_); }
  T& Value() & { return Get<0>(content_); }
  T Value() && { return std::move(Get<0>(content_)); }  // a value: loops over *Call() are safe
  const T& operator*() const& { return Value(); }
  T& operator*() & { return Value(); }
  T operator*() && { return std::move(*this).Value(); }
  const T* operator->() const { return &Value(); }
  T* operator->() { return &Value(); }

  const tessera::Error& Error() const { return Get<1>(content_); }

 private:
  template <std::size_t index, typename Content>
  static auto& Get(Content& content) {
    auto* part = std::get_if<index>(&content);
    if (part == nullptr) std::abort();
    return *part;
  }

  std::variant<T, tessera::Error> content_;
};

// The value of functions that return nothing but may fail.
struct Done {};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_RESULT_H_
