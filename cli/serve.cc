#include <fmt/format.h>
#include <poll.h>
#include <tessera/call.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tessera/base/stop.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/cli/search_options.h"
#include "tessera/serve/answerer.h"
#include "tessera/serve/request.h"

// `tessera serve --jsonl`: a session over standard streams.
//
//     stdin --> reader --> requests that wait --> worker --> stdout
//                  |                                ^
//                  '-- cancel, signals: cancellers -'
//
// One worker answers in the order of the lines, so the answers depend on no timing. The reader goes
// on meanwhile, so that a request can be cancelled while it is worked on or waits.
namespace tessera::cli {
namespace {

constexpr size_t kMostBytesOfLine = size_t{64} << 20;
constexpr size_t kMostWaiting = 1'000;
constexpr int kBetweenLooks_ms = 50;  // at signals

// Requests in the order of their lines, the one that is worked on first.
class Waiting {
 public:
  struct Entry {
    serve::Request request;
    Canceller canceller;
  };

  // Waits for room, but not longer than one look. False: there is none.
  bool Add(serve::Request& request) {
    std::unique_lock lock(mutex_);
    const auto has_room = [this] { return entries_.size() < kMostWaiting; };
    if (!changed_.wait_for(lock, std::chrono::milliseconds(kBetweenLooks_ms), has_room))
      return false;
    entries_.push_back({std::move(request), Canceller()});
    changed_.notify_all();
    return true;
  }

  // The first one, which stays there; nullptr at the end. Entries of a deque stay in place.
  const Entry* AwaitFirst() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !entries_.empty() || closed_; });
    return entries_.empty() ? nullptr : &entries_.front();
  }

  void RemoveFirst() {
    const std::lock_guard lock(mutex_);
    entries_.pop_front();
    changed_.notify_all();
  }

  void Cancel(const std::string& id) {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.request.id == id) entry.canceller.Cancel();
    }
  }

  void CancelAll() {
    const std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) entry.canceller.Cancel();
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Waits for one look.
  bool IsDone() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(kBetweenLooks_ms),
                             [this] { return entries_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> entries_;
  bool closed_ = false;
};

// The lines of standard input, which may come slowly.
class Lines {
 public:
  enum class Event : uint8_t { kLine, kTooLong, kNothingYet, kEnd, kFault };

  // Waits for one look. `line` is valid until the next call.
  Event Next(std::string& line) {
    while (true) {
      const size_t end = buffer_.find('\n', searched_);
      if (end != std::string::npos || (ended_ && !buffer_.empty())) {
        const size_t length = std::min(end, buffer_.size());
        line = buffer_.substr(0, length);
        buffer_.erase(0, std::min(length + 1, buffer_.size()));
        searched_ = 0;
        return std::exchange(skips_, false) ? Event::kTooLong : Event::kLine;
      }
      if (ended_) return Event::kEnd;
      searched_ = buffer_.size();
      if (buffer_.size() > kMostBytesOfLine) {
        buffer_.clear();
        searched_ = 0;
        skips_ = true;
      }
      if (const auto event = Fill()) return *event;
    }
  }

  int Error() const { return error_; }

 private:
  std::optional<Event> Fill() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, kBetweenLooks_ms) <= 0) return Event::kNothingYet;
    std::array<char, 1 << 16> bytes;
    const ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return Event::kNothingYet;
    if (count < 0) {
      error_ = errno;
      return Event::kFault;
    }
    ended_ = count == 0;
    buffer_.append(bytes.data(), static_cast<size_t>(count));
    return std::nullopt;
  }

  std::string buffer_;
  size_t searched_ = 0;  // bytes without a line break
  bool skips_ = false;   // the rest of a line that is too long
  bool ended_ = false;
  int error_ = 0;
};

bool IsBlank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

serve::Request TooLong(int64_t number) {
  serve::Request request;
  base::Diagnostic& fault = request.fault.emplace();
  fault.line = static_cast<int>(number);
  fault.message = "the line is too long";
  fault.expected = fmt::format("at most {} bytes", kMostBytesOfLine);
  fault.hint = "name a file instead";
  return request;
}

