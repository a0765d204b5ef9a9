// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/evaluator.h>
#include <tessera/session.h>
#include <tessera/space.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "module.h"

// Sessions, and the calls that can be made in one or without.
namespace tessera::python {
namespace {

using MaybeSession = std::optional<Session>;

py::dict PlanIn(const MaybeSession& session, const Network& network, const Profile& profile,
                const PlanOptions& options, const std::optional<Plan>& previous) {
  return Fields(Run(options, [=](PlanOptions given) {
    given.previous = previous ? &*previous : nullptr;
    return session ? session->MakePlan(network, profile, given) : MakePlan(network, profile, given);
  }));
}

py::dict AllocateIn(const MaybeSession& session, const Problem& problem,
                    const AllocateOptions& options) {
  // No deadline cuts off what a call does with every buffer.
  constexpr std::size_t kFewBuffers = 5000;
  const auto call = [=](const AllocateOptions& given) {
    return session ? session->Allocate(problem, given) : Allocate(problem, given);
  };
  return Fields(problem.BufferCount() <= kFewBuffers ? RunShort(options, call)
                                                     : Run(options, call));
}

py::dict FindTilesIn(const MaybeSession& session, const Network& network, const Profile& profile,
                     const TileOptions& options) {
  return Fields(Run(options, [=](const TileOptions& given) {
    return session ? session->FindTiles(network, profile, given)
                   : FindTiles(network, profile, given);
  }));
}

// Evaluators, and the spaces of networks that search loops draw from.

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

void DefineSessions(py::module_& module) {
  py::class_<Session>(module, "Session")
      .def(py::init([](std::size_t most_bytes) { return WithState(Session({most_bytes})); }))
      .def("counts", [](const Session& session) { return Fields(session.Count()); })
      .def("clear", &Session::Clear);
  module.def("plan", &PlanIn);
  module.def("allocate", &AllocateIn);
  module.def("find_tiles", &FindTilesIn);
}

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
