// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::serve {

// The lines of a stream that may come slowly. Owns its descriptor.
class Lines {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;  // of a line

  enum class Event : uint8_t {
    kLine,
    kTooLong,   // a line that has more than kMostBytes
    kNoMemory,  // a line that there was no memory for
    kNothingYet,
    kEnd,
    kFault,  // see Error()
  };

  explicit Lines(int descriptor) : descriptor_(descriptor) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines();

  // Returns the next line without its line break; waits for it no longer than `patience`. Throws
  // std::bad_alloc only if there is no memory even for a block of the stream.
  Event Next(std::string& line, std::chrono::milliseconds patience);

  int64_t BytesRead() const { return bytes_read_; }
  int Error() const { return error_; }  // of errno

 private:
  std::optional<Event> Fill(std::chrono::milliseconds patience);
  void Append(std::string_view bytes);
  void Skip(Event why);
  Event TakeLine(size_t length, std::string& line);

  int descriptor_;
  std::string buffer_;
  size_t searched_ = 0;         // bytes without a line break
  std::optional<Event> skips_;  // why the rest of a line is left out
  bool ended_ = false;
  int64_t bytes_read_ = 0;
  int error_ = 0;
};

// Returns standard input under another descriptor. Descriptor 0 becomes an empty file, so that
// nothing else in the process reads standard input, whatever name it uses ("-", /dev/stdin).
// Returns -1, with errno, if there is no standard input.
int TakeStandardInput();

}  // namespace tessera::serve
