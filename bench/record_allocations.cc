// SPDX-License-Identifier: Apache-2.0

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

// A library to load before a program, which records the program's allocations as a trace that
// `tessera convert --from trace` reads:
//
//     TESSERA_TRACE=trace.txt LD_PRELOAD=librecord_allocations.so PROGRAM ...
//
// Each allocation is a line "alloc ADDRESS SIZE", each free a line "free ADDRESS"; a reallocation
// is both. Nothing is recorded in child processes. One lock orders allocations, frees and lines, so
// that an address never seems to be in use twice. The library itself must not allocate: lines go
// into a fixed buffer, and a fixed arena serves the dynamic linker while it finds the functions of
// the C library.
namespace {

constexpr size_t kArena = 1 << 16, kLines = 1 << 20, kLongestLine = 64;

alignas(16) char arena[kArena];
size_t arena_used = 0;
char lines[kLines];
size_t lines_used = 0;
int file = -1;
pid_t recorded = 0;
bool finding = false;
std::atomic_flag lock = ATOMIC_FLAG_INIT;

void* (*real_malloc)(size_t) = nullptr;
void (*real_free)(void*) = nullptr;
void* (*real_calloc)(size_t, size_t) = nullptr;
void* (*real_realloc)(void*, size_t) = nullptr;
int (*real_posix_memalign)(void**, size_t, size_t) = nullptr;

class Guard {
 public:
  Guard() {
    while (lock.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Guard() { lock.clear(std::memory_order_release); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

template <typename Function>
void FindOne(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Called before the first allocation, with the lock held.
void Find() {
  if (real_posix_memalign != nullptr || finding) return;
  finding = true;
  FindOne(real_malloc, "malloc");
  FindOne(real_free, "free");
  FindOne(real_calloc, "calloc");
  FindOne(real_realloc, "realloc");
  FindOne(real_posix_memalign, "posix_memalign");
  finding = false;
  recorded = getpid();
  if (const char* const path = std::getenv("TESSERA_TRACE"))
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

bool IsInArena(const void* memory) { return memory >= arena && memory < arena + kArena; }

void* TakeFromArena(size_t size) {
  const size_t begin = arena_used;
  arena_used += (size + 15) / 16 * 16;
  return arena_used <= kArena ? arena + begin : nullptr;
}

void Flush() {
  size_t written = 0;
  while (file >= 0 && written < lines_used) {
    const ssize_t count = write(file, lines + written, lines_used - written);
    if (count > 0) {
      written += static_cast<size_t>(count);
    } else if (errno != EINTR) {
      close(file);
      file = -1;
    }
  }
  lines_used = 0;
}

void Append(const char* word) {
  const size_t length = std::strlen(word);
  std::memcpy(lines + lines_used, word, length);
  lines_used += length;
}

void Append(uint64_t number, uint64_t base) {
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number > 0);
  while (count > 0) lines[lines_used++] = digits[--count];
}

// Called with the lock held.
void Record(const char* word, const void* memory, const size_t* size) {
  if (file < 0 || memory == nullptr || getpid() != recorded) return;
  if (lines_used + kLongestLine > kLines) Flush();
  Append(word);
  Append(reinterpret_cast<uintptr_t>(memory), 16);
  if (size != nullptr) {
    Append(" ");
    Append(*size == 0 ? 1 : *size, 10);
  }
  Append("\n");
}

void RecordBirth(const void* memory, size_t size) { Record("alloc ", memory, &size); }
void RecordDeath(const void* memory) { Record("free ", memory, nullptr); }

[[gnu::destructor]] void End() {
  const Guard guard;
  if (getpid() == recorded) Flush();
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* malloc(size_t size) noexcept {
  if (finding) return TakeFromArena(size);
  const Guard guard;
  Find();
  void* const memory = real_malloc(size);
  RecordBirth(memory, size);
  return memory;
}

[[gnu::visibility("default")]] void free(void* memory) noexcept {
  if (memory == nullptr || IsInArena(memory)) return;
  const Guard guard;
  Find();
  RecordDeath(memory);
  real_free(memory);
}

[[gnu::visibility("default")]] void* calloc(size_t count, size_t size) noexcept {
  if (finding) return TakeFromArena(count * size);
  const Guard guard;
  Find();
  void* const memory = real_calloc(count, size);
  RecordBirth(memory, count * size);
  return memory;
}

[[gnu::visibility("default")]] void* realloc(void* memory, size_t size) noexcept {
  if (memory == nullptr) return malloc(size);
  if (IsInArena(memory)) {
    void* const moved = malloc(size);
    const size_t most = static_cast<size_t>(arena + kArena - static_cast<char*>(memory));
    if (moved != nullptr) std::memcpy(moved, memory, size < most ? size : most);
    return moved;
  }
  const Guard guard;
  Find();
  void* const moved = real_realloc(memory, size);
  if (moved == nullptr && size > 0) return nullptr;
  RecordDeath(memory);
  RecordBirth(moved, size);
  return moved;
}

[[gnu::visibility("default")]] int posix_memalign(void** memory, size_t alignment,
                                                  size_t size) noexcept {
  const Guard guard;
  Find();
  const int error = real_posix_memalign(memory, alignment, size);
  if (error == 0) RecordBirth(*memory, size);
  return error;
}

[[gnu::visibility("default")]] void* aligned_alloc(size_t alignment, size_t size) noexcept {
  void* memory = nullptr;
  const size_t least = alignment < sizeof(void*) ? sizeof(void*) : alignment;
  const int error = posix_memalign(&memory, least, size);
  if (error != 0) errno = error;
  return error == 0 ? memory : nullptr;
}

[[gnu::visibility("default")]] void* memalign(size_t alignment, size_t size) noexcept {
  return aligned_alloc(alignment, size);
}
}
