// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"

namespace tessera::api::parts {

// Replaces the one memory of the Problem by the tile memory of the profile, and adds its rules. The
// diagnostic names no file.
std::optional<base::Diagnostic> UseMemoryOf(const hw_profiles::Profile& profile,
                                            problem::Problem& problem);

// Renders an answer as "csv", "json" or "svg". An SVG of an infeasible answer shows the conflict.
// The document has an allocation, or for "json" and "svg" an explanation.
base::Expected<std::string> RenderAllocation(
    std::string_view format, const problem::Problem& problem,
    const problem::files::AllocationDocument& document,
    problem::files::Lifetimes lifetimes = problem::files::Lifetimes::kHalfOpen);

}  // namespace tessera::api::parts
