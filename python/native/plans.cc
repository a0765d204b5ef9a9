// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/plan.h>

#include <optional>
#include <string>

#include "call.h"
#include "module.h"

// Plans, and the calls about finished ones.
namespace tessera::python {

namespace {

// Rows of tables, in the order of the fields of the Python classes.
py::list MetricsOf(const Plan& plan) {
  py::list rows;
  for (const PlanMetric& metric : plan.Metrics())
    rows.append(py::make_tuple(metric.name, metric.unit, metric.value, metric.lower_bound));
  return rows;
}

py::list SubgraphsOf(const Plan& plan) {
  py::list rows;
  for (const PlanSubgraph& subgraph : plan.Subgraphs()) {
    rows.append(py::make_tuple(py::tuple(py::cast(subgraph.operators)),
                               py::tuple(py::cast(subgraph.tile)), subgraph.tiles, subgraph.policy,
                               subgraph.latency_cycles, subgraph.energy_pj, subgraph.off_chip_bytes,
                               subgraph.peak_bytes, subgraph.macs, subgraph.bound_by));
  }
  return rows;
}

py::list BuffersOf(const Plan& plan) {
  py::list rows;
  for (const PlanBuffer& buffer : plan.Buffers())
    rows.append(
        py::make_tuple(buffer.name, buffer.offset, buffer.size, py::tuple(py::cast(buffer.steps))));
  return rows;
}

py::dict FrontOf(const Network& network, const Profile& profile, const PlanOptions& options,
                 int most_searches) {
  const FrontAnswer answer = Run(options, [=](const PlanOptions& given) {
    return FindFront(network, profile, given, most_searches);
  });
  py::list points;
  for (const FrontPoint& point : answer.points)
    points.append(py::make_tuple(point.metric, point.limits, point.plan));
  py::dict fields = Fields(answer.refusal);
  fields["points"] = points;
  fields["searches"] = answer.searches;
  fields["complete"] = answer.complete;
  fields["text"] = answer.text;
  fields["json"] = answer.json;
  fields["stopped"] = answer.stopped;
  return fields;
}

}  // namespace

void DefinePlans(py::module_& module) {
  py::class_<Plan>(module, "Plan")
      .def_static(
          "load",
          [](const std::string& path) { return RunWhole([=] { return Plan::Load(path); }); })
      .def_static("parse",
                  [](const std::string& json, const std::string& name) {
                    return RunWhole([=] { return Plan::Parse(json, name); });
                  })
      .def_property_readonly("is_optimal", &Plan::IsOptimal)
      .def_property_readonly("is_cut_off", &Plan::IsCutOff)
      .def_property_readonly("score", &Plan::Score)
      .def_property_readonly("bound", &Plan::Bound)
      .def_property_readonly("notes", &Plan::Notes)
      .def_property_readonly("proof", &Plan::Proof)
      .def("metrics", &MetricsOf)
      .def("subgraphs", &SubgraphsOf)
      .def("buffers", &BuffersOf)
      .def("render",
           [](const Plan& plan, const std::string& format) {
             return RunWhole([=] { return plan.Render(format); });
           })
      .def("save", [](const Plan& plan,
                      const std::string& path) { RunWhole([=] { return plan.Save(path); }); })
      .def("check",
           [](const Plan& plan, const CheckOptions& options) {
             return Fields(Run(options, [=](const auto& given) { return Check(plan, given); }));
           })
      .def("execute", [](const Plan& plan, const CallOptions& options) {
        return Fields(Run(options, [=](const auto& given) { return Execute(plan, given); }));
      });
  module.def("find_front", &FrontOf);
  module.def("evaluate", [](const std::string& json, const EvaluateOptions& options,
                            const std::optional<Profile>& profile, const std::string& name) {
    return Fields(Run(options, [=](EvaluateOptions given) {
      given.profile = profile ? &*profile : nullptr;
      return Evaluate(json, given, name);
    }));
  });
}

}  // namespace tessera::python
