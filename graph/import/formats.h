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

// The format of a file: by its suffix; if no format has it, by its first bytes; else text. nullptr
// for bytes that are neither text nor of a format of this build.
const common::NetworkFormat* FormatOf(std::string_view suffix, std::string_view bytes);

}  // namespace tessera::graph::import
