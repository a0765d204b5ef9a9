// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

// Explorations as documents, as text and as a page.
namespace tessera::explore {

// Returns a digest of the question of an exploration: equal digests have equal documents.
std::string DigestOf(const Spec& spec, const std::vector<Point>& points,
                     const std::vector<double>& areas, bool plan_all);

// Returns the document of docs/explore.md. It depends neither on threads nor on time.
Json AsDocument(const Spec& spec, const Exploration& exploration);

// Returns the document as indented JSON, with each pair on one line.
std::string DocumentText(const Json& document);

// Returns a row for each answer, with a header.
std::string DocumentCsv(const Json& document);

// Returns the fronts as tables, and how many pairs were settled in which way.
std::string DescribeDocument(const Json& document);

// Returns the work that an exploration would do, without doing it. `faults` states for each point
// why it is not a profile; empty if it is one.
Json SpecAsDocument(const Spec& spec, const std::vector<Point>& points,
                    const std::vector<std::string>& faults);
std::string DescribeSpec(const Json& description);

// The page of an exploration: one HTML file, which needs no network.

// Plot, parallel axes and table of all answers, linked.
std::string WritePage(const Json& document);

// Parts of the page (cmake/Embed.cmake).
std::string_view PageTemplate();
std::string_view StyleSheet();
std::string_view Script();

}  // namespace tessera::explore