class ServeCommand final : public Command {
 public:
  std::string Name() const override { return "serve"; }
  std::string Summary() const override {
    return "Answer requests on standard input, one JSON object a line, in one session";
  }
  std::string Examples() const override {
    return "Each line is a request; its answer is one line on stdout, in the order of the "
           "requests. "
           "What one request\n"
           "found out helps later ones, and changes no answer. A wrong line is answered with an "
           "error; it ends nothing.\n"
           "docs/serve.md lists the methods and their keys: plan, evaluate, evaluate_at_most, "
           "allocate, check, ping,\n"
           "cancel and quit. The end of the input, quit, SIGINT and SIGTERM end the session.\n\n"
           "Examples:\n"
           "  tessera serve --jsonl < requests.jsonl > answers.jsonl\n"
           "  echo '{\"id\": 1, \"method\": \"plan\", \"network\": \"net.yaml\", \"profile\": "
           "\"npu.yaml\"}' | tessera serve --jsonl\n";
  }

  void Declare(CLI::App& app) override {
    app.add_flag("--jsonl", jsonl_, "Requests and answers are JSON, one a line")->required();
    app.add_option("--keep", most_bytes_,
                   "Bytes that are kept between requests, about; suffixes as in 512Mi")
        ->transform(ByteCount())
        ->capture_default_str();
    app.add_option("--memory-limit", memory_limit_,
                   "Most bytes of memory; a request that needs more is cut off (default: three "
                   "quarters of what the machine or its control group has)")
        ->transform(ByteCount());
    threads_.Declare(app, "answer");
  }

  ExitCode Run(Console& console) override {
    base::Stop stop;
    const InterruptGuard guard(stop);
    std::thread worker([&] { Work(console); });
    const ExitCode code = Read(console);
    waiting_.Close();
    worker.join();
    return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : code;
  }

 private:
  // Answers until there is nothing to wait for.
  void Work(Console& console) {
    serve::AnswererOptions options;
    options.threads = threads_.Get();
    options.memory_limit = memory_limit_;
    options.most_bytes = static_cast<size_t>(most_bytes_);
    serve::Answerer answerer(options);
    while (const Waiting::Entry* entry = waiting_.AwaitFirst()) {
      const bool is_late = InterruptGuard::Interrupted();
      console.Print(is_late ? Refusal(entry->request)
                            : answerer.Answer(entry->request, entry->canceller));
      if (console.Flush() != 0) cannot_write_ = true;
      waiting_.RemoveFirst();
    }
  }

  // Of a request that a signal came before.
  static std::string Refusal(const serve::Request& request) {
    tessera::Error error;
    error.status = CallStatus::kStopped;
    error.message = "the session was ended by a signal";
    return serve::AnswerToError(request.id, error);
  }

  ExitCode Read(Console& console) {
    Lines lines;
    std::string line;
    for (int64_t number = 1; !cannot_write_;) {
      if (InterruptGuard::Interrupted()) {
        waiting_.CancelAll();
        return ExitCode::kInterrupted;
      }
      const Lines::Event event = lines.Next(line);
      if (event == Lines::Event::kNothingYet) continue;
      if (event == Lines::Event::kEnd) break;
      if (event == Lines::Event::kFault) {
        console.Note(
            fmt::format("standard input: error: cannot read: {}", std::strerror(lines.Error())));
        return ExitCode::kBadInput;
      }
      const int64_t at = number++;
      if (event == Lines::Event::kLine && IsBlank(line)) continue;
      if (Take(event == Lines::Event::kLine ? serve::ReadRequest(line, at) : TooLong(at))) break;
    }
    AwaitEnd();
    return ExitCode::kAnswer;
  }

  // Whether the request is the last one.
  bool Take(serve::Request request) {
    const bool is_last = !request.fault && request.method == serve::Method::kQuit;
    if (!request.fault && request.method == serve::Method::kCancel) waiting_.Cancel(request.target);
    while (!waiting_.Add(request)) {
      if (InterruptGuard::Interrupted() || cannot_write_) return true;
    }
    return is_last;
  }

  // Passes signals on until everything is answered.
  void AwaitEnd() {
    waiting_.Close();
    while (!waiting_.IsDone()) {
      if (InterruptGuard::Interrupted() || cannot_write_) waiting_.CancelAll();
    }
  }

  bool jsonl_ = false;
  int64_t most_bytes_ = int64_t{512} << 20;
  std::optional<int64_t> memory_limit_;
  ThreadCount threads_;
  Waiting waiting_;
  std::atomic<bool> cannot_write_{false};
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace tessera::cli
