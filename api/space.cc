// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/space/space.h"

#include <tessera/space.h>

#include <utility>

#include "tessera/api/content.h"

namespace tessera {
inline namespace v0 {

struct NetworkSpace::Content {
  graph::import::space::Space space;
  std::vector<SpaceParameter> parameters;
};

NetworkSpace::NetworkSpace(std::shared_ptr<const Content> content) noexcept
    : content_(std::move(content)) {}

Result<NetworkSpace> NetworkSpace::Load(const std::string& path) {
  return api::LoadFrom(path, [&](const std::string& text) { return Parse(text, path); });
}

Result<NetworkSpace> NetworkSpace::Parse(std::string_view yaml, const std::string& name) {
  return api::Guarded([&]() -> Result<NetworkSpace> {
    auto space = graph::import::space::Space::Parse(std::string(yaml), name);
    if (!space) return api::BadInput(space.error());
    Content content{*std::move(space), {}};
    for (const auto& parameter : content.space.Parameters())
      content.parameters.push_back({parameter.name, parameter.values});
    return NetworkSpace(std::make_shared<const Content>(std::move(content)));
  });
}

const std::string& NetworkSpace::Name() const noexcept { return content_->space.Name(); }

const std::vector<SpaceParameter>& NetworkSpace::Parameters() const noexcept {
  return content_->parameters;
}

Result<Network> NetworkSpace::Make(
    const std::vector<std::pair<std::string, std::int64_t>>& choice) const {
  return api::Guarded([&]() -> Result<Network> {
    const graph::import::space::Choice values(choice.begin(), choice.end());
    const auto network = content_->space.Write(values);
    if (!network) return api::BadInput(network.error());
    return Network::Parse(*network, content_->space.Name() + ".yaml");
  });
}

}  // namespace v0
}  // namespace tessera
