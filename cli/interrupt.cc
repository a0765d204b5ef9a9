#include "tessera/cli/interrupt.h"

#include <atomic>
#include <csignal>

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
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  Watched().store(nullptr);
}

bool InterruptGuard::Interrupted() { return Seen().load(); }

}  // namespace tessera::cli
