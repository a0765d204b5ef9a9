// SPDX-License-Identifier: Apache-2.0

#include "tessera/report/html_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "tessera/base/text.h"
#include "tessera/report/html_page_data.h"

// The page consists of a template, a style sheet and a script, which are files of the project in
// page/. The plan occurs in it once, as JSON that the script draws from. Only the title is written
// as markup.
namespace tessera::report {
namespace {

// Returns JSON for a script element: text that could end the element, or begin markup, is escaped
// as JSON allows. Bytes that are not UTF-8 become U+FFFD.
std::string AsScriptData(const nlohmann::ordered_json& value) {
  const std::string json =
      value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string WriteReport(const plan::Plan& plan, const plan::TimelineSource& timeline_of) {
  std::string page;
  std::string_view rest = report::PageTemplate();
  const auto put = [&](std::string_view mark, std::string_view content) {
    const size_t at = rest.find(mark);
    page += rest.substr(0, at);
    page += content;
    rest.remove_prefix(at + mark.size());
  };
  put("{{title}}", base::EscapeMarkup(plan.network.name + " on " + plan.profile.name));
  put("{{style}}", report::StyleSheet());
  put("{{data}}", AsScriptData(report::DataOf(plan, timeline_of)));
  put("{{script}}", report::Script());
  page += rest;
  return page;
}

}  // namespace tessera::report
