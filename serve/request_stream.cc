// SPDX-License-Identifier: Apache-2.0

#include "tessera/serve/request_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <utility>

namespace tessera::serve {

Lines::~Lines() {
  if (descriptor_ >= 0) close(descriptor_);
}

Lines::Event Lines::Next(std::string& line, std::chrono::milliseconds patience) {
  while (true) {
    const size_t end = buffer_.find('\n', searched_);
    const bool is_last = ended_ && (!buffer_.empty() || skips_);
    if (end != std::string::npos || is_last) return TakeLine(std::min(end, buffer_.size()), line);
    if (ended_) return Event::kEnd;
    searched_ = buffer_.size();
    if (buffer_.size() > kMostBytes) Skip(Event::kTooLong);
    if (const auto event = Fill(patience)) return *event;
  }
}

Lines::Event Lines::TakeLine(size_t length, std::string& line) {
  constexpr size_t kLarge = size_t{1} << 20;
  Event event = skips_.value_or(length > kMostBytes ? Event::kTooLong : Event::kLine);
  skips_.reset();
  try {
    if (event == Event::kLine) line.assign(buffer_, 0, length);
  } catch (const std::bad_alloc&) {
    event = Event::kNoMemory;
  }
  buffer_.erase(0, std::min(length + 1, buffer_.size()));
  if (buffer_.capacity() > kLarge) buffer_.shrink_to_fit();
  searched_ = 0;
  return event;
}

std::optional<Lines::Event> Lines::Fill(std::chrono::milliseconds patience) {
  constexpr size_t kBlock = size_t{1} << 16;
  pollfd input{descriptor_, POLLIN, 0};
  if (descriptor_ >= 0 && poll(&input, 1, static_cast<int>(patience.count())) <= 0)
    return Event::kNothingYet;
  std::array<char, kBlock> bytes;
  const ssize_t count = read(descriptor_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return Event::kNothingYet;
  if (count < 0) {
    error_ = errno;
    return Event::kFault;
  }
  ended_ = count == 0;
  bytes_read_ += count;
  Append({bytes.data(), static_cast<size_t>(count)});
  return std::nullopt;
}

// The buffer holds the start of one line.
void Lines::Append(std::string_view bytes) {
  try {
    buffer_.append(bytes);
  } catch (const std::bad_alloc&) {
    Skip(Event::kNoMemory);
    buffer_.append(bytes);
  }
}

void Lines::Skip(Event why) {
  std::string().swap(buffer_);
  searched_ = 0;
  if (!skips_) skips_ = why;
}

int TakeStandardInput() {
  const int stream = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (stream < 0) return -1;
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    close(nothing);
  }
  return stream;
}

bool Waiting::Add(Request& request, size_t bytes, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return HasRoom(bytes); })) return false;
  Entry& entry = entries_.emplace_back();
  if (!entry.canceller.HasState()) {
    entries_.pop_back();
    throw std::bad_alloc();
  }
  entry.request = std::move(request);
  entry.bytes = bytes;
  bytes_ += bytes;
  changed_.notify_all();
  return true;
}

const Waiting::Entry* Waiting::AwaitFirst() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !entries_.empty() || closed_; });
  return entries_.empty() ? nullptr : &entries_.front();
}

void Waiting::RemoveFirst() {
  const std::lock_guard lock(mutex_);
  bytes_ -= entries_.front().bytes;
  entries_.pop_front();
  changed_.notify_all();
}

void Waiting::Cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.request.id == id) entry.canceller.Cancel();
  }
}

void Waiting::CancelAll() {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) entry.canceller.Cancel();
}

void Waiting::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Waiting::AwaitNone(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [this] { return entries_.empty(); });
}

}  // namespace tessera::serve
