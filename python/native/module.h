// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pybind11/pybind11.h>
#include <tessera/tessera.h>

// The module tessera._native: handles of the library, options, and functions whose answers are
// dictionaries with the names of the C++ fields. tessera/*.py turns them into Python classes.
namespace tessera::python {

void DefineOptions(pybind11::module_& module);
void DefineInputs(pybind11::module_& module);       // networks, profiles
void DefineAllocations(pybind11::module_& module);  // problems, allocations, certificates
void DefinePlans(pybind11::module_& module);
void DefineQuestions(pybind11::module_& module);  // tiles, modes, formulas
void DefineSessions(pybind11::module_& module);
void DefineExplorations(pybind11::module_& module);
void DefineListsAndFits(pybind11::module_& module);  // and differences of plans
void DefineEvaluators(pybind11::module_& module);    // and spaces

// Return answers as dictionaries with the names of their fields.

pybind11::dict Fields(const AllocateAnswer& answer);
pybind11::dict Fields(const CertificateReport& report);
pybind11::dict Fields(const CheckReport& report);
pybind11::dict Fields(const EvaluateAnswer& answer);
pybind11::dict Fields(const ExecuteReport& report);
pybind11::dict Fields(const Explanation& explanation);
pybind11::dict Fields(const ModesAnswer& answer);
pybind11::dict Fields(const PlanAnswer& answer);
pybind11::dict Fields(const SessionCounts& counts);
pybind11::dict Fields(const TileAnswer& answer);

}  // namespace tessera::python
