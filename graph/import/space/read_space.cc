// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "tessera/base/vocabulary.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/graph/import/space/space.h"

namespace tessera::graph::import::space {

namespace {
using base::YamlNode;

constexpr int64_t kMost = 1 << 16;
constexpr int64_t kMostParts = 64;  // stages, blocks of one, layers
}  // namespace

class SpaceReader {
 public:
  Space Read(const YamlNode& root, const std::string& file) {
    static constexpr std::array<std::string_view, 2> kFamilies = {"inverted_residual",
                                                                  "transformer"};
    root.At("schema").Integer(1, 1);
    space_.file_ = file;
    space_.name_ = root.At("name").Text();
    if (const YamlNode dtype = root.Maybe("dtype"))
      space_.dtype_ = base::DataTypeNames()[dtype.OneOf(base::DataTypeNames())];
    space_.family_ = static_cast<Family>(root.At("family").OneOf(kFamilies));
    space_.family_ == Family::kTransformer ? ReadTransformer(root) : ReadInvertedResidual(root);
    return std::move(space_);
  }

 private:
  // One value, which is fixed, or a list of them, which is a parameter.
  int64_t ReadValues(const YamlNode& node, const std::string& name, int64_t least, int64_t most) {
    if (!node.IsList()) return space_.fixed_[name] = node.Integer(least, most);
    std::vector<int64_t> values = node.Integers(least, most);
    std::vector<int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    if (values.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      node.Complain("these are no values of a parameter", "at least one, each once");
      return least;
    }
    const int64_t greatest = sorted.back();
    if (values.size() == 1) {
      space_.fixed_[name] = greatest;
    } else {
      space_.parameters_.push_back({name, std::move(values)});
    }
    return greatest;
  }

  void ReadInvertedResidual(const YamlNode& root) {
    root.OnlyKeys(
        {"schema", "name", "dtype", "family", "resolution", "width", "stem", "stages", "head"});
    ReadValues(root.At("resolution"), "resolution", 8, 4096);
    if (const YamlNode width = root.Maybe("width")) {
      ReadValues(width, "width", 1, 1000);
    } else {
      space_.fixed_["width"] = 100;
    }
    const YamlNode stem = root.At("stem");
    stem.OnlyKeys({"channels", "stride"});
    space_.stem_channels_ = stem.At("channels").Integer(1, kMost);
    if (const YamlNode stride = stem.Maybe("stride")) space_.stem_stride_ = stride.Integer(1, 4);
    const YamlNode head = root.At("head");
    head.OnlyKeys({"channels", "classes"});
    space_.head_channels_ = head.At("channels").Integer(1, kMost);
    space_.classes_ = head.At("classes").Integer(1, kMost);
    const YamlNode stages = root.At("stages");
    for (const YamlNode& stage : stages.Items()) ReadStage(stage);
    if (space_.stages_.empty()) stages.Complain("there is no stage", "at least one");
  }

  void ReadStage(const YamlNode& node) {
    node.OnlyKeys({"channels", "stride", "depth", "kernel", "expansion"});
    Space::Part stage;
    stage.name = "stage" + std::to_string(space_.stages_.size() + 1);
    stage.channels = node.At("channels").Integer(1, kMost);
    if (const YamlNode stride = node.Maybe("stride")) stage.stride = stride.Integer(1, 4);
    const int64_t depth = ReadValues(node.At("depth"), stage.name + ".depth", 1, kMostParts);
    for (int64_t block = 1; block <= depth; ++block) {
      const std::string name = stage.name + ".block" + std::to_string(block);
      ReadValues(node.At("kernel"), name + ".kernel", 1, 31);
      ReadValues(node.At("expansion"), name + ".expansion", 1, 64);
    }
    space_.stages_.push_back(std::move(stage));
  }

  void ReadTransformer(const YamlNode& root) {
    root.OnlyKeys(
        {"schema", "name", "dtype", "family", "sequence", "width", "layers", "heads", "mlp_ratio"});
    ReadValues(root.At("sequence"), "sequence", 1, kMost);
    ReadValues(root.At("width"), "width", 1, kMost);
    const int64_t layers = ReadValues(root.At("layers"), "layers", 1, kMostParts);
    for (int64_t layer = 1; layer <= layers; ++layer) {
      const std::string name = "layer" + std::to_string(layer);
      ReadValues(root.At("heads"), name + ".heads", 1, 1024);
      ReadValues(root.At("mlp_ratio"), name + ".mlp_ratio", 1, 64);
    }
  }

  Space space_;
};

base::Expected<Space> Space::Parse(std::string text, const std::string& file) {
  const base::Expected<base::YamlFile> document = base::YamlFile::Parse(std::move(text), file);
  if (!document) return base::Unexpected(document.error());
  base::YamlReader reader(*document);
  Space space = SpaceReader().Read(reader.Root(), file);
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return space;
}

}  // namespace tessera::graph::import::space
