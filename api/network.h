// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_NETWORK_H_
#define TESSERA_NETWORK_H_

#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
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

// The value of a key of an operator or a tensor.
struct KeyValue {
  using Integers = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;

  KeyValue(bool given) : value(given) {}                                               // NOLINT
  KeyValue(double given) : value(given) {}                                             // NOLINT
  KeyValue(const char* given) : value(std::string(given)) {}                           // NOLINT
  KeyValue(std::string given) : value(std::move(given)) {}                             // NOLINT
  KeyValue(Integers given) : value(std::move(given)) {}                                // NOLINT
  KeyValue(std::initializer_list<std::int64_t> given) : value(Integers(given)) {}      // NOLINT
  KeyValue(Texts given) : value(std::move(given)) {}                                   // NOLINT
  template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, int> = 0>  // NOLINT
  KeyValue(Integer given) : value(static_cast<std::int64_t>(given)) {}                 // NOLINT

  std::variant<bool, std::int64_t, double, std::string, Integers, Texts> value;
};

// A network in code. It has the parts of a document, and the keys that docs/network-format.md lists
// for them:
//
//     auto network = tessera::Network::Make({
//         "two_layers", "int8",
//         {{"image", {1, 3, 32, 32}}},
//         {},
//         {{"conv", "c", {"image"}, {{"out_channels", 8}, {"kernel", 3}, {"pads", "same"}}},
//          {"global_pool", "p", {"c"}, {{"keep_axes", false}}}},
//         {"p"}});
struct NetworkParts {
  using Keys = std::vector<std::pair<std::string, KeyValue>>;
  struct Tensor {
    std::string id;
    std::vector<std::int64_t> shape;
    Keys keys = {};  // {"dtype", "int32"}, {"state", true}, ...
  };
  struct Operator {
    std::string kind;
    std::string id;
    std::vector<std::string> inputs;
    Keys keys = {};
  };

  std::string name;
  std::string dtype = "int8";  // of tensors that state none
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> constants = {};
  std::vector<Operator> operators = {};   // in any order without cycles
  std::vector<std::string> outputs = {};  // none: every result that no operator reads
};

// A network: tensors and operators. Immutable and thread-safe; copies share the content.
class TESSERA_API Network {
 public:
  // Errors name the part by its JSON pointer: "/operators/1".
  static Result<Network> Make(const NetworkParts& parts);

  // Reads the network of a file; the suffix and the first bytes of the file determine its format.
  static Result<Network> Load(const std::string& path, const ImportOptions& options = {});

  // As Load, from bytes. `name` is for messages, and its suffix determines the format.
  static Result<Network> Parse(std::string_view bytes, const std::string& name = "network.yaml",
                               const ImportOptions& options = {});

  // Returns a copy in which measured tiles of operators replace the cost model: CSV with operator,
  // tile, engine, cycles and pj (docs/costs.md). `name` is for messages.
  Result<Network> WithCosts(std::string_view csv, const std::string& name = "costs.csv") const;

  // Returns a copy whose constants are stored in other numbers of bytes, as a weight compressor
  // reports them: CSV with tensor and bytes. `name` is for messages.
  Result<Network> WithSizes(std::string_view csv, const std::string& name = "sizes.csv") const;

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
