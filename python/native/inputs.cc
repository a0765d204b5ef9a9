// SPDX-License-Identifier: Apache-2.0

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <tessera/network.h>
#include <tessera/profile.h>
#include <tessera/tessera.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "module.h"

// The options of calls: the fields of the C++ structs.
namespace tessera::python {
namespace {

// Networks and profiles.

using Extents = std::vector<std::pair<std::string, std::int64_t>>;
using States = std::vector<std::pair<std::string, std::string>>;

ImportOptions OptionsOf(const Extents& dims, const States& states, const std::string& floats_as,
                        const std::string& operators, const std::optional<Profile>& profile) {
  return {dims, states, floats_as, operators, profile ? &*profile : nullptr};
}

namespace py = pybind11;

// The callback receives a tessera.Progress.
void SetProgress(CallOptions& options,
                 const std::optional<std::function<void(const py::object&)>>& callback) {
  options.progress = {};
  if (!callback) return;
  options.progress = [callback = *callback,
                      gate = RunningCalls::Get().TheGate()](const Progress& each) {
    if (!gate->TryEnter()) return;  // the end of the interpreter waits for this thread
    const py::gil_scoped_acquire locked;
    gate->Leave();
    callback(py::module_::import("tessera.reports")
                 .attr("Progress")(each.line, each.phase, each.done, each.total, each.incumbent,
                                   each.bound));
  };
}

}  // namespace

void DefineOptions(py::module_& module) {
  py::class_<Canceller>(module, "Canceller",
                        "Ends calls early, from any thread. It stays cancelled.")
      .def(py::init([] { return WithState(Canceller()); }))
      .def("cancel", &Canceller::Cancel,
           "Ends every call that has it, with the best answer so far.")
      .def("is_cancelled", &Canceller::IsCancelled, "Whether `cancel` was called.");
  py::class_<CallOptions>(module, "CallOptions")
      .def(py::init<>())
      .def_readwrite("timeout_s", &CallOptions::timeout_s)
      .def_readwrite("memory_limit", &CallOptions::memory_limit)
      .def_readwrite("canceller", &CallOptions::canceller)
      .def_readwrite("threads", &CallOptions::threads)
      .def_property("progress", nullptr, &SetProgress);
  py::class_<SearchOptions, CallOptions>(module, "SearchOptions")
      .def(py::init<>())
      .def_readwrite("seed", &SearchOptions::seed)
      .def_readwrite("budget", &SearchOptions::budget)
      .def_readwrite("engine", &SearchOptions::engine)
      .def_readwrite("switched_off", &SearchOptions::switched_off);
  py::enum_<Transfers>(module, "Transfers")
      .value("program", Transfers::kProgram)
      .value("per_subgraph", Transfers::kPerSubgraph);
  py::enum_<OffChip>(module, "OffChip")
      .value("whole", OffChip::kWhole)
      .value("paper", OffChip::kPaper)
      .value("tile_aware", OffChip::kTileAware);
  // `previous` is a separate argument, because the options hold only its address.
  py::class_<PlanOptions, SearchOptions>(module, "PlanOptions")
      .def(py::init<>())
      .def_readwrite("minimize", &PlanOptions::minimize)
      .def_readwrite("limits", &PlanOptions::limits)
      .def_readwrite("max_operators", &PlanOptions::max_operators)
      .def_readwrite("keep_order", &PlanOptions::keep_order)
      .def_readwrite("keep_boundaries", &PlanOptions::keep_boundaries)
      .def_readwrite("transfers", &PlanOptions::transfers)
      .def_readwrite("off_chip", &PlanOptions::off_chip)
      .def_readwrite("constraints", &PlanOptions::constraints)
      .def_readwrite("explain", &PlanOptions::explain)
      .def_readwrite("certify", &PlanOptions::certify)
      .def_readwrite("sensitivity", &PlanOptions::sensitivity)
      .def_readwrite("lowering", &PlanOptions::lowering);
  py::class_<EvaluateOptions, SearchOptions>(module, "EvaluateOptions")
      .def(py::init<>())
      .def_readwrite("move", &EvaluateOptions::move)
      .def_readwrite("explain", &EvaluateOptions::explain)
      .def_readwrite("costs", &EvaluateOptions::costs);
  py::class_<CheckOptions, CallOptions>(module, "CheckOptions")
      .def(py::init<>())
      .def_readwrite("execute", &CheckOptions::execute)
      .def_readwrite("search", &CheckOptions::search);
  py::class_<ChooseOptions, SearchOptions>(module, "ChooseOptions")
      .def(py::init<>())
      .def_readwrite("capacity", &ChooseOptions::capacity);
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

void DefineInputs(py::module_& module) {
  py::class_<Profile>(module, "Profile")
      .def_static(
          "load",
          [](const std::string& path) { return Unlocked([&] { return Profile::Load(path); }); })
      .def_static("parse",
                  [](const std::string& text, const std::string& name) {
                    return Unlocked([&] { return Profile::Parse(text, name); });
                  })
      .def("with_value",
           [](const Profile& profile, const std::string& pointer, const std::string& value) {
             return Unlocked([&] { return profile.With(pointer, value); });
           })
      .def_property_readonly("name", &Profile::Name)
      .def_property_readonly("json", &Profile::Json)
      .def("serialize",
           [](const Profile& profile) { return py::bytes(ValueOf(profile.Serialize())); })
      .def_static("deserialize",
                  [](const std::string& bytes) { return ValueOf(Profile::Deserialize(bytes)); });
  py::class_<Network>(module, "Network")
      .def_static("load",
                  [](const std::string& path, const Extents& dims, const States& states,
                     const std::string& floats_as, const std::string& operators,
                     const std::optional<Profile>& profile) {
                    return RunWhole([=] {
                      return Network::Load(path,
                                           OptionsOf(dims, states, floats_as, operators, profile));
                    });
                  })
      .def_static("parse",
                  [](const std::string& bytes, const std::string& name, const Extents& dims,
                     const States& states, const std::string& floats_as,
                     const std::string& operators, const std::optional<Profile>& profile) {
                    return RunOnInput(bytes.size(), [=] {
                      return Network::Parse(bytes, name,
                                            OptionsOf(dims, states, floats_as, operators, profile));
                    });
                  })
      .def_property_readonly("name", &Network::Name)
      .def_property_readonly("operator_count", &Network::OperatorCount)
      .def_property_readonly("notes", &Network::Notes)
      .def("with_costs",
           [](const Network& network, const std::string& csv, const std::string& name) {
             return RunOnInput(csv.size(), [=] { return network.WithCosts(csv, name); });
           })
      .def("with_sizes",
           [](const Network& network, const std::string& csv, const std::string& name) {
             return RunOnInput(csv.size(), [=] { return network.WithSizes(csv, name); });
           })
      .def("json", [](const Network& network) { return RunWhole([=] { return network.Json(); }); })
      .def("serialize",
           [](const Network& network) {
             return py::bytes(RunWhole([=] { return network.Serialize(); }));
           })
      .def_static("deserialize", [](const std::string& bytes) {
        return RunOnInput(bytes.size(), [=] { return Network::Deserialize(bytes); });
      });
}

}  // namespace tessera::python
