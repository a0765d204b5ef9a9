// SPDX-License-Identifier: Apache-2.0

#include <onnx/defs/schema.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/onnx/protobuf.h"

// The element types of all values, in one pass over the nodes. A definition names the types of its
// operands and results by variables:
//
//     Add (A: T, B: T) -> C: T           T in {float, int32, ..}
//     Where (condition: B, X: T, Y: T)   B in {bool}
//
// The first operand with a known type binds its variable. Each later operand with the same variable
// must have that type, and results get it. A result whose variable no operand binds has the type
// that an attribute states (Cast, Constant), or else the one that the file declares, or none.
//
// Exporters of quantised networks write operators on integers that ONNX defines for floating-point
// numbers only (Conv of int8). Such an operator is not checked, and its results have the declared
// types.
//
// The library can infer types as well, but together with shapes, and it reads past the end of
// shapes that do not match. This pass reads no shape.
namespace tessera::graph::import::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;
using ::onnx::TensorProto;
using ::onnx::Utils::DataTypeUtils;

using ElementType = int32_t;  // the number in TensorProto.DataType

// "tensor(float)", as definitions spell it.
std::string Spell(ElementType type) {
  ::onnx::TypeProto proto;
  proto.mutable_tensor_type()->set_elem_type(type);
  return *DataTypeUtils::ToType(proto);
}

// "float"
std::string NameOf(const std::string& spelled) {
  const size_t open = spelled.find('(');
  return open == std::string::npos ? spelled : spelled.substr(open + 1, spelled.size() - open - 2);
}
std::string NameOf(ElementType type) { return NameOf(Spell(type)); }

std::optional<ElementType> KnownType(int64_t number) {
  const auto type = static_cast<ElementType>(number);
  if (type != number || type == TensorProto::UNDEFINED ||
      !::onnx::TensorProto_DataType_IsValid(type))
    return std::nullopt;
  return type;
}

bool IsInteger(ElementType type) {
  const std::optional<base::DataType> known = common::TypeFromOnnx(type);
  return known && *known != base::DataType::kBool && !common::IsFloating(*known);
}

std::optional<ElementType> DeclaredType(const ::onnx::ValueInfoProto& info) {
  return info.type().has_tensor_type() ? KnownType(info.type().tensor_type().elem_type())
                                       : std::nullopt;
}

// The type of the first result, if an attribute states it.
std::optional<ElementType> StatedType(const ::onnx::NodeProto& message) {
  for (const AttributeProto& attribute : message.attribute()) {
    const std::string& name = attribute.name();
    if (attribute.type() == AttributeProto::INT && (name == "to" || name == "dtype"))
      return KnownType(attribute.i());
    if (attribute.type() == AttributeProto::TENSOR && name == "value")
      return KnownType(attribute.t().data_type());
  }
  return std::nullopt;
}

// The last parameter of a definition may stand for any number of operands.
const OpSchema::FormalParameter* ParameterAt(const std::vector<OpSchema::FormalParameter>& all,
                                             size_t i) {
  return all.empty() ? nullptr : &all[std::min(i, all.size() - 1)];
}

class ElementTypes {
 public:
  ElementTypes(const ::onnx::GraphProto& graph, const std::string& file)
      : graph_(graph), file_(file) {}

  base::Expected<void> ReadFile() {
    for (const TensorProto& constant : graph_.initializer())
      Learn(constant.name(), KnownType(constant.data_type()));
    for (const auto& sparse : graph_.sparse_initializer())
      Learn(sparse.values().name(), KnownType(sparse.values().data_type()));
    for (const auto& input : graph_.input()) {
      const std::optional<ElementType> declared = DeclaredType(input);
      const auto constant = types_.find(input.name());
      if (declared && constant != types_.end() && constant->second != *declared) {
        return common::FileFault(file_,
                                 "constant '" + input.name() + "' has element type " +
                                     NameOf(constant->second) +
                                     ", and it is also listed as an input of " + NameOf(*declared),
                                 "one element type");
      }
      Learn(input.name(), declared);
    }
    for (const auto& info : graph_.value_info()) Declare(info);
    for (const auto& info : graph_.output()) Declare(info);
    return {};
  }

  base::Expected<void> Take(const common::Node& node) {
    const OpSchema* schema = node.known
                                 ? ::onnx::OpSchemaRegistry::Schema(
                                       node.type, static_cast<int>(node.version), node.domain)
                                 : nullptr;
    if (schema != nullptr && IsQuantised(node, *schema)) schema = nullptr;
    Variables variables;
    if (schema != nullptr) {
      if (auto bound = BindOperands(node, *schema, variables); !bound) return bound;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (auto taken = TakeResult(node, schema, i, variables); !taken) return taken;
    }
    return {};
  }

 private:
  // The type of each bound variable, and the operand that binds it.
  using Variables = std::map<std::string, std::pair<ElementType, size_t>>;

  void Learn(const std::string& name, std::optional<ElementType> type) {
    if (type) types_.emplace(name, *type);
  }

  void Declare(const ::onnx::ValueInfoProto& info) {
    if (const auto type = DeclaredType(info)) declared_.emplace(info.name(), *type);
  }

