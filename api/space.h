// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_SPACE_H_
#define TESSERA_SPACE_H_

#include <tessera/network.h>
#include <tessera/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Spaces of networks (docs/spaces.md):
//
//     auto space = tessera::NetworkSpace::Load("mobilenet.space");
//     auto network = space->Make({{"resolution", 160}, {"stage2.depth", 3}});
namespace tessera {
inline namespace v0 {

struct SpaceParameter {
  std::string name;
  std::vector<std::int64_t> values;  // at least two; the first is the default
};

// A family of networks with parameters. Immutable and thread-safe; copies share the content.
class TESSERA_API NetworkSpace {
 public:
  static Result<NetworkSpace> Load(const std::string& path);
  static Result<NetworkSpace> Parse(std::string_view yaml, const std::string& name = "space");

  const std::string& Name() const noexcept;
  const std::vector<SpaceParameter>& Parameters() const noexcept;

  // Returns the network of a choice of values. Parameters that the choice leaves out have their
  // defaults. Refuses names and values that the space does not have.
  Result<Network> Make(const std::vector<std::pair<std::string, std::int64_t>>& choice) const;

  struct Content;
  explicit NetworkSpace(std::shared_ptr<const Content> content) noexcept;

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_SPACE_H_
