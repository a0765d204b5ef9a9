#include "tessera/cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "tessera/cli/exit_code.h"

namespace tessera::cli {
namespace {

// A signal handler can reach nothing but static storage.
std::atomic<base::Stop*>& Watched() {
  static std::atomic<base::Stop*> watched{nullptr};
  return watched;
}

std::atomic<bool>& Seen() {
  static std::atomic<bool> seen{false};
  return seen;
}

// Where nothing is under way that has an answer to give.
void EndAtOnce(int /*signal*/) { _exit(static_cast<int>(ExitCode::kInterrupted)); }

void OnSignal(int signal) {
  Seen().store(true);
  if (base::Stop* stop = Watched().load(); stop != nullptr) stop->Request();
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard(base::Stop& stop) {
  Seen().store(false);
  Watched().store(&stop);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

InterruptGuard::~InterruptGuard() {
  EndOnInterrupt();
  Watched().store(nullptr);
}

void EndOnInterrupt() {
  std::signal(SIGINT, EndAtOnce);
  std::signal(SIGTERM, EndAtOnce);
}

bool InterruptGuard::Interrupted() { return Seen().load(); }

}  // namespace tessera::cli
