#include "tessera/cli/console.h"

#include <unistd.h>

#include <chrono>

namespace tessera::cli {

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
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::Note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

void Console::Progress(std::string_view text) {
  if (!terminal_) return;
  using std::chrono::duration_cast, std::chrono::milliseconds, std::chrono::steady_clock;
  const std::lock_guard lock(mutex_);
  const long long ms = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
  if (line_shown_ && ms - last_shown_ms_ < 100) return;
  last_shown_ms_ = ms;
  constexpr size_t kWidth = 78;
  text = text.substr(0, kWidth);
  std::fprintf(stderr, "\r\x1b[K%.*s", static_cast<int>(text.size()), text.data());
  std::fflush(stderr);
  line_shown_ = true;
}

ExitCode Console::Refuse(const base::Diagnostic& diagnostic) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fputs(base::Format(diagnostic).c_str(), stderr);
  return ExitCode::kBadInput;
}

ExitCode Console::Fail(const base::Diagnostic& diagnostic) {
  const std::lock_guard lock(mutex_);
  Clear();
  std::fprintf(stderr, "internal %s  please report this with the input that caused it\n",
               base::Format(diagnostic).c_str());
  return ExitCode::kInternal;
}

bool Console::Flush() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace tessera::cli
