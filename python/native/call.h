// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pybind11/pybind11.h>
#include <tessera/call.h>
#include <tessera/result.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

// How Python calls the library: errors become exceptions, and long calls run without the
// interpreter's lock and end at Ctrl-C.
namespace tessera::python {

namespace py = pybind11;

// Raises the exception of tessera.errors that belongs to the status of the error.
[[noreturn]] void Raise(const Error& error);

template <typename T>
T ValueOf(Result<T> result) {
  if (!result) Raise(result.Error());
  return *std::move(result);
}

// Returns the session or canceller; raises MemoryError if there was no memory for its state.
template <typename Object>
Object WithState(Object object) {
  if (!object.HasState()) throw std::bad_alloc();
  return object;
}

// Makes a call without the interpreter's lock.
template <typename Call>
auto Unlocked(const Call& call) {
  auto result = [&] {
    const py::gil_scoped_release unlocked;
    return call();
  }();
  return ValueOf(std::move(result));
}

// Calls that were cancelled and whose threads have not ended yet. The module owns this object, and
// waits for the threads before the process ends.
class EndingCalls {
 public:
  EndingCalls() = default;
  EndingCalls(const EndingCalls&) = delete;
  EndingCalls& operator=(const EndingCalls&) = delete;

  // The object of the module.
  static EndingCalls& Get();

  void Add(std::future<void> call);
  void WaitForAll();

  // For a forked process, in which these threads do not exist.
  void Forget();

 private:
  std::vector<std::future<void>> calls_;  // under the interpreter's lock
};

// Passes progress to the callback of a caller. Keeps the first exception that the callback raises,
// and cancels the call.
class Listener {
 public:
  Listener(std::function<void(const Progress&)> listen, Canceller canceller)
      : listen_(std::move(listen)), canceller_(std::move(canceller)) {}

  void Tell(const Progress& progress) {
    if (canceller_.IsCancelled()) return;
    try {
      listen_(progress);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
      canceller_.Cancel();
    }
  }
  void Rethrow() {
    const std::lock_guard lock(mutex_);
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::function<void(const Progress&)> listen_;
  Canceller canceller_;
  std::mutex mutex_;
  std::exception_ptr exception_;
};

// Runs `call(options)`, which may take long, on a separate thread.
//
//     the caller's thread     waits without the lock | wakes, takes it, asks for signals | waits
//     the call's thread       searches ............................ polls the canceller ... ends
//
// Python handles signals only on its main thread and only with the lock, and a search has neither.
// So the caller's thread wakes up to check for them. A signal whose handler raises, such as Ctrl-C,
// cancels the call, and its exception leaves at once; the call's thread ends a little later. So
// `call` must own everything that it uses.
template <typename Options, typename Call>
auto Run(Options options, Call call) {
  using Answer = decltype(call(std::as_const(options)));
  constexpr std::chrono::milliseconds kBetweenLooks{20};
  const Canceller canceller = WithState(options.canceller.value_or(Canceller()));
  options.canceller = canceller;
  std::shared_ptr<Listener> listener;
  if (options.progress) {
    listener = std::make_shared<Listener>(std::move(options.progress), canceller);
    options.progress = [listener](const Progress& each) { listener->Tell(each); };
  }
  const auto answer = std::make_shared<std::optional<Answer>>();
  std::optional<py::error_already_set> interruption;
  std::future<void> end;
  {
    const py::gil_scoped_release unlocked;
    end = std::async(std::launch::async, [options = std::move(options), call = std::move(call),
                                          answer] { answer->emplace(call(options)); });
    while (end.wait_for(kBetweenLooks) != std::future_status::ready && !interruption) {
      const py::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() == 0) continue;
      interruption.emplace();
      canceller.Cancel();
    }
  }
  if (interruption) {
    EndingCalls::Get().Add(std::move(end));
    throw *interruption;
  }
  end.get();
  if (listener) listener->Rethrow();
  return ValueOf(std::move(**answer));
}

// As Run, for a call that nothing can cut off: its thread ends later if a signal raises.
template <typename Call>
auto RunWhole(Call call) {
  return Run(CallOptions(), [call = std::move(call)](const CallOptions&) { return call(); });
}

// Returns whether an answer, or one of several, was cut off.
template <typename Answer>
bool IsStopped(const Answer& answer) {
  return answer.stopped;
}
template <typename Answer>
bool IsStopped(const std::vector<Answer>& answers) {
  return std::any_of(answers.begin(), answers.end(),
                     [](const Answer& each) { return each.stopped; });
}

// As Run, for a call that usually ends in less time than a thread costs: the caller's thread makes
// the call, with a deadline so short that a signal can wait. An answer that the deadline cut off is
// made again by Run. No other answer depends on the deadline.
template <typename Options, typename Call>
auto RunShort(const Options& options, Call call, double short_s = 0.01) {
  if (!options.progress) {  // otherwise progress could be passed on twice
    Options limited = options;
    limited.timeout_s = std::min(options.timeout_s.value_or(short_s), short_s);
    auto answer = [&] {
      const py::gil_scoped_release unlocked;
      return call(std::as_const(limited));
    }();
    if (answer && !IsStopped(*answer)) return *std::move(answer);
  }
  return Run(options, std::move(call));
}

}  // namespace tessera::python
