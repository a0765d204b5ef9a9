#pragma once

#include <pybind11/pybind11.h>
#include <tessera/call.h>
#include <tessera/result.h>

#include <chrono>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

// How Python calls the library: errors become exceptions, and long calls run without the
// interpreter's lock and end at Ctrl-C.
namespace tessera::python {

namespace py = pybind11;

// Raises the exception of tessera.errors for the status of the error.
[[noreturn]] void Raise(const Error& error);

template <typename T>
T ValueOf(Result<T> result) {
  if (!result) Raise(result.Error());
  return *std::move(result);
}

// The first exception that the callback for progress raised. Its call is cancelled.
class CallbackFailure {
 public:
  void Note(std::exception_ptr exception) {
    const std::lock_guard lock(mutex_);
    if (!exception_) exception_ = std::move(exception);
  }
  void Rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
};

// Runs `call(options)`, which takes long, on a thread of its own.
//
//     the caller's thread     waits without the lock | wakes, takes it, asks for signals | waits
//     the call's thread       searches ............................ polls the canceller ... ends
//
// Python handles signals only on its main thread and only with the lock, and a search has neither.
// So the caller's thread wakes up to ask for them. A signal whose handler raises, such as Ctrl-C,
// cancels the call, and the exception leaves when the call has ended: nothing of it is left behind.
template <typename Options, typename Call>
auto Run(Options options, const Call& call) {
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const Canceller canceller = options.canceller.value_or(Canceller());
  options.canceller = canceller;
  CallbackFailure failure;
  if (options.progress) {
    options.progress = [&, tell = std::move(options.progress)](std::string_view line) {
      try {
        tell(line);
      } catch (...) {
        failure.Note(std::current_exception());
        canceller.Cancel();
      }
    };
  }
  std::optional<py::error_already_set> interruption;
  auto answer = [&] {
    const py::gil_scoped_release unlocked;
    auto result = std::async(std::launch::async, [&] { return call(std::as_const(options)); });
    while (result.wait_for(kBetweenLooks) != std::future_status::ready) {
      const py::gil_scoped_acquire locked;
      if (interruption || PyErr_CheckSignals() == 0) continue;
      interruption.emplace();
      canceller.Cancel();
    }
    return result.get();
  }();
  if (interruption) throw *std::move(interruption);
  failure.Rethrow();
  return ValueOf(std::move(answer));
}

}  // namespace tessera::python
