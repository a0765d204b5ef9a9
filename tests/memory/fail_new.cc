#include <atomic>
#include <cstdlib>
#include <new>

// Preloaded into a command: its n-th allocation fails, n from the environment. Without it, or behind it, none does.
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
  void* const block = --UntilFailure() == 0 ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
