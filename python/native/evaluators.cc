// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/evaluator.h>
#include <tessera/space.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "answers.h"
#include "call.h"
#include "module.h"

// Evaluators, and the spaces of networks that search loops draw from.
namespace tessera::python {
namespace {

using Limits = std::vector<std::vector<MetricValue>>;
using Choice = std::vector<std::pair<std::string, std::int64_t>>;

py::list RowsOf(const std::vector<Evaluation>& evaluations) {
  py::list rows;
  for (const Evaluation& evaluation : evaluations) {
    py::dict metrics;
    for (const PlanMetric& metric : evaluation.metrics) metrics[metric.name.c_str()] = metric.value;
    py::dict bounds;
    for (const auto& [name, value] : evaluation.bounds) bounds[name.c_str()] = value;
    rows.append(py::make_tuple(NameOf(evaluation.outcome), metrics, bounds, evaluation.reason,
                               evaluation.searched, evaluation.stopped));
  }
  return rows;
}

py::list EvaluateIn(const Evaluator& evaluator, const Network& network, const CallOptions& call) {
  return RowsOf(
      Run(call, [=](const CallOptions& given) { return evaluator.Evaluate(network, given); }));
}

// Bounds decide in less time than this, and searches take longer.
constexpr double kBounds_s = 0.002;

py::list EvaluateAtMostIn(const Evaluator& evaluator, const Network& network, const Limits& limits,
                          const CallOptions& call) {
  return RowsOf(RunShort(
      call,
      [=](const CallOptions& given) { return evaluator.EvaluateAtMost(network, limits, given); },
      kBounds_s));
}

}  // namespace

void DefineEvaluators(py::module_& module) {
  py::class_<Evaluator>(module, "Evaluator")
      .def(py::init(
          [](std::vector<Profile> profiles, const PlanOptions& plan, std::size_t most_bytes) {
            return ValueOf(Evaluator::Make(std::move(profiles), {plan, most_bytes}));
          }))
      .def("evaluate", &EvaluateIn)
      .def("evaluate_at_most", &EvaluateAtMostIn)
      .def("counts", [](const Evaluator& evaluator) { return Fields(evaluator.Count()); });
  py::class_<NetworkSpace>(module, "NetworkSpace")
      .def_static("parse",
                  [](const std::string& text, const std::string& name) {
                    return ValueOf(NetworkSpace::Parse(text, name));
                  })
      .def_property_readonly("name", &NetworkSpace::Name)
      .def_property_readonly("parameters",
                             [](const NetworkSpace& space) {
                               py::list rows;
                               for (const SpaceParameter& parameter : space.Parameters())
                                 rows.append(py::make_tuple(parameter.name, parameter.values));
                               return rows;
                             })
      .def("make", [](const NetworkSpace& space, const Choice& choice) {
        return ValueOf(space.Make(choice));
      });
}

}  // namespace tessera::python
