// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>

#include "tessera/base/text.h"
#include "tessera/cli/exit_code.h"

namespace tessera::cli {
namespace {

constexpr const char* kReportThis = "  please report this with the input that caused it\n";

}  // namespace

Console::Console() : terminal_(isatty(STDERR_FILENO) != 0) {}

Console::~Console() { Clear(); }

void Console::Clear() {
  if (!line_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  line_shown_ = false;
}

void Console::Print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  Clear();
  const std::string printable = base::Printable(text, "\n\t");
  if (std::fwrite(printable.data(), 1, printable.size(), stdout) < printable.size() &&
      stdout_error_ == 0)
    stdout_error_ = errno;
}

void Console::Note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fprintf(stderr, "%s\n", base::Printable(text).c_str());
}

void Console::Progress(std::string_view text) {
  if (!terminal_) return;
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
  const std::lock_guard lock(mutex_);
  const long long ms = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  if (line_shown_ && ms - last_shown_ms_ < 100) return;
  last_shown_ms_ = ms;
  constexpr size_t kWidth = 78;
  const std::string printable = base::Printable(text);
  std::fprintf(stderr, "\r\x1b[K%s", std::string(base::Shortened(printable, kWidth)).c_str());
  std::fflush(stderr);
  line_shown_ = true;
}

ExitCode Console::Refuse(const base::Diagnostic& diagnostic) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fputs(base::Format(diagnostic).c_str(), stderr);
  return ExitCode::kBadInput;
}

ExitCode Console::Refuse(const Error& error, const std::string& file) {
  const bool is_internal = error.status == CallStatus::kInternal;
  const bool names_file = !error.file.empty() || file.empty();
  const std::lock_guard lock(mutex_);
  Clear();
  std::fprintf(stderr, "%s%s%s%s", is_internal ? "internal " : "",
               names_file ? "" : base::Printable(file).c_str(), names_file ? "" : ": ",
               error.text.c_str());
  if (is_internal) {
    std::fputs(kReportThis, stderr);
    return ExitCode::kInternal;
  }
  return error.status == CallStatus::kStopped ? ExitCode::kLimit : ExitCode::kBadInput;
}

ExitCode Console::Fail(const base::Diagnostic& diagnostic) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fprintf(stderr, "internal %s%s", base::Format(diagnostic).c_str(), kReportThis);
  return ExitCode::kInternal;
}

int Console::Flush() {
  const std::lock_guard lock(mutex_);
  if (std::fflush(stdout) != 0 && stdout_error_ == 0) stdout_error_ = errno;
  return stdout_error_;
}

namespace {

// A signal handler can access only static storage.
std::atomic<base::Stop*>& Watched() {
  static std::atomic<base::Stop*> watched{nullptr};
  return watched;
}

std::atomic<const Canceller*>& WatchedCanceller() {
  static std::atomic<const Canceller*> watched{nullptr};
  return watched;
}

std::atomic<bool>& Seen() {
  static std::atomic<bool> seen{false};
  return seen;
}

// A text that a signal handler can read.
struct LastWords {
  std::array<char, 4096> text = {};
  std::atomic<size_t> size{0};
};

LastWords& ToSay() {
  static LastWords words;
  return words;
}

// Used when no work with an answer is under way.
void EndAtOnce(int /*signal*/) {
  const LastWords& words = ToSay();
  static_cast<void>(write(STDERR_FILENO, words.text.data(), words.size.load()));
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

void OnSignal(int signal) {
  Seen().store(true);
  if (base::Stop* stop = Watched().load(); stop != nullptr) stop->Request();
  if (const Canceller* canceller = WatchedCanceller().load(); canceller != nullptr)
    canceller->Cancel();
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard(base::Stop& stop) {
  Watched().store(&stop);
  Begin();
}

InterruptGuard::InterruptGuard(const Canceller& canceller) {
  WatchedCanceller().store(&canceller);
  Begin();
}

void InterruptGuard::Begin() {
  Seen().store(false);
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

InterruptGuard::~InterruptGuard() {
  EndOnInterrupt();
  Watched().store(nullptr);
  WatchedCanceller().store(nullptr);
}

HeldInterrupts::HeldInterrupts() {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &interrupts, &before_);
}

HeldInterrupts::~HeldInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void EndOnInterrupt() {
  std::signal(SIGINT, EndAtOnce);
  std::signal(SIGTERM, EndAtOnce);
}

void SayOnInterrupt(std::string_view text) {
  LastWords& words = ToSay();
  words.size = 0;
  const size_t most = std::min(text.size(), words.text.size());
  const size_t end = most < text.size() ? text.rfind('\n', most - 1) + 1 : most;
  std::copy_n(text.begin(), end, words.text.begin());
  words.size = end;
}

bool InterruptGuard::Interrupted() { return Seen().load(); }

}  // namespace tessera::cli
