// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/base/vocabulary.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/graph/import/common/format.h"
#include "tessera/graph/import/yaml/network_yaml.h"

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

// The networks of a space, as text of the usual format.

namespace {

// Operators in flow style, one a line.
class Lines {
 public:
  void Add(const std::string& id, const std::string& kind, const std::string& inputs,
           const std::string& rest = "") {
    text_ += fmt::format("  - {{id: {}, kind: {}, inputs: [{}]{}}}\n", id, kind, inputs, rest);
  }
  const std::string& Text() const { return text_; }

 private:
  std::string text_;
};

// Sandler et al., "MobileNetV2", 2018: multiples of 8, not below nine tenths.
int64_t Scaled(int64_t channels, int64_t percent) {
  const int64_t wanted = channels * percent;
  int64_t scaled = std::max<int64_t>(8, (wanted + 400) / 800 * 8);
  if (scaled * 1000 < wanted * 9) scaled += 8;
  return scaled;
}

// Text of the file as a JSON string, which YAML reads as the same text for any content.
std::string Quoted(const std::string& text) { return base::WriteJsonLine(text); }

}  // namespace

base::Diagnostic Space::Refusal(std::string message, std::string expected) const {
  base::Diagnostic fault;
  fault.file = file_;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return fault;
}

int64_t Space::ValueOf(const Choice& choice, const std::string& name) const {
  if (const auto chosen = choice.find(name); chosen != choice.end()) return chosen->second;
  if (const auto fixed = fixed_.find(name); fixed != fixed_.end()) return fixed->second;
  return std::find_if(parameters_.begin(), parameters_.end(),
                      [&name](const Parameter& each) { return each.name == name; })
      ->values.front();
}

std::optional<base::Diagnostic> Space::CheckChoice(const Choice& choice) const {
  for (const auto& [name, value] : choice) {
    const auto parameter =
        std::find_if(parameters_.begin(), parameters_.end(),
                     [wanted = &name](const Parameter& each) { return each.name == *wanted; });
    if (parameter == parameters_.end()) {
      std::vector<std::string_view> names;
      for (const Parameter& each : parameters_) names.push_back(each.name);
      base::Diagnostic fault = Refusal("the space has no parameter '" + name + "'",
                                       names.empty() ? "none" : base::Join(names));
      fault.hint = base::DidYouMean(name, names);
      return fault;
    }
    const std::vector<int64_t>& values = parameter->values;
    if (std::find(values.begin(), values.end(), value) == values.end())
      return Refusal(fmt::format("'{}' is {}", name, value),
                     fmt::format("one of {}", fmt::join(values, ", ")));
  }
  return std::nullopt;
}

std::vector<std::string> Space::NamesWithoutEffect(const Choice& choice) const {
  std::vector<std::string> names;
  for (const auto& [name, value] : choice) {
    // "stage2.block3.kernel" is of block 3, of which there are "stage2.depth".
    const std::string owner = name.substr(0, name.rfind('.'));
    const size_t digits = owner.find_last_not_of("0123456789") + 1;
    const std::string kind = owner.substr(0, digits);
    std::string count;
    if (kind == "layer") count = "layers";
    if (kind.ends_with(".block")) count = kind.substr(0, kind.rfind('.')) + ".depth";
    if (!count.empty() && std::stoll(owner.substr(digits)) > ValueOf(choice, count))
      names.push_back(name);
  }
  return names;
}

base::Expected<std::string> Space::Write(const Choice& choice) const {
  if (auto fault = CheckChoice(choice)) return base::Unexpected(*std::move(fault));
  if (family_ == Family::kTransformer) return WriteTransformer(choice);
  return WriteInvertedResidual(choice);
}

// Each block widens, filters depthwise, and narrows. It has a sum with its input if both have one
// shape. Howard et al., "Searching for MobileNetV3", 2019, without squeeze and excitation.
std::string Space::WriteInvertedResidual(const Choice& choice) const {
  const int64_t width = ValueOf(choice, "width");
  const int64_t resolution = ValueOf(choice, "resolution");
  Lines lines;
  int64_t channels = Scaled(stem_channels_, width);
  lines.Add(
      "stem", "conv", "image",
      fmt::format(", out_channels: {}, kernel: 3, stride: {}, pads: same", channels, stem_stride_));
  std::string before = "stem";
  for (const Part& stage : stages_) {
    const int64_t depth = ValueOf(choice, stage.name + ".depth");
    for (int64_t block = 1; block <= depth; ++block) {
      const std::string name = fmt::format("{}.block{}", stage.name, block);
      const std::string id = fmt::format("{}_block{}", stage.name, block);
      const int64_t inner = channels * ValueOf(choice, name + ".expansion");
      const int64_t outer = Scaled(stage.channels, width);
      const int64_t stride = block == 1 ? stage.stride : 1;
      lines.Add(id + "_expand", "conv", before,
                fmt::format(", out_channels: {}, kernel: 1", inner));
      lines.Add(id + "_filter", "depthwise", id + "_expand",
                fmt::format(", kernel: {}, stride: {}, pads: same",
                            ValueOf(choice, name + ".kernel"), stride));
      lines.Add(id + "_project", "conv", id + "_filter",
                fmt::format(", out_channels: {}, kernel: 1", outer));
      std::string after = id + "_project";
      if (stride == 1 && outer == channels) {
        lines.Add(id + "_sum", "elementwise", fmt::format("{}, {}", before, after),
                  ", function: add");
        after = id + "_sum";
      }
      before = after;
      channels = outer;
    }
  }
  lines.Add("head", "conv", before,
            fmt::format(", out_channels: {}, kernel: 1", Scaled(head_channels_, width)));
  lines.Add("pool", "global_pool", "head", ", keep_axes: false");
  lines.Add("classes", "matmul", "pool", fmt::format(", columns: {}", classes_));
  return fmt::format(
      "schema: 1\nname: {}\ndtype: {}\ninputs:\n  - {{id: image, shape: [1, 3, {}, {}]}}\n"
      "operators:\n{}outputs: [classes]\n",
      Quoted(name_), dtype_, resolution, resolution, lines.Text());
}

