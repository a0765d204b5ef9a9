// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <tessera/call.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/process.h"
#include "tessera/base/stop.h"
#include "tessera/cli/command.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/console.h"
#include "tessera/serve/answerer.h"
#include "tessera/serve/protocol.h"
#include "tessera/serve/request_stream.h"

// `tessera serve --jsonl`: a session over standard streams.
//
//     stdin --> reader --> requests that wait --> worker --> stdout
//                  |                                ^
//                  '-- cancel, signals: cancellers -'
//
// One worker answers in the order of the lines, so the answers do not depend on timing. The reader
// continues meanwhile, so that a request can be cancelled while it waits or is being answered. If
// the system has no thread for the worker, the reader answers each request before it reads on.
namespace tessera::cli {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kBetweenLooks{50};                // at signals
constexpr int64_t kMostWaiting = int64_t{64} << 20;      // bytes of the lines that wait
constexpr int64_t kMostLate = serve::Lines::kMostBytes;  // bytes that are read after a signal

bool IsBlank(const std::string& line) {
  return line.find_first_not_of(" \t\r") == std::string::npos;
}

serve::Request TooLong(int64_t number) {
  serve::Request request;
  base::Diagnostic& fault = request.fault.emplace();
  fault.line = static_cast<int>(std::min<int64_t>(number, std::numeric_limits<int>::max()));
  fault.message = "the line is too long";
  fault.expected = fmt::format("at most {} bytes", serve::Lines::kMostBytes);
  fault.hint = "name a file instead";
  return request;
}

serve::Request NoMemory() {
  serve::Request request;
  request.lacked_memory = true;
  return request;
}

serve::Request RequestOf(serve::Lines::Event event, const std::string& line, int64_t number) {
  if (event == serve::Lines::Event::kNoMemory) return NoMemory();
  if (event == serve::Lines::Event::kTooLong) return TooLong(number);
  return serve::ReadRequest(line, number);
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
    const InterruptGuard guard(api::StopOf(interrupt_));
    serve::AnswererOptions options;
    options.threads = threads_.Get();
    options.memory_limit = memory_limit_;
    options.most_bytes = static_cast<size_t>(most_bytes_);
    const int64_t limit = memory_limit_.value_or(base::UsableBytes());
    waiting_.emplace(static_cast<size_t>(std::min(kMostWaiting, limit / 8)));
    serve::Lines lines(serve::TakeStandardInput());
    ExitCode code = ExitCode::kAnswer;
    {
      const std::jthread worker = StartWorker(options, console);
      const Closer closer{*waiting_};
      code = Read(lines, console);
    }
    if (failure_) std::rethrow_exception(failure_);
    return InterruptGuard::Interrupted() ? ExitCode::kInterrupted : code;
  }

 private:
  // Lets the worker end, also after an exception.
  struct Closer {
    serve::Waiting& waiting;
    ~Closer() { waiting.Close(); }
  };

  std::jthread StartWorker(const serve::AnswererOptions& options, Console& console) {
    try {
      return std::jthread([this, &options, &console] { Work(options, console); });
    } catch (const std::system_error&) {
      alone_.emplace(options);
      return {};
    }
  }

  void Work(const serve::AnswererOptions& options, Console& console) {
    try {
      AnswerAll(options, console);
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      has_failed_ = cannot_go_on_ = true;
    }
  }

  // Answers until no request waits.
  void AnswerAll(const serve::AnswererOptions& options, Console& console) {
    serve::Answerer answerer(options);
    while (const serve::Waiting::Entry* entry = waiting_->AwaitFirst())
      AnswerFirst(answerer, entry->request, entry->canceller, console);
  }

  void AnswerFirst(serve::Answerer& answerer, const serve::Request& request,
                   const Canceller& canceller, Console& console) {
    console.Print(InterruptGuard::Interrupted() ? Refusal(request)
                                                : answerer.Answer(request, canceller));
    if (console.Flush() != 0) cannot_go_on_ = true;
    waiting_->RemoveFirst();
  }

  // Only a signal can cancel the request.
  void AnswerAlone(Console& console) {
    if (!alone_ || waiting_->AwaitNone(Milliseconds(0))) return;
    AnswerFirst(*alone_, waiting_->AwaitFirst()->request, interrupt_, console);
  }

  // Returns the answer to a request that arrived after a signal.
  static std::string Refusal(const serve::Request& request) {
    tessera::Error error;
    error.status = CallStatus::kStopped;
    error.message = "the session was ended by a signal";
    return serve::AnswerToError(request.id, error);
  }

  // After a signal it reads only the bytes that the stream has at once, so that each line has an
  // answer.
  ExitCode Read(serve::Lines& lines, Console& console) {
    using Event = serve::Lines::Event;
    std::string line;
    std::optional<int64_t> end;  // of the bytes that are read after a signal
    for (int64_t number = 1; !cannot_go_on_;) {
      if (InterruptGuard::Interrupted() && !end) end = lines.BytesRead() + kMostLate;
      const Event event = lines.Next(line, end ? Milliseconds(0) : kBetweenLooks);
      if (event == Event::kEnd || (end && lines.BytesRead() > *end)) break;
      if (event == Event::kNothingYet && end) break;
      if (event == Event::kNothingYet) continue;
      if (event == Event::kFault) {
        console.Note(
            fmt::format("standard input: error: cannot read: {}", std::strerror(lines.Error())));
        return ExitCode::kBadInput;
      }
      const int64_t at = number++;
      if (event == Event::kLine && IsBlank(line)) continue;
      const bool is_last = Take(RequestOf(event, line, at), line.size());
      AnswerAlone(console);
      if (is_last) break;
    }
    AwaitEnd();
    return ExitCode::kAnswer;
  }

  // Returns whether the request is the last one.
  bool Take(serve::Request request, size_t bytes) {
    const bool is_read = !request.fault && !request.lacked_memory;
    const bool is_last = is_read && request.method == serve::Method::kQuit;
    if (is_read && request.method == serve::Method::kCancel) waiting_->Cancel(request.target);
    while (!Add(request, bytes)) {
      if (cannot_go_on_) return true;
      if (InterruptGuard::Interrupted()) waiting_->CancelAll();
    }
    return is_last;
  }

  // Returns false if there is no room yet. Finished requests return memory.
  bool Add(serve::Request& request, size_t bytes) {
    try {
      return waiting_->Add(request, bytes, kBetweenLooks);
    } catch (const std::bad_alloc&) {
      if (waiting_->AwaitNone(Milliseconds(0))) throw;
      waiting_->AwaitNone(kBetweenLooks);
      return false;
    }
  }

  // Passes signals on until everything is answered.
  void AwaitEnd() {
    waiting_->Close();
    while (!waiting_->AwaitNone(kBetweenLooks)) {
      if (has_failed_) return;
      if (InterruptGuard::Interrupted() || cannot_go_on_) waiting_->CancelAll();
    }
  }

  bool jsonl_ = false;
  int64_t most_bytes_ = int64_t{512} << 20;
  std::optional<int64_t> memory_limit_;
  ThreadCount threads_;
  Canceller interrupt_;
  std::optional<serve::Waiting> waiting_;
  std::optional<serve::Answerer> alone_;  // without a worker
  std::atomic<bool> cannot_go_on_{false};
  std::atomic<bool> has_failed_{false};  // the worker, with this exception
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace tessera::cli
