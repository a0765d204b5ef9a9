// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/page.h"

namespace tessera::explore {
namespace {

void Insert(std::string& page, std::string_view mark, std::string_view content) {
  const size_t at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), content);
}

// Returns JSON that cannot end the script element, whatever names it contains.
std::string AsScriptData(const Json& document) {
  std::string text;
  for (const char c : document.dump(-1, ' ', true, Json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string WritePage(const Json& document) {
  std::string page(PageTemplate());
  // The data is inserted last, because it may contain any text, including marks.
  Insert(page, "@STYLE@", StyleSheet());
  Insert(page, "@SCRIPT@", Script());
  Insert(page, "@DATA@", AsScriptData(document));
  return page;
}

}  // namespace tessera::explore
