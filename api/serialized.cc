// SPDX-License-Identifier: Apache-2.0

#include <tessera/network.h>
#include <tessera/profile.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"

// Networks and profiles as bytes for another process. Their JSON forms leave out data from their
// files that plans and imports use: notes, and descriptions of operators.
namespace tessera::api {
namespace {

using Json = nlohmann::json;

std::string WriteAll(const Network::Content& content) {
  return Json{{"network", graph::import::yaml::WriteNetworkJson(content.graph)},
              {"notes", content.notes},
              {"nodes", content.nodes}}
      .dump();
}

std::string WriteAll(const Profile::Content& content) {
  return Json{{"profile", content.json}, {"texts", content.texts}}.dump();
}

// Returns the result of `read`, which assumes that the document has its entries.
template <typename Read>
auto ReadAll(std::string_view bytes, const char* what, const Read& read) {
  return Guarded([&]() -> decltype(read(Json())) {
    try {
      return read(Json::parse(bytes));
    } catch (const Json::exception&) {
      return BadArgument(std::string("these bytes are no ") + what,
                         "bytes that Serialize of the same version gave");
    }
  });
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<std::string> Network::Json() const {
  return api::Guarded([&]() -> Result<std::string> {
    return graph::import::yaml::WriteNetworkJson(content_->graph);
  });
}

Result<std::string> Network::Serialize() const {
  return api::Guarded([&]() -> Result<std::string> { return api::WriteAll(*content_); });
}

Result<Network> Network::Deserialize(std::string_view bytes) {
  return api::ReadAll(bytes, "network", [](const api::Json& document) -> Result<Network> {
    auto graph = graph::import::yaml::ReadNetwork(
        document.at("network").get_ref<const std::string&>(), "network");
    if (!graph) return api::BadInput(graph.error());
    Content content{*std::move(graph), document.at("notes"), document.at("nodes"), {}};
    return Network(std::make_shared<const Content>(std::move(content)));
  });
}

Result<std::string> Profile::Serialize() const {
  return api::Guarded([&]() -> Result<std::string> { return api::WriteAll(*content_); });
}

Result<Profile> Profile::Deserialize(std::string_view bytes) {
  return api::ReadAll(bytes, "profile", [](const api::Json& document) -> Result<Profile> {
    Content content;
    content.json = document.at("profile");
    content.texts = document.at("texts");
    auto profile = hw_profiles::ReadProfile(content.json, "profile", {});
    if (!profile) return api::BadInput(profile.error());
    content.profile = *std::move(profile);
    return Profile(std::make_shared<const Content>(std::move(content)));
  });
}

}  // namespace v0
}  // namespace tessera
