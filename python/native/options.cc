// SPDX-License-Identifier: Apache-2.0

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <tessera/tessera.h>

#include "module.h"

// The options of calls: the fields of the C++ structs.
namespace tessera::python {

namespace py = pybind11;

void DefineOptions(py::module_& module) {
  py::class_<Canceller>(module, "Canceller",
                        "Ends calls early, from any thread. It stays cancelled.")
      .def(py::init<>())
      .def("cancel", &Canceller::Cancel,
           "Ends every call that has it, with the best answer so far.")
      .def("is_cancelled", &Canceller::IsCancelled, "Whether `cancel` was called.");
  py::class_<CallOptions>(module, "CallOptions")
      .def(py::init<>())
      .def_readwrite("timeout_s", &CallOptions::timeout_s)
      .def_readwrite("memory_limit", &CallOptions::memory_limit)
      .def_readwrite("canceller", &CallOptions::canceller)
      .def_readwrite("threads", &CallOptions::threads)
      .def_readwrite("progress", &CallOptions::progress);
  py::class_<SearchOptions, CallOptions>(module, "SearchOptions")
      .def(py::init<>())
      .def_readwrite("seed", &SearchOptions::seed)
      .def_readwrite("budget", &SearchOptions::budget)
      .def_readwrite("engine", &SearchOptions::engine)
      .def_readwrite("switched_off", &SearchOptions::switched_off);
  // `previous` is a separate argument, because the options hold only its address.
  py::class_<PlanOptions, SearchOptions>(module, "PlanOptions")
      .def(py::init<>())
      .def_readwrite("minimize", &PlanOptions::minimize)
      .def_readwrite("limits", &PlanOptions::limits)
      .def_readwrite("max_operators", &PlanOptions::max_operators)
      .def_readwrite("keep_order", &PlanOptions::keep_order)
      .def_readwrite("keep_boundaries", &PlanOptions::keep_boundaries)
      .def_readwrite("prefetch", &PlanOptions::prefetch)
      .def_readwrite("constraints", &PlanOptions::constraints)
      .def_readwrite("explain", &PlanOptions::explain)
      .def_readwrite("certify", &PlanOptions::certify);
  py::class_<EvaluateOptions, SearchOptions>(module, "EvaluateOptions")
      .def(py::init<>())
      .def_readwrite("move", &EvaluateOptions::move)
      .def_readwrite("explain", &EvaluateOptions::explain);
  py::class_<CheckOptions, CallOptions>(module, "CheckOptions")
      .def(py::init<>())
      .def_readwrite("execute", &CheckOptions::execute)
      .def_readwrite("search", &CheckOptions::search);
  py::class_<AllocateOptions, SearchOptions>(module, "AllocateOptions")
      .def(py::init<>())
      .def_readwrite("capacity", &AllocateOptions::capacity)
      .def_readwrite("minimize", &AllocateOptions::minimize)
      .def_readwrite("peaks", &AllocateOptions::peaks)
      .def_readwrite("gap_percent", &AllocateOptions::gap_percent)
      .def_readwrite("explain", &AllocateOptions::explain)
      .def_readwrite("certify", &AllocateOptions::certify);
  py::class_<TileOptions, SearchOptions>(module, "TileOptions")
      .def(py::init<>())
      .def_readwrite("operators", &TileOptions::operators)
      .def_readwrite("tile", &TileOptions::tile)
      .def_readwrite("all", &TileOptions::all)
      .def_readwrite("explain", &TileOptions::explain);
}

}  // namespace tessera::python
