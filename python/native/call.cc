#include "call.h"

#include <pybind11/stl.h>

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

}  // namespace tessera::python
