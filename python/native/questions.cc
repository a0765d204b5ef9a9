// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/explore.h>
#include <tessera/formula.h>
#include <tessera/modes.h>
#include <tessera/tile.h>

#include <string>
#include <vector>

#include "call.h"
#include "module.h"

// Tiles, modes and formulas.
namespace tessera::python {
namespace {

template <typename Question>
py::dict FindModes(const std::vector<Question>& questions, const SearchOptions& options) {
  return Fields(Run(options, [=](const auto& given) { return Modes(questions, given); }));
}

// Searches over hardware.

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

void DefineQuestions(py::module_& module) {
  module.def("make_problem", [](const Network& network, const Profile& profile,
                                const std::string& operators, const std::string& tile,
                                const std::string& policy) {
    return RunWhole([=] { return MakeProblem(network, profile, {operators, tile, policy}); });
  });
  module.def("find_candidates", [](const Problem& problem, const TileOptions& options) {
    return Fields(Run(options, [=](const auto& given) { return FindTiles(problem, given); }));
  });
  module.def("modes_of_plans", &FindModes<Plan>);
  module.def("modes_of_problems", &FindModes<Problem>);
  module.def("encode", [](const Problem& problem, const std::string& format,
                          const std::optional<std::int64_t>& capacity, const std::string& candidate,
                          const std::string& integers) {
    const Formula formula = RunWhole([=] {
      return Encode(problem, {format, capacity, candidate, integers});
    });
    return py::make_tuple(formula.text, formula.sizes);
  });
  module.def("decode",
             [](const Problem& problem, const std::string& formula, const std::string& output) {
               return Fields(RunWhole([=] { return Decode(problem, formula, output); }));
             });
}

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
