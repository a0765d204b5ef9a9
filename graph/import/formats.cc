// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/formats.h"

#include <array>

#include "tessera/base/text.h"

namespace tessera::graph::import {

using common::NetworkFormat;

// The build defines TESSERA_FORMATS as FORMAT(folder) for each folder of a format.
#define FORMAT(folder)                \
  namespace folder {                  \
  extern const NetworkFormat kFormat; \
  }
TESSERA_FORMATS
#undef FORMAT

std::span<const NetworkFormat* const> NetworkFormats() {
#define FORMAT(folder) &folder::kFormat,
  static constexpr std::array kFormats = {TESSERA_FORMATS};
#undef FORMAT
  return kFormats;
}

std::string NamesOfFormats() {
  std::string names;
  const std::span<const NetworkFormat* const> formats = NetworkFormats();
  for (size_t i = 0; i < formats.size(); ++i) {
    if (i > 0) names += i + 1 < formats.size() ? ", " : " or ";
    names += formats[i]->name;
  }
  return names;
}

const NetworkFormat* FormatOf(std::string_view suffix, std::string_view bytes) {
  for (const NetworkFormat* format : NetworkFormats()) {
    if (suffix == format->suffix) return format;
  }
  for (const NetworkFormat* format : NetworkFormats()) {
    if (format->recognizes(bytes)) return format;
  }
  return nullptr;
}

}  // namespace tessera::graph::import
