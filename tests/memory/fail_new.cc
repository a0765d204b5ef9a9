// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

// A library to preload into a command. It lets the allocation number FAIL_ALLOCATION fail; with 0,
// none. At the end it writes the number of allocations to the file COUNT_ALLOCATIONS, if that is
// set. Counting starts when the command has installed its handler, which a failure calls. The
// command cannot handle failures of libraries before main begins.
namespace {

class Allocations {
 public:
  Allocations() {
    if (const char* const number = std::getenv("FAIL_ALLOCATION")) failing_ = std::atol(number);
  }
  ~Allocations() {
    const char* const path = std::getenv("COUNT_ALLOCATIONS");
    if (path == nullptr) return;
    if (std::FILE* const file = std::fopen(path, "w")) {
      std::fprintf(file, "%ld\n", count_.load());
      std::fclose(file);
    }
  }

  bool NextFails() { return ++count_ == failing_; }

 private:
  std::atomic<long> count_{0};
  long failing_ = 0;
};

Allocations& OfThisProcess() {
  static Allocations allocations;
  return allocations;
}

}  // namespace

void* operator new(size_t bytes) {
  const std::new_handler handler = std::get_new_handler();
  if (handler != nullptr && OfThisProcess().NextFails()) handler();
  void* const block = std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
