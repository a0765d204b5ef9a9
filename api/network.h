// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_NETWORK_H_
#define TESSERA_NETWORK_H_

#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {
inline namespace v0 {

// How files of other tools are read (docs/onnx.md). YAML and JSON networks use none of these
// options.
struct ImportOptions {
  // extents of symbolic dimensions
  std::vector<std::pair<std::string, std::int64_t>> dims = {};
  // a network input and the output that is its value in the next run
  std::vector<std::pair<std::string, std::string>> states = {};
  std::string floats_as = {};        // the data type to plan with where the file has floats
  std::string operators = {};        // YAML that describes operators under `ops`
  const Profile* profile = nullptr;  // may describe operators too
};

// A network: tensors and operators. Immutable and thread-safe; copies share the content.
class TESSERA_API Network {
 public:
  // Reads the network of a file; the suffix and the first bytes of the file determine its format.
  static Result<Network> Load(const std::string& path, const ImportOptions& options = {});

  // As Load, from bytes. `name` is for messages, and its suffix determines the format.
  static Result<Network> Parse(std::string_view bytes, const std::string& name = "network.yaml",
                               const ImportOptions& options = {});

  // Returns a copy in which measured tiles of operators replace the cost model: CSV with operator,
  // tile, engine, cycles and pj (docs/costs.md). `name` is for messages.
  Result<Network> WithCosts(std::string_view csv, const std::string& name = "costs.csv") const;

  // Returns the network as JSON that Parse accepts, with every shape stated
  // (docs/network-format.md).
  Result<std::string> Json() const;

  // Serialize returns the whole network, including its notes, as bytes for Deserialize in another
  // process with the same version of the library.
  Result<std::string> Serialize() const;
  static Result<Network> Deserialize(std::string_view bytes);

  const std::string& Name() const noexcept;
  std::size_t OperatorCount() const noexcept;

  // Returns messages about the nodes that the reader folded, dropped or could not use.
  const std::vector<std::string>& Notes() const noexcept;

  struct Content;
  explicit Network(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_NETWORK_H_
