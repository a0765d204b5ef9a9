// SPDX-License-Identifier: Apache-2.0

#include "module.h"

#include <tessera/tessera.h>

#include <memory>

#include "call.h"

namespace tessera::python {
namespace {

// Threads of cancelled calls end before the interpreter does.
void HoldEndingCalls(py::module_& module) {
  py::class_<EndingCalls>(module, "_EndingCalls");
  const py::object calls = py::cast(std::make_unique<EndingCalls>());
  module.attr("_ending_calls") = calls;
  py::module_::import("atexit").attr("register")(
      py::cpp_function([calls] { calls.cast<EndingCalls&>().WaitForAll(); }));
  py::module_::import("os").attr("register_at_fork")(
      py::arg("after_in_child") =
          py::cpp_function([calls] { calls.cast<EndingCalls&>().Forget(); }));
}

}  // namespace
}  // namespace tessera::python

PYBIND11_MODULE(_native, module) {
  using namespace tessera::python;
  module.attr("version") = tessera::Version();
  HoldEndingCalls(module);
  DefineOptions(module);
  DefineInputs(module);
  DefineAllocations(module);
  DefinePlans(module);
  DefineQuestions(module);
  DefineSessions(module);
  DefineExplorations(module);
  DefineEvaluators(module);
}
