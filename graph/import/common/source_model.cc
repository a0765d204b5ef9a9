// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/source_model.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/ops/shape_inference.h"

namespace tessera::graph::import::common {

namespace {

constexpr int kGiven = -1;  // a network input or a constant

// By value, the index of the node that makes it, or kGiven.
using Makers = std::unordered_map<std::string, int>;

base::Expected<Makers> FindMakers(const Model& model, const std::string& file) {
  Makers makers;
  for (const Declaration& input : model.inputs) {
    if (!makers.emplace(input.name, kGiven).second)
      return FileFault(file, "network input '" + input.name + "' is declared twice",
                       "a name of its own");
  }
  for (const auto& [name, constant] : model.constants) makers.emplace(name, kGiven);
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& output : model.nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [other, added] = makers.emplace(output, static_cast<int>(i));
      if (added) continue;
      const std::string first = other->second == kGiven
                                    ? "a network input or constant"
                                    : Describe(model.nodes[static_cast<size_t>(other->second)]);
      std::string message = "value '" + output + "' is also made by ";
      message += first;
      return base::Unexpected(FaultAt(file, model.nodes[i], message, "each value made once"));
    }
  }
  return makers;
}

std::string NearestValue(const std::string& name, const Makers& makers) {
  std::vector<std::string_view> names;
  for (const auto& [value, maker] : makers) names.push_back(value);
  std::sort(names.begin(), names.end());
  return base::DidYouMean(name, names);
}

std::string NamesAlong(const Model& model, const std::vector<int>& cycle) {
  std::string path;
  for (const int node : cycle) path += Describe(model.nodes[static_cast<size_t>(node)]) + " -> ";
  return path + Describe(model.nodes[static_cast<size_t>(cycle.front())]);
}

}  // namespace

std::string Describe(const Node& node) {
  const std::string name = !node.name.empty()      ? node.name
                           : !node.outputs.empty() ? node.outputs.front()
                                                   : "#" + std::to_string(node.index);
  return "operator '" + name + "' (" + node.type + ")";
}

base::Unexpected FileFault(const std::string& file, std::string message, std::string expected,
                           std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return base::Unexpected(std::move(fault));
}

base::Diagnostic FaultAt(const std::string& file, const Node& node, std::string message,
                         std::string expected, std::string hint) {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = Describe(node) + ": " + std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<void> OrderNodes(Model& model, const std::string& file) {
  const base::Expected<Makers> makers = FindMakers(model, file);
  if (!makers) return base::Unexpected(makers.error());
  std::vector<std::vector<int>> dependencies(model.nodes.size());
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& node = model.nodes[i];
    std::vector<std::string> reads = node.inputs;
    reads.insert(reads.end(), node.captured.begin(), node.captured.end());
    for (const std::string& value : reads) {
      if (value.empty()) continue;
      const auto maker = makers->find(value);
      if (maker == makers->end()) {
        return base::Unexpected(FaultAt(file, node, "no node makes its input '" + value + "'",
                                        "a network input, a constant or the output of an operator",
                                        NearestValue(value, *makers)));
      }
      if (maker->second != kGiven) dependencies[i].push_back(maker->second);
    }
  }
  for (const Declaration& output : model.outputs) {
    if (makers->count(output.name) == 0) {
      return FileFault(file, "no node makes network output '" + output.name + "'",
                       "the output of an operator", NearestValue(output.name, *makers));
    }
  }
  const TopologicalOrder sorted = SortTopologically(dependencies);
  if (!sorted.cycle.empty()) {
    return FileFault(
        file, "operators depend on each other in a cycle: " + NamesAlong(model, sorted.cycle),
        "inputs that are made before");
  }
  std::vector<Node> in_order;
  in_order.reserve(model.nodes.size());
  for (const int i : sorted.order)
    in_order.push_back(std::move(model.nodes[static_cast<size_t>(i)]));
  model.nodes = std::move(in_order);
  return {};
}

namespace {

class Resolver {
 public:
  Resolver(const std::map<std::string, int64_t>& dims, const std::string& file)
      : dims_(dims), file_(file) {}

  // Extents below 1 are treated as open: exporters write 0 and -1 for open extents.
  std::optional<Shape> Resolve(const Declaration& declaration) {
    if (!declaration.shape) return std::nullopt;
    Shape shape;
    bool complete = true;
    for (size_t axis = 0; axis < declaration.shape->size(); ++axis) {
      const Dimension& dimension = (*declaration.shape)[axis];
      if (dimension.extent && *dimension.extent >= 1) {
        shape.push_back(*dimension.extent);
        continue;
      }
      const std::string name = dimension.symbol.empty()
                                   ? declaration.name + "[" + std::to_string(axis) + "]"
                                   : dimension.symbol;
      names_.insert(name);
      const auto found = dims_.find(name);
      complete = complete && found != dims_.end();
      if (found != dims_.end()) {
        shape.push_back(found->second);
      } else if (open_.empty() || open_.back() != name) {
        open_.push_back(name);
      }
    }
    return complete ? std::optional(shape) : std::nullopt;
  }

  base::Expected<void> ResolveInputs(const Model& model, Declared& declared) {
    for (const Declaration& input : model.inputs) {
      if (!input.type || !input.shape) {
        return FileFault(
            file_, "network input '" + input.name + "' has no shape, or is no tensor of numbers",
            "a tensor with a data type and a shape", "export the model with shapes of its inputs");
      }
      const std::optional<Shape> shape = Resolve(input);
      declared[input.name] = {shape, input.type};
      if (shape && !ops::IsCountable(*shape))
        return FileFault(file_,
                         "network input '" + input.name + "' has shape " + ops::ToText(*shape),
                         "at most 2^56 elements", "");
    }
    if (open_.empty()) return {};
    std::string wanted;
    std::set<std::string> listed;
    for (const std::string& name : open_) {
      if (listed.insert(name).second)
        wanted += (wanted.empty() ? "--dim " : " --dim ") + name + "=1";
    }
    return FileFault(file_, "the extent of dimension '" + open_.front() + "' is not in the file",
                     wanted, "each with the extent that you want");
  }

  base::Expected<void> CheckAllUsed() const {
    const std::vector<std::string_view> known(names_.begin(), names_.end());
    for (const auto& [name, extent] : dims_) {
      if (names_.count(name) > 0) continue;
      const std::string expected = known.empty() ? "no --dim, as every extent is in the file"
                                                 : "one of " + base::Join(known);
      return FileFault(file_, "there is no symbolic dimension '" + name + "'", expected,
                       base::DidYouMean(name, known));
    }
    return {};
  }

 private:
  const std::map<std::string, int64_t>& dims_;
  const std::string& file_;
  std::set<std::string> names_;    // all dimensions that the file leaves open
  std::vector<std::string> open_;  // dimensions without an extent
};

}  // namespace

base::Expected<Declared> ResolveDimensions(const Model& model,
                                           const std::map<std::string, int64_t>& dims,
                                           const std::string& file) {
  Declared declared;
  Resolver resolver(dims, file);
  if (const auto done = resolver.ResolveInputs(model, declared); !done)
    return base::Unexpected(done.error());
  for (const auto& [name, declaration] : model.inner)
    declared.emplace(name, ValueType{resolver.Resolve(declaration), declaration.type});
  for (const Declaration& output : model.outputs)
    declared.emplace(output.name, ValueType{resolver.Resolve(output), output.type});
  if (const auto done = resolver.CheckAllUsed(); !done) return base::Unexpected(done.error());
  return declared;
}

}  // namespace tessera::graph::import::common
