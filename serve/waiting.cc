// SPDX-License-Identifier: Apache-2.0

#include "tessera/serve/waiting.h"

#include <utility>

namespace tessera::serve {

bool Waiting::Add(Request& request, size_t bytes, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return HasRoom(bytes); })) return false;
  Entry& entry = entries_.emplace_back();
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
