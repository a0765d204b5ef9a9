#include <atomic>
#include <cstdlib>
#include <new>

// Preloaded into a command: its n-th allocation fails, n from the environment. Without it, or
// behind it, none does. Counted is from when the command has set a handler on, which a failure
// calls: what libraries allocate before main begins, no command can look after.
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
