// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/network.h>
#include <tessera/profile.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "call.h"
#include "module.h"

// Networks and profiles.
namespace tessera::python {
namespace {

using Extents = std::vector<std::pair<std::string, std::int64_t>>;
using States = std::vector<std::pair<std::string, std::string>>;

// Reads files without the interpreter's lock.
template <typename Read>
auto Unlocked(const Read& read) {
  auto result = [&] {
    const py::gil_scoped_release unlocked;
    return read();
  }();
  return ValueOf(std::move(result));
}

ImportOptions OptionsOf(const Extents& dims, const States& states, const std::string& floats_as,
                        const std::string& operators, const std::optional<Profile>& profile) {
  return {dims, states, floats_as, operators, profile ? &*profile : nullptr};
}

}  // namespace

void DefineInputs(py::module_& module) {
  py::class_<Profile>(module, "Profile")
      .def_static(
          "load",
          [](const std::string& path) { return Unlocked([&] { return Profile::Load(path); }); })
      .def_static("parse",
                  [](const std::string& text, const std::string& name) {
                    return ValueOf(Profile::Parse(text, name));
                  })
      .def("with_value",
           [](const Profile& profile, const std::string& pointer, const std::string& value) {
             return ValueOf(profile.With(pointer, value));
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
                    return Unlocked([&] {
                      return Network::Load(path,
                                           OptionsOf(dims, states, floats_as, operators, profile));
                    });
                  })
      .def_static("parse",
                  [](const std::string& bytes, const std::string& name, const Extents& dims,
                     const States& states, const std::string& floats_as,
                     const std::string& operators, const std::optional<Profile>& profile) {
                    return Unlocked([&] {
                      return Network::Parse(bytes, name,
                                            OptionsOf(dims, states, floats_as, operators, profile));
                    });
                  })
      .def_property_readonly("name", &Network::Name)
      .def_property_readonly("operator_count", &Network::OperatorCount)
      .def_property_readonly("notes", &Network::Notes)
      .def("with_costs",
           [](const Network& network, const std::string& csv, const std::string& name) {
             return ValueOf(network.WithCosts(csv, name));
           })
      .def("json", [](const Network& network) { return ValueOf(network.Json()); })
      .def("serialize",
           [](const Network& network) { return py::bytes(ValueOf(network.Serialize())); })
      .def_static("deserialize",
                  [](const std::string& bytes) { return ValueOf(Network::Deserialize(bytes)); });
}

}  // namespace tessera::python
