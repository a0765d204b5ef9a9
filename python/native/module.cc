// SPDX-License-Identifier: Apache-2.0

#include "module.h"

#include <tessera/tessera.h>

#include <memory>
#include <string>

#include "call.h"

namespace tessera::python {
namespace {

// Threads of calls end before the interpreter does.
void HoldRunningCalls(py::module_& module) {
  const py::class_<RunningCalls> type(module, "_RunningCalls");
  const py::object calls = py::cast(std::make_unique<RunningCalls>());
  module.attr("_running_calls") = calls;
  py::module_::import("atexit").attr("register")(
      py::cpp_function([calls] { calls.cast<RunningCalls&>().End(); }));
  py::module_::import("os").attr("register_at_fork")(
      py::arg("after_in_child") =
          py::cpp_function([calls] { calls.cast<RunningCalls&>().Forget(); }));
}

// What pickle does by default with protocols 0 and 1 ends the process for classes of pybind11.
void RefuseToPickle(const py::module_& module) {
  const auto refuse = [](const py::object& self) {
    const auto name = py::str(py::type::of(self).attr("__name__")).cast<std::string>();
    throw py::type_error("cannot pickle a '" + name + "' object");
  };
  for (const auto& [name, member] : py::dict(module.attr("__dict__"))) {
    if (!py::isinstance<py::type>(member) || py::hasattr(member, "__members__")) continue;
    member.attr("__reduce__") =
        py::cpp_function(refuse, py::name("__reduce__"), py::is_method(member));
  }
}

}  // namespace
}  // namespace tessera::python

PYBIND11_MODULE(_native, module) {
  using namespace tessera::python;
  module.attr("version") = tessera::Version();
  HoldRunningCalls(module);
  DefineOptions(module);
  DefineInputs(module);
  DefineAllocations(module);
  DefinePlans(module);
  DefineQuestions(module);
  DefineListsAndFits(module);
  DefineSessions(module);
  DefineExplorations(module);
  DefineEvaluators(module);
  RefuseToPickle(module);
}
