#pragma once

#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/plan/operand_reads.h"

// What an operator reads of its constants, and along which axes it goes: with plan/operand_reads.h,
// the judge of an execution.
namespace tessera::plan::execute {

// The elements of op.weights[constant] that they take: filters of the output channels in question,
// all of any other constant.
ElementSet ReadsOfConstant(const graph::Graph& network, const graph::Operator& op, size_t constant,
                           const Box& output);

// The bytes that they take of its table, which has one entry after the other, one for each of its
// channels.
ElementSet ReadsOfTable(const graph::Graph& network, const graph::Operator& op, size_t constant,
                        int64_t table_bytes, const Box& output);

// A constant that is filters: index i along its axis `constant` serves index i along axis `output`
// of the result, and no other.
struct FilterAxes {
  size_t constant = 0;
  size_t output = 0;
};
std::optional<FilterAxes> FilterAxesOf(const graph::Graph& network, const graph::Operator& op,
                                       size_t constant);

// Where elements of the result are sums of products: the axis of the operand that runs over what is
// added up.
std::optional<size_t> KAxisOfInput(const graph::Graph& network, const graph::Operator& op,
                                   size_t input);
std::optional<size_t> KAxisOfConstant(const graph::Graph& network, const graph::Operator& op,
                                      size_t constant);

// Drops what lies elsewhere along the axis.
void KeepK(std::optional<size_t> axis, const Range& k, ElementSet& reads);

// Whether each channel of the result is made from the same channel of its only input and no other:
// depthwise, one for one.
bool MapsChannels(const graph::Graph& network, const graph::Operator& op);

// Whether each element of the result is made from the element of op.inputs[input] at the same
// coordinates, if there is one, and no other of it.
bool IsPointwise(const graph::Graph& network, const graph::Operator& op, size_t input);

}  // namespace tessera::plan::execute
