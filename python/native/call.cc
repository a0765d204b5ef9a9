// SPDX-License-Identifier: Apache-2.0

#include "call.h"

#include <algorithm>

namespace tessera::python {
namespace {

const char* NameOf(CallStatus status) {
  switch (status) {
    case CallStatus::kBadInput:
      return "BadInput";
    case CallStatus::kUnsupported:
      return "Unsupported";
    case CallStatus::kStopped:
      return "Stopped";
    default:
      return "InternalError";
  }
}

}  // namespace

void Raise(const Error& error) {
  using py::literals::operator""_a;
  const py::object type = py::module_::import("tessera.errors").attr(NameOf(error.status));
  const py::object exception =
      type(error.text, "message"_a = error.message, "file"_a = error.file, "line"_a = error.line,
           "column"_a = error.column, "pointer"_a = error.pointer, "expected"_a = error.expected,
           "found"_a = error.found, "hint"_a = error.hint);
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw py::error_already_set();
}

bool Gate::TryEnter() {
  ++inside_;
  const std::thread::id closed_by = closed_by_;
  const bool passes = closed_by == std::thread::id() || closed_by == std::this_thread::get_id();
  if (!passes) --inside_;
  return passes;
}

void Gate::Enter() {
  if (TryEnter()) return;
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

void Gate::Close() {
  closed_by_ = std::this_thread::get_id();
  while (inside_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

RunningCalls& RunningCalls::Get() {
  return py::module_::import("tessera._native").attr("_running_calls").cast<RunningCalls&>();
}

void RunningCalls::Add(std::shared_future<void> thread, const Canceller& canceller) {
  const auto has_ended = [](const Running& call) {
    return call.thread.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  calls_->erase(std::remove_if(calls_->begin(), calls_->end(), has_ended), calls_->end());
  calls_->push_back({std::move(thread), canceller});
}

// Futures of threads that do not exist cannot be destroyed.
void RunningCalls::Forget() {
  static_cast<void>(calls_.release());
  calls_ = std::make_unique<std::vector<Running>>();
  gate_->Forget();
}

void RunningCalls::End() {
  std::vector<Running> calls = std::move(*calls_);
  for (const Running& call : calls) call.canceller.Cancel();
  const std::shared_ptr<Gate> gate = gate_;
  const py::gil_scoped_release unlocked;
  gate->Close();
  calls.clear();
}

}  // namespace tessera::python
