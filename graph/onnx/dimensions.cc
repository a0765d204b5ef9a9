#include "tessera/graph/onnx/dimensions.h"

#include <set>
#include <string_view>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/graph/onnx/structure.h"
#include "tessera/graph/shape_inference.h"

namespace tessera::graph::onnx {
namespace {

class Resolver {
 public:
  Resolver(const std::map<std::string, int64_t>& dims, const std::string& file) : dims_(dims), file_(file) {}

  // Extents below 1 are as good as open: exporters write 0 and -1 for them.
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
      const std::string name =
          dimension.symbol.empty() ? declaration.name + "[" + std::to_string(axis) + "]" : dimension.symbol;
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
        return FileFault(file_, "network input '" + input.name + "' has no shape, or is no tensor of numbers",
                         "a tensor with a data type and a shape",
                         "export the model with shapes of its inputs");
      }
      const std::optional<Shape> shape = Resolve(input);
      declared[input.name] = {shape, input.type};
      if (shape && !IsCountable(*shape))
        return FileFault(file_, "network input '" + input.name + "' has shape " + ToText(*shape),
                         "at most 2^56 elements", "");
    }
    if (open_.empty()) return {};
    std::string wanted;
    std::set<std::string> listed;
    for (const std::string& name : open_) {
      if (listed.insert(name).second) wanted += (wanted.empty() ? "--dim " : " --dim ") + name + "=1";
    }
    return FileFault(file_, "the extent of dimension '" + open_.front() + "' is not in the file", wanted,
                     "each with the extent that you want");
  }

  base::Expected<void> CheckAllUsed() const {
    const std::vector<std::string_view> known(names_.begin(), names_.end());
    for (const auto& [name, extent] : dims_) {
      if (names_.count(name) > 0) continue;
      const std::string expected =
          known.empty() ? "no --dim, as every extent is in the file" : "one of " + base::Join(known);
      return FileFault(file_, "there is no symbolic dimension '" + name + "'", expected,
                       base::DidYouMean(name, known));
    }
    return {};
  }

 private:
  const std::map<std::string, int64_t>& dims_;
  const std::string& file_;
  std::set<std::string> names_;    // of all dimensions that the file leaves open
  std::vector<std::string> open_;  // that keep no extent
};

}  // namespace

base::Expected<Declared> ResolveDimensions(const Model& model, const std::map<std::string, int64_t>& dims,
                                           const std::string& file) {
  Declared declared;
  Resolver resolver(dims, file);
  if (const auto done = resolver.ResolveInputs(model, declared); !done) return base::Unexpected(done.error());
  for (const auto& [name, declaration] : model.inner)
    declared.emplace(name, ValueType{resolver.Resolve(declaration), declaration.type});
  for (const Declaration& output : model.outputs)
    declared.emplace(output.name, ValueType{resolver.Resolve(output), output.type});
  if (const auto done = resolver.CheckAllUsed(); !done) return base::Unexpected(done.error());
  return declared;
}

}  // namespace tessera::graph::onnx
