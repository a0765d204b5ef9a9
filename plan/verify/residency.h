#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// Subgraphs that add up slice by slice: docs/program.md, "Split K".
namespace tessera::plan::verify {

// One operator and what it multiplies.
struct KSlices {
  int op = -1;
  int64_t k_extent = 1;
  int64_t granularity = 1;
  std::map<int, size_t> along;  // by tensor that is multiplied: the axis that runs over the depth
  int constant = -1;            // the one among them, if any,
  size_t channels = 0;          // its axis of output channels,
  size_t result_channels = 0;   // and the result's

  int64_t Count() const;
  int64_t DepthOf(int64_t slice) const;
};

// The depth of its slices, 0 where the subgraph's policy is another.
int64_t KExtentOfSlices(const Plan& plan, const Subgraph& subgraph);

// nullopt where the subgraph's policy is another, or where it cannot be that.
std::optional<KSlices> FindKSlices(const Plan& plan, const Subgraph& subgraph);

// Why a subgraph with that policy cannot have it, apart from how its operands are held; empty if it
// can.
std::string SplitKFault(const Plan& plan, const Subgraph& subgraph);

// What becomes of each tensor in each subgraph: docs/program.md, section 2.

// Who touches a tensor: indices of operators, ascending, each once. Several makers only of state.
struct Users {
  std::vector<int> makers;
  std::vector<int> readers;  // as input or as weight
};
std::vector<Users> FindUsers(const graph::Graph& network);

bool Contains(graph::Interval interval, int op);
bool AnyInside(const std::vector<int>& operators, graph::Interval interval);

base::TensorRole RoleOf(const graph::Tensor& tensor, const Users& users, graph::Interval interval);

// The role of what a buffer holds, seen from its subgraph; of a whole buffer from its maker's, or
// from the first without one. The buffer holds a tensor.
base::TensorRole RoleOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use);

// The role of a tensor where it is no feature, and its home then, as an index into the profile's
// memories: of several that the role has, the one that graph::Tensor::home says. What the plan
// keeps in the tile memory counts as if it were not kept.
base::TensorRole RoleAtHome(const graph::Tensor& tensor);
int HomeOf(const Plan& plan, int tensor);

// The memory that holds a tensor of this role between subgraphs, as an index into the profile's
// memories: its home, but the tile memory for boundary tensors that the plan keeps.
int MemoryOf(const Plan& plan, int tensor, base::TensorRole role);

enum class Residency : uint8_t {
  kInner,     // a tile buffer, nothing is moved
  kLoaded,    // a tile buffer that a link fills
  kStored,    // a tile buffer that a link empties
  kWhole,     // at home in the tile memory, or kept there: one buffer over program time
  kDirect,    // stays in its home; no buffer
  kResident,  // a constant loaded once for the subgraph
  kStreamed,  // loaded slice by slice for every tile: a constant with which each user computes channel by channel, or what is
              // multiplied with split K
};

// How one subgraph holds one tensor that its operators touch.
struct Held {
  Residency residency = Residency::kInner;
  base::TensorRole role = base::TensorRole::kFeature;
  int home = 0;       // MemoryOf
  bool made = false;  // by an operator of the subgraph
  bool read = false;
  std::string link;   // between home and tile memory; empty where nothing is moved
  std::string fault;  // why the profile does not allow this; empty where it does
};
Held ResidencyOf(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph,
                 int tensor);

// The engine that runs the operator on data like its first operand's, its result's where it has no
// operand; or nullptr.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op);

// The tensors that the operators of the interval touch, ascending.
std::vector<int> TensorsOf(const graph::Graph& network, graph::Interval interval);

// The slices in which a streamed constant of `op` arrives, and the output channels of one: ceil(O /
// g) and g.
struct Slicing {
  int64_t channels = 1;     // O
  int64_t granularity = 1;  // g
  int64_t slices = 1;
};
Slicing SlicingOf(const Plan& plan, const graph::Operator& op, int constant);

// What an axis of a shape of that rank is called (graph/graph.h, Shape); nullopt where the rank
// names none.
std::optional<base::Axis> AxisName(size_t rank, size_t axis);

}  // namespace tessera::plan::verify
