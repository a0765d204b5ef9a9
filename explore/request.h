// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The questions about a specification, and the answers as documents. The command and the library
// use these functions.
namespace tessera::explore {

struct Request {
  bool plan_all = false;                   // skip nothing
  bool relax = false;                      // what restrictions and modes cost, instead of fronts
  std::string least = {};                  // the least value of this path, instead of fronts
  bool marginal = false;                   // what a step of each axis changes along the fronts
  std::optional<double> uncertainty = {};  // of areas, a fraction above 0 and below 1
  std::optional<double> adaptive = {};     // plan this share of the pairs at most
};

// Returns the document of the store if it has one; else makes the document and keeps it. Returns
// nullopt if the call was cancelled.
base::Expected<std::optional<Json>> Ask(const Spec& spec, const Store& store,
                                        const Request& request, const RunOptions& options);

// Returns any of these documents as text.
std::string Describe(const Json& document);

// Returns the fault in the request, in words; empty if there is none.
std::string FaultOf(const Request& request);

}  // namespace tessera::explore
