// SPDX-License-Identifier: Apache-2.0

#include "tessera/tests/memory/failing_new.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace tessera {

std::atomic<int64_t>& UntilFailure() {
  static std::atomic<int64_t> until{0};
  return until;
}

std::atomic<int64_t>& Blocks() {
  static std::atomic<int64_t> blocks{0};
  return blocks;
}

namespace {

// A function of its own: if inlined, the compiler reports free() as a mismatch with operator new.
[[gnu::noinline]] void Release(void* block) { std::free(block); }

}  // namespace
}  // namespace tessera

void* operator new(size_t bytes) {
  using tessera::UntilFailure;
  if (UntilFailure().load(std::memory_order_relaxed) > 0 && --UntilFailure() == 0)
    throw std::bad_alloc();
  void* const block = std::malloc(std::max<size_t>(bytes, 1));
  if (block == nullptr) throw std::bad_alloc();
  ++tessera::Blocks();
  return block;
}

// std::stable_sort calls this form. A sanitizer has its own, which would not match the delete
// below.
void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* block) noexcept {
  if (block == nullptr) return;
  --tessera::Blocks();
  tessera::Release(block);
}

void operator delete(void* block, size_t /*bytes*/) noexcept { operator delete(block); }
