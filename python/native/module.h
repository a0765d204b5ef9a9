// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pybind11/pybind11.h>

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
void DefineEvaluators(pybind11::module_& module);  // and spaces

}  // namespace tessera::python
