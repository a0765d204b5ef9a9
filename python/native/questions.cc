// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/formula.h>
#include <tessera/modes.h>
#include <tessera/tile.h>

#include <string>
#include <vector>

#include "answers.h"
#include "call.h"
#include "module.h"

// Tiles, modes and formulas.
namespace tessera::python {

namespace {

template <typename Question>
py::dict FindModes(const std::vector<Question>& questions, const SearchOptions& options) {
  return Fields(Run(options, [=](const auto& given) { return Modes(questions, given); }));
}

}  // namespace

void DefineQuestions(py::module_& module) {
  module.def("make_problem",
             [](const Network& network, const Profile& profile, const std::string& operators,
                const std::string& tile, const std::string& policy) {
               return ValueOf(MakeProblem(network, profile, {operators, tile, policy}));
             });
  module.def("find_candidates", [](const Problem& problem, const TileOptions& options) {
    return Fields(Run(options, [=](const auto& given) { return FindTiles(problem, given); }));
  });
  module.def("modes_of_plans", &FindModes<Plan>);
  module.def("modes_of_problems", &FindModes<Problem>);
  module.def("encode", [](const Problem& problem, const std::string& format,
                          const std::optional<std::int64_t>& capacity, const std::string& candidate,
                          const std::string& integers) {
    const Formula formula = ValueOf(Encode(problem, {format, capacity, candidate, integers}));
    return py::make_tuple(formula.text, formula.sizes);
  });
  module.def("decode",
             [](const Problem& problem, const std::string& formula, const std::string& output) {
               return Fields(ValueOf(Decode(problem, formula, output)));
             });
}

}  // namespace tessera::python
