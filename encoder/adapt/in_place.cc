#include "tessera/encoder/adapt/in_place.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "tessera/encoder/adapt/shared_places.h"

// A result may take the place of an operand when nothing is overwritten before it was read, nobody wants the operand
// afterwards, and no neighbouring tile or transfer does either: the lives of the two share the operator's own step alone
// (shared_places.h).
//
//     x   |-----------|                 x   |-----------|
//     y             |--------|          y        |-------------|      y begins while x is still wanted: not in place
//                  C_k                          C_k
//
// Nothing is overwritten too early where element i of both lies at the same address, and each element of y is made of that of x
// alone; or channel by channel (by_channel.h). The latter come first, for their scratch must be known before any size is.
//
// Cost: for each operator, its inputs times tile classes, plus the buffers.
namespace tessera::encoder {
namespace {

using problem::Lifespan;
using problem::Relation;

class Finder {
 public:
  Finder(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
         int subgraph, std::vector<Relation>& relations)
      : graph_(graph),
        profile_(profile),
        skeleton_(skeleton),
        uses_(skeleton.uses[static_cast<size_t>(subgraph)]),
        timeline_(skeleton.timelines[static_cast<size_t>(subgraph)]),
        subgraph_(subgraph),
        relations_(relations),
        places_(skeleton.program.problem.buffers, relations) {}

  // Whether the result of operator k can take the place of the operand, two buffers that are `alike`, for every parity. Then it does.
  bool Colocate(int k, int operand, int result, const std::function<bool(size_t, size_t)>& alike) {
    if (ArePadded(operand, result) || IsWantedAfterwards(operand) || IsUnread(result)) return false;
    if (UseOf(uses_, operand).cached || UseOf(uses_, result).cached) return false;
    std::vector<Relation> relations;
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      const std::optional<size_t> from = BufferOf(operand, parity);
      const std::optional<size_t> to = BufferOf(result, parity);
      if (!from || !to || !alike(*from, *to) || !places_.MayJoin(*from, *to, TurnsOf(k, parity)))
        return false;
      relations.push_back(
          {problem::RelationKind::kColocate, static_cast<int>(*from), static_cast<int>(*to), /*delta=*/0});
    }
    for (const Relation& relation : relations) places_.Join(relation);
    relations_.insert(relations_.end(), relations.begin(), relations.end());
    return true;
  }

 private:
  // Whether either is stored with pads, which need not be the same for both.
  bool ArePadded(int operand, int result) const {
    const std::vector<graph::Operator>& operators = graph_.operators;
    return !profile_.tiling.implicit_padding &&
           std::any_of(operators.begin(), operators.end(), [&](const graph::Operator& op) {
             const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(),
                                            [&](int input) { return input == operand || input == result; });
             const std::array<int64_t, 2> none = {0, 0};
             return reads && (op.window.pad_low != none || op.window.pad_high != none);
           });
  }

  // A result that dies at once says nothing of whether the operand is wanted on: their lives part in any case.
  bool IsUnread(int result) const {
    const TensorUse& use = UseOf(uses_, result);
    return use.residence == Residence::kInside && use.readers.empty();
  }

  // Lifespans end with the program; somebody may still want the tensor then.
  bool IsWantedAfterwards(int operand) const {
    if (UseOf(uses_, operand).residence != Residence::kWhole) return false;
    const graph::Tensor& tensor = graph_.tensors[static_cast<size_t>(operand)];
    const auto beyond = graph_.operators.begin() + uses_.interval.last + 1;
    return tensor.network_output || tensor.state ||
           std::any_of(beyond, graph_.operators.end(), [&](const graph::Operator& op) {
             return std::find(op.inputs.begin(), op.inputs.end(), operand) != op.inputs.end();
           });
  }

