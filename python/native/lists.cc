// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/fit.h>
#include <tessera/lists.h>
#include <tessera/plan.h>

#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "module.h"

// Lists of buffers in other formats, in figures and generated; profiles that are fitted; and plans
// that are compared.
namespace tessera::python {
namespace {

void DefineLists(py::module_& module) {
  py::class_<ListVariations>(module, "ListVariations")
      .def(py::init<>())
      .def_readwrite("seed", &ListVariations::seed)
      .def_readwrite("fixed_share", &ListVariations::fixed_share)
      .def_readwrite("separated", &ListVariations::separated)
      .def_readwrite("penalties", &ListVariations::penalties)
      .def_readwrite("values", &ListVariations::values);
  py::class_<ListRequest, ListVariations>(module, "ListRequest")
      .def(py::init<>())
      .def_readwrite("family", &ListRequest::family)
      .def_readwrite("buffers", &ListRequest::buffers)
      .def_readwrite("parameters", &ListRequest::parameters);
  module.def("write_list",
             [](const Problem& problem, const std::string& format, const std::string& lifetimes) {
               return RunWhole([=] { return WriteList(problem, {format, lifetimes}); }).text;
             });
  module.def("statistics", [](const Problem& problem) {
    return RunWhole([=] { return StatisticsOf(problem); }).json;
  });
  module.def("generate_list", [](const ListRequest& request) {
    return RunWhole([=] { return GenerateList(request); }).problem;
  });
  module.def("vary_list", [](const Problem& problem, const ListVariations& variations) {
    return RunWhole([=] { return VaryList(problem, variations); }).problem;
  });
}

void DefineFit(py::module_& module) {
  using Networks = std::vector<std::pair<std::string, Network>>;
  py::class_<Measurements>(module, "Measurements")
      .def_static("load",
                  [](const std::string& path, const Profile& profile) {
                    return RunWhole([=] { return Measurements::Load(path, profile); });
                  })
      .def_static("parse",
                  [](const std::string& csv, const Profile& profile, const Networks& networks) {
                    return RunWhole([=] { return Measurements::Parse(csv, profile, networks); });
                  });
  module.def("fit_profile", [](const Profile& profile, const Measurements& measured,
                               const CallOptions& options) {
    const ProfileFit fit =
        Run(options, [=](const auto& given) { return FitProfile(profile, measured, given); });
    py::dict fields;
    fields["profile"] = fit.profile;
    fields["json"] = fit.json;
    fields["text"] = fit.text;
    fields["stopped"] = fit.stopped;
    return fields;
  });
}

}  // namespace

void DefineListsAndFits(py::module_& module) {
  DefineLists(module);
  DefineFit(module);
  module.def("difference", [](const Plan& first, const Plan& second) {
    const PlanDifference difference = RunWhole([=] { return Difference(first, second); });
    return py::make_tuple(difference.text, difference.json);
  });
}

}  // namespace tessera::python
