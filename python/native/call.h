// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pybind11/pybind11.h>
#include <tessera/call.h>
#include <tessera/result.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
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

// Where threads wait before they take the interpreter's lock. When the interpreter ends, it unwinds
// every thread that asks for the lock, and destructors of C++ do not survive that. So the gate
// closes before, and from then on only the thread that closed it passes.
class Gate {
 public:
  // Before and after the lock is taken. If the gate is closed, Enter does not return, and TryEnter
  // returns false.
  void Enter();
  bool TryEnter();
  void Leave() { --inside_; }

  // Returns when no other thread is taking the lock. Call it without the lock.
  void Close();

  // For a forked process, which has no other threads.
  void Forget() { inside_ = 0; }

 private:
  std::atomic<std::thread::id> closed_by_;
  std::atomic<int> inside_{0};
};

// Calls whose threads may not have ended yet. The module owns this object.
class RunningCalls {
 public:
  RunningCalls() = default;
  RunningCalls(const RunningCalls&) = delete;
  RunningCalls& operator=(const RunningCalls&) = delete;

  // The object of the module.
  static RunningCalls& Get();

  void Add(std::shared_future<void> thread, const Canceller& canceller);
  const std::shared_ptr<Gate>& TheGate() const { return gate_; }

  // Before the interpreter ends: cancels the calls and waits for their threads.
  void End();

  // For a forked process, in which these threads do not exist.
  void Forget();

 private:
  struct Running {
    std::shared_future<void> thread;
    Canceller canceller;
  };
  // Under the interpreter's lock.
  std::unique_ptr<std::vector<Running>> calls_ = std::make_unique<std::vector<Running>>();
  std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
};

// Gives the interpreter's lock up, until it is destroyed.
class Unlock {
 public:
  Unlock() : gate_(RunningCalls::Get().TheGate()), state_(PyEval_SaveThread()) {}
  Unlock(const Unlock&) = delete;
  Unlock& operator=(const Unlock&) = delete;
  ~Unlock() { Take(); }

  // Takes the lock for the time of this function.
  template <typename Function>
  void Locked(const Function& function) {
    Take();
    function();
    state_ = PyEval_SaveThread();
  }

 private:
  void Take() {
    gate_->Enter();
    PyEval_RestoreThread(state_);
    gate_->Leave();
  }

  std::shared_ptr<Gate> gate_;
  PyThreadState* state_;
};

// Makes a call without the interpreter's lock.
template <typename Call>
auto Unlocked(const Call& call) {
  auto result = [&] {
    const Unlock unlocked;
    return call();
  }();
  return ValueOf(std::move(result));
}

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
  {
    const std::shared_future<void> end =
        std::async(std::launch::async, [options = std::move(options), call = std::move(call),
                                        answer] { answer->emplace(call(options)); });
    RunningCalls::Get().Add(end, canceller);
    Unlock unlocked;
    while (end.wait_for(kBetweenLooks) != std::future_status::ready && !interruption) {
      unlocked.Locked([&interruption] {
        if (PyErr_CheckSignals() != 0) interruption.emplace();
      });
      if (interruption) canceller.Cancel();
    }
  }
  if (interruption) throw *interruption;
  if (listener) listener->Rethrow();
  return ValueOf(std::move(**answer));
}

// As Run, for a call that nothing can cut off: its thread ends later if a signal raises.
template <typename Call>
auto RunWhole(Call call) {
  return Run(CallOptions(), [call = std::move(call)](const CallOptions&) { return call(); });
}

// The same, but without a thread for an input that is read in less time than that costs.
template <typename Call>
auto RunOnInput(std::size_t bytes, Call call) {
  constexpr std::size_t kFewBytes = 1 << 19;
  return bytes < kFewBytes ? Unlocked(call) : RunWhole(std::move(call));
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
      const Unlock unlocked;
      return call(std::as_const(limited));
    }();
    if (answer && !IsStopped(*answer)) return *std::move(answer);
  }
  return Run(options, std::move(call));
}

}  // namespace tessera::python