  // Whether it reads integers where its definition has only floating-point numbers.
  bool IsQuantised(const common::Node& node, const OpSchema& schema) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto type = types_.find(node.inputs[i]);
      const auto* parameter = ParameterAt(schema.inputs(), i);
      if (type == types_.end() || parameter == nullptr) continue;
      if (IsInteger(type->second) && !Allows(*parameter, type->second) &&
          Allows(*parameter, TensorProto::FLOAT))
        return true;
    }
    return false;
  }

  base::Expected<void> BindOperands(const common::Node& node, const OpSchema& schema,
                                    Variables& variables) const {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto type = types_.find(node.inputs[i]);
      const auto* parameter = ParameterAt(schema.inputs(), i);
      if (type == types_.end() || parameter == nullptr) continue;
      const auto fault = [&](const std::string& rest, const std::string& expected) {
        return base::Unexpected(
            common::FaultAt(file_, node,
                            "operand " + std::to_string(i) + ", '" + node.inputs[i] +
                                "', has element type " + NameOf(type->second) + rest,
                            expected, "insert a Cast, or export the model again"));
      };
      if (!Allows(*parameter, type->second)) return fault("", AllowedTypes(*parameter));
      if (!parameter->GetIsHomogeneous()) continue;
      const auto [bound, is_new] = variables.try_emplace(parameter->GetTypeStr(), type->second, i);
      const auto [bound_type, binder] = bound->second;
      if (is_new || bound_type == type->second) continue;
      return fault(", and operand " + std::to_string(binder) + ", '" + node.inputs[binder] +
                       "', has " + NameOf(bound_type),
                   "operands of one element type");
    }
    return {};
  }

  static bool Allows(const OpSchema::FormalParameter& parameter, ElementType type) {
    const auto& allowed = parameter.GetTypes();
    const std::string spelled = Spell(type);
    return std::any_of(allowed.begin(), allowed.end(),
                       [&spelled](const std::string* each) { return *each == spelled; });
  }

  static std::string AllowedTypes(const OpSchema::FormalParameter& parameter) {
    std::vector<std::string> names;
    for (const std::string* type : parameter.GetTypes()) names.push_back(NameOf(*type));
    std::sort(names.begin(), names.end());
    std::string text = names.size() > 1 ? "one of " : "";
    for (const std::string& name : names) text += (&name == &names.front() ? "" : ", ") + name;
    return text;
  }

  base::Expected<void> TakeResult(const common::Node& node, const OpSchema* schema, size_t i,
                                  const Variables& variables) {
    const std::string& name = node.outputs[i];
    if (name.empty()) return {};
    std::optional<ElementType> type;
    if (schema != nullptr) type = DefinedType(node, *schema, i, variables);
    const auto declared = declared_.find(name);
    if (type && declared != declared_.end() && declared->second != *type) {
      return base::Unexpected(common::FaultAt(
          file_, node,
          "its output '" + name + "' has element type " + NameOf(*type) + ", and the file says " +
              NameOf(declared->second),
          "element types that agree", "infer the types of the file anew, or export it again"));
    }
    if (!type && declared != declared_.end()) type = declared->second;
    Learn(name, type);
    return {};
  }

  std::optional<ElementType> DefinedType(const common::Node& node, const OpSchema& schema, size_t i,
                                         const Variables& variables) const {
    const auto* parameter = ParameterAt(schema.outputs(), i);
    if (parameter == nullptr || !parameter->GetIsHomogeneous()) return std::nullopt;
    const auto bound = variables.find(parameter->GetTypeStr());
    const bool is_stated =
        i == 0 && (schema.attributes().count("to") > 0 || schema.attributes().count("dtype") > 0 ||
                   schema.attributes().count("value") > 0);
    std::optional<ElementType> type;
    if (is_stated) type = StatedType(graph_.node(node.index));
    if (type && !Allows(*parameter, *type)) type = std::nullopt;  // of a sequence
    if (!type && bound != variables.end()) type = bound->second.first;
    if (!type && parameter->GetTypes().size() == 1)
      type = TypeSpelled(*parameter->GetTypes().begin());
    return type;
  }

  // Returns nullopt if the value is no tensor.
  static std::optional<ElementType> TypeSpelled(::onnx::DataType spelled) {
    const ::onnx::TypeProto& proto = DataTypeUtils::ToTypeProto(spelled);
    return proto.has_tensor_type() ? KnownType(proto.tensor_type().elem_type()) : std::nullopt;
  }

  const ::onnx::GraphProto& graph_;
  const std::string& file_;
  std::map<std::string, ElementType> types_;
  std::map<std::string, ElementType> declared_;  // of results
};

}  // namespace

base::Expected<void> CheckElementTypes(const ::onnx::GraphProto& graph,
                                       const std::vector<common::Node>& nodes,
                                       const std::string& file) {
  ElementTypes types(graph, file);
  if (auto read = types.ReadFile(); !read) return read;
  for (const common::Node& node : nodes) {
    if (auto taken = types.Take(node); !taken) return taken;
  }
  return {};
}

}  // namespace tessera::graph::import::onnx
