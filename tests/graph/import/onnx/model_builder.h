// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tessera/graph/import/onnx/node_import.h"
#include "tessera/graph/import/yaml/network_yaml.h"

// ONNX models as exporters write them, made with the messages of the ONNX library.
namespace tessera::graph::onnx {

using Extent = std::variant<int64_t, std::string>;  // a number or a symbol
using AttributeValue =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;
using Attributes = std::map<std::string, AttributeValue>;

// The numbers of TensorProto.DataType.
inline constexpr int kUnstated = 0;  // the file does not say
inline constexpr int kFloat = 1;
inline constexpr int kUint8 = 2;
inline constexpr int kInt8 = 3;
inline constexpr int kInt32 = 6;
inline constexpr int kInt64 = 7;
inline constexpr int kBool = 9;

class ModelBuilder {
 public:
  explicit ModelBuilder(int64_t version = 13);
  ~ModelBuilder();
  ModelBuilder(const ModelBuilder&) = delete;
  ModelBuilder& operator=(const ModelBuilder&) = delete;

  std::string Input(const std::string& name, const std::vector<Extent>& shape, int type = kFloat);
  void Output(const std::string& name, const std::vector<Extent>& shape = {}, int type = kUnstated);
  void Declare(const std::string& name, const std::vector<Extent>& shape,
               int type = kFloat);  // value_info

  // Constants: without data, as in files without weights; and small ones with values.
  std::string Weight(const std::string& name, const std::vector<int64_t>& shape, int type = kFloat);
  std::string Integers(const std::string& name, const std::vector<int64_t>& values);
  std::string Scalar(const std::string& name, int64_t value);
  std::string Reals(const std::string& name, const std::vector<double>& values);
  std::string Real(const std::string& name, double value);

  // Of any shape and type of TensorProto, row-major.
  std::string Values(const std::string& name, const std::vector<int64_t>& shape, int type,
                     const std::vector<double>& values);

  // Integers of which only the nonzero ones are stored.
  std::string Sparse(const std::string& name, const std::vector<int64_t>& values,
                     const std::vector<int64_t>& shape);

  // Appends an operator named after its first output; returns that name. "my.domain:Type" gives the
  // operator a domain.
  std::string Add(const std::string& type, const std::vector<std::string>& inputs,
                  const std::string& output, const Attributes& attributes = {});
  void AddMany(const std::string& type, const std::vector<std::string>& inputs,
               const std::vector<std::string>& outputs, const Attributes& attributes = {});
  // An If whose branches return `captured`.
  std::string AddIf(const std::string& condition, const std::string& captured,
                    const std::string& output);

  void Metadata(const std::string& key, const std::string& value);
  void Document(const std::string& operator_name, const std::string& text);

  // The file's bytes.
  std::string Bytes() const;

 private:
  struct Message;
  std::unique_ptr<Message> message_;
};

using Import = import::common::Import;
using ImportOptions = import::common::ImportOptions;

// The graph, or a failed test.
Import MustImport(const ModelBuilder& model, const ImportOptions& options = {});
Graph MustImportGraph(const ModelBuilder& model, const ImportOptions& options = {});

// The graph of one operator over input "x"; its result is "y". `constants` adds the `others`.
Graph ImportOne(const std::string& type, const std::vector<Extent>& x,
                const std::vector<std::string>& others, const Attributes& attributes,
                const std::function<void(ModelBuilder&)>& constants = {}, int64_t version = 13);

// The fault, or a failed test.
base::Diagnostic FaultOf(const std::string& bytes, const ImportOptions& options = {});

// "conv relu(a, w) -> b [1, 8, 4, 4]", one line for each operator: kind, activation, inputs with
// weights, outputs with shapes.
std::string Describe(const Graph& graph);

const Operator& OperatorNamed(const Graph& graph, const std::string& id);
const Tensor& TensorNamed(const Graph& graph, const std::string& id);

}  // namespace tessera::graph::onnx
