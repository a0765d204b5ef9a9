// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "tessera/encoder/formulation/constraint.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"

// States a constraint in C++ that no rule can state.
//
// The accelerator of this example reads two operands at the same time through a cache of four
// colours: the lines of 64 bytes belong to colours 0 1 2 3 0 1 2 3 ... by address. Two operands
// that start in one colour evict each other at every access. So each pair of operands must start in
// different colours. This is neither a multiple nor a distance: any difference but one residue is
// right.
//
//     $ custom_constraint
//     without:  image at 0 (colour 0), kernel at 256 (colour 0), result at 320 (colour 1)
//     with:     image at 0 (colour 0), kernel at 576 (colour 1), result at 320 (colour 1)

namespace {

using tessera::encoder::formulation::Constraint;
using tessera::encoder::formulation::Integer;
using tessera::encoder::formulation::Literal;
using tessera::encoder::formulation::Variables;
using tessera::problem::Allocation;
using tessera::problem::Bytes;
using tessera::problem::Problem;

constexpr Bytes kLine = 64;
constexpr Bytes kColours = 4;

Bytes ColourOf(Bytes offset) { return offset / kLine % kColours; }

class DifferentColours final : public Constraint {
 public:
  DifferentColours(size_t first, size_t second) : first_(first), second_(second) {}

  std::string Name() const override { return "different colours"; }

  // An offset that moves down to the start of its line keeps its colour.
  Bytes UnitOf(const Problem& /*problem*/, size_t /*memory*/) const override { return kLine; }

  void Write(Variables& variables) const override {
    for (Bytes colour = 0; colour < kColours; ++colour) {
      const Literal first = HasColour(variables, first_, colour);
      const Literal second = HasColour(variables, second_, colour);
      variables.Clauses().Add({~first, ~second});
    }
  }

  std::string FindViolation(const Problem& problem, const Allocation& allocation) const override {
    const Bytes colour = ColourOf(allocation.offsets[first_]);
    if (colour != ColourOf(allocation.offsets[second_])) return "";
    return problem.buffers[first_].id + " and " + problem.buffers[second_].id +
           " both start in colour " + std::to_string(colour);
  }

 private:
  // "offset mod 256 lies in [64 c, 64 c + 64)" is two bounds of a remainder.
  static Literal HasColour(Variables& variables, size_t buffer, Bytes colour) {
    const Bytes granularity = variables.GranularityOf(0);
    const Integer remainder =
        variables.Integers().Remainder(variables.OffsetOf(buffer), kLine * kColours / granularity);
    return And(variables.Clauses(),
               variables.Integers().AtLeast({remainder}, colour * kLine / granularity),
               ~variables.Integers().AtLeast({remainder}, (colour + 1) * kLine / granularity));
  }

  size_t first_;
  size_t second_;
};

Problem Convolution() {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].name = "sram";
  problem.memories[0].capacity = 640;
  for (const auto& [id, size] :
       {std::pair("image", 256), std::pair("kernel", 64), std::pair("result", 256)}) {
    tessera::problem::Buffer buffer;
    buffer.id = id;
    buffer.size = size;
    buffer.lifespans = {{0, 1}};
    problem.buffers.push_back(buffer);
  }
  // Without the constraint the two would start in one colour: 256 bytes are four lines.
  problem.buffers[0].offset = 0;
  problem.buffers[1].hint = 256;
  problem.buffers[2].hint = 320;
  return problem;
}

// Prints the placement; prints nothing if there is none.
std::optional<Allocation> Place(const std::string& title, const Problem& problem,
                                tessera::encoder::formulation::Constraints constraints) {
  const tessera::encoder::sat::SatEngine engine({.seed = 0, .constraints = std::move(constraints)});
  const tessera::base::Stop stop;
  const auto result =
      engine.Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, stop);
  if (!result.allocation) {
    std::cout << title << result.reason << "\n";
    return std::nullopt;
  }
  std::string separator = title;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Bytes offset = result.allocation->offsets[i];
    std::cout << separator << problem.buffers[i].id << " at " << offset << " (colour "
              << ColourOf(offset) << ")";
    separator = ", ";
  }
  std::cout << "\n";
  return result.allocation;
}

}  // namespace

int main() {
  const Problem problem = Convolution();
  const auto colours = std::make_shared<DifferentColours>(0, 1);
  Place("without:  ", problem, {});
  const auto placement = Place("with:     ", problem, {colours});
  const bool right = placement && colours->FindViolation(problem, *placement).empty() &&
                     Validate(problem, *placement, problem.memories[0].capacity).empty();
  return right ? 0 : 1;
}
