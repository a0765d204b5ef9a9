// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/explore.h>

#include <string>

#include "call.h"
#include "module.h"

// Searches over hardware.
namespace tessera::python {
namespace {

py::dict ExploreIn(const std::string& specification, bool is_text, const ExploreOptions& options) {
  const ExploreAnswer answer = Run(options, [=](const ExploreOptions& given) {
    return is_text ? ExploreText(specification, given) : Explore(specification, given);
  });
  py::dict fields;
  fields["json"] = answer.json;
  fields["text"] = answer.text;
  fields["csv"] = answer.csv;
  fields["html"] = answer.html;
  fields["stopped"] = answer.stopped;
  return fields;
}

}  // namespace

void DefineExplorations(py::module_& module) {
  py::class_<ExploreOptions, CallOptions>(module, "ExploreOptions")
      .def(py::init<>())
      .def_readwrite("store", &ExploreOptions::store)
      .def_readwrite("exhaustive", &ExploreOptions::exhaustive)
      .def_readwrite("relax", &ExploreOptions::relax)
      .def_readwrite("least", &ExploreOptions::least)
      .def_readwrite("marginal", &ExploreOptions::marginal)
      .def_readwrite("uncertainty", &ExploreOptions::uncertainty)
      .def_readwrite("adaptive", &ExploreOptions::adaptive);
  module.def("explore", &ExploreIn);
}

}  // namespace tessera::python
