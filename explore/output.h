// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

// Explorations as documents and as text.
namespace tessera::explore {

// Identifies what an exploration asks: equal digests have equal documents.
std::string DigestOf(const Spec& spec, const std::vector<Point>& points,
                     const std::vector<double>& areas, bool plan_all);

// The document of docs/explore.md. It depends neither on threads nor on time.
Json AsDocument(const Spec& spec, const Exploration& exploration);

// All of it as JSON, indented; a pair in a line.
std::string DocumentText(const Json& document);

// A row for each answer, with a header.
std::string DocumentCsv(const Json& document);

// The fronts as tables, and how many pairs were settled in which way.
std::string DescribeDocument(const Json& document);

// The work that an exploration would do, without doing it. `faults`: why points are no profiles,
// empty where they are.
Json SpecAsDocument(const Spec& spec, const std::vector<Point>& points,
                    const std::vector<std::string>& faults);
std::string DescribeSpec(const Json& description);

}  // namespace tessera::explore
