#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/partition/partition.h"

// Single changes of network, profile or options under which there would be a plan.
namespace tessera::search {

enum class RemedyKind : uint8_t {
  kFloatsAs,  // floating-point tensors in another type
  kCapacity,  // more bytes in a memory
  kBanks,     // longer banks in the tile memory
  kPolicy,    // another entry of the profile's `tiling`
  kMode,      // a further mode of the tile memory, or more that one of its modes allows
  kHome,      // another home for a role
  kLimit,     // higher limits of the objective
  kEngine,    // an operator kind more on an engine
};
std::string_view NameOf(RemedyKind kind);  // "floats_as"

// What is known of it. The more there is to try, the less is.
enum class Evidence : uint8_t {
  kPlan,      // a plan was found with it, and checked
  kObstacle,  // what is in the way no longer is: operators that do not fit alone fit, a home holds its constants
  kBound,     // it is needed as far as bytes go; not tried
};
std::string_view NameOf(Evidence evidence);  // "plan"

struct Remedy {
  RemedyKind kind = RemedyKind::kCapacity;
  std::string what;     // "1189376 bytes in memory 'sram' instead of 1048576"
  std::string subject;  // what is changed: a memory, a metric, an option, a key of the profile
  std::string value;    // what it becomes: "1189376", "int8"
  Evidence evidence = Evidence::kBound;
};

// Tries changes that suit the obstacle of `refused`, which has no plan, the most promising first, and returns those that help. Each is tried
// on the operator in the way, then on the others that do not fit, then by a search for a plan that runs operator by operator, as long as
// neither `stop` nor a fixed amount of work comes first. Nothing where the obstacle is not known.
std::vector<Remedy> FindRemedies(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                 const PartitionOptions& options, const PartitionResult& refused,
                                 const base::Stop& stop);

}  // namespace tessera::search
