// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>
#include <tessera/session.h>

#include <optional>

#include "answers.h"
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
  return Fields(RunShort(options, [=](const AllocateOptions& given) {
    return session ? session->Allocate(problem, given) : Allocate(problem, given);
  }));
}

py::dict FindTilesIn(const MaybeSession& session, const Network& network, const Profile& profile,
                     const TileOptions& options) {
  return Fields(Run(options, [=](const TileOptions& given) {
    return session ? session->FindTiles(network, profile, given)
                   : FindTiles(network, profile, given);
  }));
}

}  // namespace

void DefineSessions(py::module_& module) {
  py::class_<Session>(module, "Session")
      .def(py::init([](std::size_t most_bytes) { return Session({most_bytes}); }))
      .def("counts", [](const Session& session) { return Fields(session.Count()); })
      .def("clear", &Session::Clear);
  module.def("plan", &PlanIn);
  module.def("allocate", &AllocateIn);
  module.def("find_tiles", &FindTilesIn);
}

}  // namespace tessera::python
