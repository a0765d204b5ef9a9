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

EndingCalls& EndingCalls::Get() {
  return py::module_::import("tessera._native").attr("_ending_calls").cast<EndingCalls&>();
}

void EndingCalls::Add(std::future<void> call) {
  const auto has_ended = [](const std::future<void>& other) {
    return other.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), has_ended), calls_.end());
  calls_.push_back(std::move(call));
}

// Futures of threads that do not exist cannot be destroyed.
void EndingCalls::Forget() {
  static_cast<void>(std::make_unique<std::vector<std::future<void>>>(std::move(calls_)).release());
  calls_.clear();
}

void EndingCalls::WaitForAll() {
  std::vector<std::future<void>> calls = std::move(calls_);
  const py::gil_scoped_release unlocked;
  calls.clear();
}

}  // namespace tessera::python