// Encoder layers with norms after the sums: Vaswani et al., "Attention Is All You Need", 2017.
base::Expected<std::string> Space::WriteTransformer(const Choice& choice) const {
  const int64_t sequence = ValueOf(choice, "sequence");
  const int64_t width = ValueOf(choice, "width");
  Lines lines;
  std::string before = "tokens";
  for (int64_t layer = 1; layer <= ValueOf(choice, "layers"); ++layer) {
    const std::string name = fmt::format("layer{}", layer);
    const int64_t heads = ValueOf(choice, name + ".heads");
    if (width % heads != 0)
      return base::Unexpected(
          Refusal(fmt::format("{} heads of {} do not divide {} channels", heads, name, width),
                  "a number of heads that divides the width"));
    const std::string id = name + "_";
    const std::string columns = fmt::format(", columns: {}", width);
    const std::string split = fmt::format(", shape: [{}, {}, {}]", sequence, heads, width / heads);
    for (const char* role : {"query", "key", "value"}) {
      lines.Add(id + role, "matmul", before, columns);
      lines.Add(id + role + "_heads", "reshape", id + role, split);
    }
    lines.Add(id + "scores", "matmul", fmt::format("{0}query_heads, {0}key_heads", id),
              ", first_axes: [1, 0, 2], second_axes: [1, 2, 0]");
    lines.Add(id + "attention", "softmax", id + "scores", ", axis: 2");
    lines.Add(id + "mixed", "matmul", fmt::format("{0}attention, {0}value_heads", id),
              ", second_axes: [1, 0, 2], result_axes: [1, 0, 2]");
    lines.Add(id + "joined", "reshape", id + "mixed",
              fmt::format(", shape: [1, {}, {}]", sequence, width));
    lines.Add(id + "projected", "matmul", id + "joined", columns);
    lines.Add(id + "attention_sum", "elementwise", fmt::format("{}, {}projected", before, id),
              ", function: add");
    lines.Add(id + "attention_norm", "layer_norm", id + "attention_sum", ", axis: 2");
    lines.Add(id + "widened", "matmul", id + "attention_norm",
              fmt::format(", columns: {}, activation: gelu",
                          width * ValueOf(choice, name + ".mlp_ratio")));
    lines.Add(id + "narrowed", "matmul", id + "widened", columns);
    lines.Add(id + "sum", "elementwise", fmt::format("{0}attention_norm, {0}narrowed", id),
              ", function: add");
    lines.Add(id + "norm", "layer_norm", id + "sum", ", axis: 2");
    before = id + "norm";
  }
  return fmt::format(
      "schema: 1\nname: {}\ndtype: {}\ninputs:\n  - {{id: tokens, shape: [1, {}, {}]}}\n"
      "operators:\n{}outputs: [{}]\n",
      Quoted(name_), dtype_, sequence, width, lines.Text(), before);
}

namespace {

base::Expected<common::Import> Read(std::string_view text, const std::string& file_name,
                                    const common::ImportOptions& options) {
  const base::Expected<Space> space = Space::Parse(std::string(text), file_name);
  if (!space) return base::Unexpected(space.error());
  if (auto fault = space->CheckChoice(options.dims)) return base::Unexpected(*std::move(fault));
  if (const auto names = space->NamesWithoutEffect(options.dims); !names.empty()) {
    base::Diagnostic fault;
    fault.file = file_name;
    fault.message = fmt::format("'{}' has no effect: the network has no such part", names.front());
    fault.expected = "parameters of blocks and layers that the depth leaves in";
    return base::Unexpected(fault);
  }
  const base::Expected<std::string> network = space->Write(options.dims);
  if (!network) return base::Unexpected(network.error());
  base::Expected<Graph> graph = yaml::ReadNetwork(*network, file_name);
  if (!graph) return base::Unexpected(graph.error());
  common::Import import{.graph = *std::move(graph)};
  std::vector<std::string_view> ignored;
  if (!options.states.empty()) ignored.emplace_back("--state");
  if (options.floats_as) ignored.emplace_back("--floats-as");
  if (!options.descriptions.empty()) ignored.emplace_back("--ops-file");
  if (!ignored.empty()) import.notes.push_back("no effect on a space: " + base::Join(ignored));
  return import;
}

}  // namespace

extern const common::NetworkFormat kFormat = {
    .name = "spaces",
    .suffix = ".space",
    .example = "mobilenet.space --dim resolution=160",
    .takes_options = true,
    .recognizes = [](std::string_view) { return false; },
    .read = Read,
};

}  // namespace tessera::graph::import::space
