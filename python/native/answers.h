// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pybind11/pybind11.h>
#include <tessera/tessera.h>

// Return answers as dictionaries with the names of their fields.
namespace tessera::python {

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
