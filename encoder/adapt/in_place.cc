#include "tessera/encoder/adapt/in_place.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>

// A result may take the place of an operand when element i of both lies at the same address, nobody wants the operand
// afterwards, and no neighbouring tile or transfer does either: the lives of the two share the operator's own step alone.
//
//     x   |-----------|                 x   |-----------|
//     y             |--------|          y        |-------------|      y begins while x is still wanted: not in place
//                  C_k                          C_k
//
// Places pass from hand to hand: where b took the place of a, and c is to take that of b, all three lie at one address. So c must
// keep clear of every buffer that lies there, not of b alone: a may be a loaded tile, filled again in the very pass in which c
// still leaves. Buffers that share a place carry the same mark, that of the first of them.
//
// Cost: for each operator, its inputs times tile classes, plus the buffers.
namespace tessera::encoder {
namespace {

using problem::Lifespan;
using problem::Relation;

class Finder {
 public:
  Finder(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
         int subgraph, const graph::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
         std::vector<Relation>& relations)
      : graph_(graph),
        profile_(profile),
        skeleton_(skeleton),
        uses_(skeleton.uses[static_cast<size_t>(subgraph)]),
        timeline_(skeleton.timelines[static_cast<size_t>(subgraph)]),
        subgraph_(subgraph),
        tiling_(tiling),
        sizes_(sizes),
        relations_(relations),
        place_(sizes.size()) {
    std::iota(place_.begin(), place_.end(), size_t{0});
    for (const Relation& relation : relations) {
      if (relation.kind == problem::RelationKind::kColocate) Join(relation);
    }
  }

  void Find() {
    for (int k = 0; k < uses_.Operators(); ++k) {
      const graph::Operator& op = uses_.OperatorAt(graph_, k);
      for (const int input : OverwritableOf(op)) {
        if (Colocate(k, input, op.outputs.front())) break;
      }
    }
  }

 private:
  // The inputs that may be overwritten element by element: by the profile, or by the operator's own description.
  std::vector<int> OverwritableOf(const graph::Operator& op) const {
    std::vector<int> inputs;
    for (const int number : op.in_place) inputs.push_back(op.inputs[static_cast<size_t>(number)]);
    const std::vector<base::OperatorKind>& kinds = profile_.tiling.in_place;
    const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
    return named && op.kind == base::OperatorKind::kElementwise ? op.inputs : inputs;
  }

  // Adds a relation for each parity, if all of them are sound.
  bool Colocate(int k, int operand, int result) {
    if (!AreAlike(operand, result) || ArePadded(operand, result)) return false;
    if (IsWantedAfterwards(operand) || IsUnread(result)) return false;
    if (UseOf(uses_, operand).cached || UseOf(uses_, result).cached) return false;
    std::vector<Relation> relations;
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      const std::optional<size_t> from = BufferOf(operand, parity);
      const std::optional<size_t> to = BufferOf(result, parity);
      if (!from || !to || sizes_[*from] != sizes_[*to] || !MayFollow(k, parity, *from, *to)) return false;
      relations.push_back(
          {problem::RelationKind::kColocate, static_cast<int>(*from), static_cast<int>(*to), /*delta=*/0});
    }
    for (const Relation& relation : relations) Join(relation);
    relations_.insert(relations_.end(), relations.begin(), relations.end());
    return true;
  }

  void Join(const Relation& relation) {
    const auto operand = static_cast<size_t>(relation.first);
    operands_.insert(operand);
    place_[static_cast<size_t>(relation.second)] = place_[operand];
  }

  bool AreAlike(int operand, int result) const {
    const graph::Tensor& x = graph_.tensors[static_cast<size_t>(operand)];
    const graph::Tensor& y = graph_.tensors[static_cast<size_t>(result)];
    if (operand == result || x.type != y.type || x.shape != y.shape) return false;
    const hw_profiles::RoleLayout& x_layout = hw_profiles::LayoutOf(profile_, UseOf(uses_, operand).role);
    const hw_profiles::RoleLayout& y_layout = hw_profiles::LayoutOf(profile_, UseOf(uses_, result).role);
    if (x_layout.channel_block != y_layout.channel_block) return false;
    if (x_layout.row_pitch_bytes != y_layout.row_pitch_bytes) return false;
    const size_t x_place = PlaceOf(operand);
    const size_t y_place = PlaceOf(result);
    return std::all_of(tiling_.classes.begin(), tiling_.classes.end(), [&](const graph::TileClass& tiles) {
      return tiles.needed[x_place] == tiles.needed[y_place];
    });
  }

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

  // Whether the result may lie where the operand does: with the operand it shares the steps of operator k alone, with whatever
  // else lies there none.
  bool MayFollow(int k, size_t parity, size_t operand, size_t result) const {
    if (operands_.contains(operand) || operands_.contains(result) || place_[result] != result) return false;
    std::vector<Lifespan> turns;
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      turns.push_back({pass.first[static_cast<size_t>(k)], pass.compute[static_cast<size_t>(k)] + 1});
    }
    for (size_t other = 0; other < place_.size(); ++other) {
      if (place_[other] != place_[operand]) continue;
      if (!ShareOnly(other == operand ? turns : std::vector<Lifespan>(), other, result)) return false;
    }
    return true;
  }

  // Whether the lives have nothing in common but steps of one of the turns.
  bool ShareOnly(const std::vector<Lifespan>& turns, size_t a, size_t b) const {
    const std::vector<problem::Buffer>& buffers = skeleton_.program.problem.buffers;
    for (const Lifespan& x : buffers[a].lifespans) {
      for (const Lifespan& y : buffers[b].lifespans) {
        const Lifespan shared = {std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
        const auto covers = [&shared](const Lifespan& turn) {
          return turn.lower <= shared.lower && shared.upper <= turn.upper;
        };
        if (shared.lower < shared.upper && std::none_of(turns.begin(), turns.end(), covers)) return false;
      }
    }
    return true;
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

  size_t PlaceOf(int tensor) const {
    return static_cast<size_t>(std::lower_bound(tiling_.tensors.begin(), tiling_.tensors.end(), tensor) -
                               tiling_.tensors.begin());
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const Skeleton& skeleton_;
  const SubgraphUses& uses_;
  const Timeline& timeline_;
  int subgraph_;
  const graph::TiledSubgraph& tiling_;
  std::span<const problem::Bytes> sizes_;
  std::vector<Relation>& relations_;
  std::vector<size_t> place_;  // by buffer: the first buffer that lay where it lies
  std::set<size_t> operands_;  // buffers whose place is taken
};

}  // namespace

void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile, const Skeleton& skeleton,
                int subgraph, const graph::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                std::vector<Relation>& relations) {
  Finder(graph, profile, skeleton, subgraph, tiling, sizes, relations).Find();
}

}  // namespace tessera::encoder