  // When operator k works on tiles of that parity.
  std::vector<Lifespan> TurnsOf(int k, size_t parity) const {
    std::vector<Lifespan> turns;
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      turns.push_back({pass.first[static_cast<size_t>(k)], pass.compute[static_cast<size_t>(k)] + 1});
    }
    return turns;
  }

  // The buffer that holds a tensor for tiles of this parity; the whole one serves a single pass only.
  std::optional<size_t> BufferOf(int tensor, size_t parity) const {
    const std::vector<ProgramBuffer>& buffers = skeleton_.program.buffers;
    const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const ProgramBuffer& buffer) {
      if (buffer.tensor != tensor || buffer.parity != static_cast<int>(parity)) return false;
      return buffer.kind == BufferKind::kWhole ||
             (buffer.kind == BufferKind::kTile && buffer.subgraph == subgraph_);
    });
    if (found == buffers.end()) return std::nullopt;
    return static_cast<size_t>(found - buffers.begin());
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const Skeleton& skeleton_;
  const SubgraphUses& uses_;
  const Timeline& timeline_;
  int subgraph_;
  std::vector<Relation>& relations_;
  SharedPlaces places_;
};

// Whether the operator's description lets the result overwrite this operand: it names every input that this is, and each element of them
// is read where its own coordinates are written.
bool AllowsInPlace(const graph::Operator& op, int operand) {
  for (size_t number = 0; number < op.inputs.size(); ++number) {
    if (op.inputs[number] != operand) continue;
    const bool named = std::count(op.in_place.begin(), op.in_place.end(), static_cast<int>(number)) > 0;
    if (!named || op.accesses[number].kind != graph::AccessKind::kElementwise) return false;
  }
  return true;
}

// The inputs that may be overwritten element by element: by the profile, or by the operator's own description.
std::vector<int> OverwritableOf(const graph::Operator& op, const hw_profiles::Profile& profile) {
  std::vector<int> inputs;
  for (const int number : op.in_place) {
    const int operand = op.inputs[static_cast<size_t>(number)];
    if (AllowsInPlace(op, operand)) inputs.push_back(operand);
  }
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
  return named && op.kind == base::OperatorKind::kElementwise ? op.inputs : inputs;
}

// Whether every tile holds the elements of both in the same order.
bool LieAlike(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
              const graph::TiledSubgraph& tiling, int operand, int result) {
  const graph::Tensor& x = graph.tensors[static_cast<size_t>(operand)];
  const graph::Tensor& y = graph.tensors[static_cast<size_t>(result)];
  if (operand == result || x.type != y.type || x.shape != y.shape) return false;
  const hw_profiles::RoleLayout& x_layout = hw_profiles::LayoutOf(profile, UseOf(uses, operand).role);
  const hw_profiles::RoleLayout& y_layout = hw_profiles::LayoutOf(profile, UseOf(uses, result).role);
  if (x_layout.channel_block != y_layout.channel_block) return false;
  if (x_layout.row_pitch_bytes != y_layout.row_pitch_bytes) return false;
  const size_t x_slot = graph::SlotOf(tiling, operand);
  const size_t y_slot = graph::SlotOf(tiling, result);
  return std::all_of(tiling.classes.begin(), tiling.classes.end(), [&](const graph::TileClass& tiles) {
    return tiles.needed[x_slot] == tiles.needed[y_slot];
  });
}

}  // namespace

void AddByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile, Skeleton& skeleton,
                  int subgraph, std::vector<Relation>& relations) {
  Finder finder(graph, profile, skeleton, subgraph, relations);
  SubgraphUses& uses = skeleton.uses[static_cast<size_t>(subgraph)];
  std::erase_if(uses.by_channel, [&](int k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    return !finder.Colocate(k, op.inputs.front(), op.outputs.front(), [](size_t, size_t) { return true; });
  });
}

void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
                int subgraph, const graph::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                std::vector<Relation>& relations) {
  Finder finder(graph, profile, skeleton, subgraph, relations);
  const SubgraphUses& uses = skeleton.uses[static_cast<size_t>(subgraph)];
  const auto same_size = [&sizes](size_t a, size_t b) { return sizes[a] == sizes[b]; };
  for (int k = 0; k < uses.Operators(); ++k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    for (const int operand : OverwritableOf(op, profile)) {
      const int result = op.outputs.front();
      if (LieAlike(graph, profile, uses, tiling, operand, result) &&
          finder.Colocate(k, operand, result, same_size))
        break;
    }
  }
}

}  // namespace tessera::encoder
