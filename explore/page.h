// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "tessera/explore/space.h"

// The page of an exploration: one HTML file, which needs no network.
namespace tessera::explore {

// Plot, parallel axes and table of all answers, linked.
std::string WritePage(const Json& document);

// Parts of the page (cmake/Embed.cmake).
std::string_view PageTemplate();
std::string_view StyleSheet();
std::string_view Script();

}  // namespace tessera::explore
