#include "tessera/plan/operand_reads.h"

#include <utility>

#include "tessera/graph/reads.h"

namespace tessera::plan {

Box NeedOf(const graph::Graph& graph, const graph::Operator& op, size_t operand,
           const Box& output) {
  return graph::HullOfReads(graph, op, operand, output);
}

ElementSet ReadsOfInput(const graph::Graph& graph, const graph::Operator& op, size_t operand,
                        const Box& output) {
  graph::ElementReads reads = graph::ReadsOf(graph, op, operand, output);
  return {std::move(reads.axes), std::move(reads.numbers)};
}

}  // namespace tessera::plan
