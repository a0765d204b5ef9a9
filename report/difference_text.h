#pragma once

#include <string>

#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"

namespace tessera::report {

// The changes from one plan to another and their cost, as `tessera diff` prints them.
std::string DifferenceAsText(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);
std::string DifferenceAsJson(const plan::Plan& a, const plan::Plan& b,
                             const plan::files::Difference& difference);

}  // namespace tessera::report
