// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tessera/graph/import/common/format.h"

namespace tessera::graph::import {

// The formats of this build, in the order of the list in CMakeLists.txt. Text (YAML or JSON) is the
// first.
std::span<const common::NetworkFormat* const> NetworkFormats();

// "YAML, JSON or ONNX".
std::string NamesOfFormats();

// Returns the format with this suffix or, if there is none, the first format that recognizes the
// bytes; nullptr if none does.
const common::NetworkFormat* FormatOf(std::string_view suffix, std::string_view bytes);

}  // namespace tessera::graph::import
