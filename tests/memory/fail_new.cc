#include <atomic>
#include <cstdlib>
#include <new>

// A library to preload into a command. It lets the n-th allocation fail, n from the environment.
// Without n, or after it, no allocation fails. Counting starts when the command has installed its
// handler, which a failure calls. The command cannot handle failures of libraries before main
// begins.
namespace {

long NumberInEnvironment() {
  const char* const number = std::getenv("FAIL_ALLOCATION");
  return number == nullptr ? 0 : std::atol(number);
}

std::atomic<long>& UntilFailure() {
  static std::atomic<long> until{NumberInEnvironment()};
  return until;
}

}  // namespace

void* operator new(size_t bytes) {
  const std::new_handler handler = std::get_new_handler();
  if (handler != nullptr && --UntilFailure() == 0) handler();
  void* const block = std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
