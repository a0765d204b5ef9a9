#pragma once

#include "tessera/search/partition/options_and_result.h"
#include "tessera/search/partition/path_search.h"

namespace tessera::search {

// What no plan can stay below, whatever its subgraphs and tiles.
struct Floors {
  plan::Metrics costs;
  int tightest = 0;  // the operator behind costs.peak_bytes
};

// Whether these floors alone prove that there is no plan.
bool IsHopeless(const Planning& planning, const Floors& floors);

// How much is found out about what is in the way.
enum class Telling : uint8_t { kVerdict, kObstacle };

// Why PathSearch::FindBest found nothing, for the user: which operator has no room, where, how many bytes are missing; or which
// limit cannot be kept; or what was left undecided. kInfeasible only where neither the cap on operators in a subgraph nor tile
// shapes left out had a part in the proof. With kObstacle operators that were not seen to fit alone are tried (alone.h).
PartitionResult ExplainAbsence(const Planning& planning, const PathSearch& paths, const Floors& floors,
                               Telling telling = Telling::kObstacle);

}  // namespace tessera::search
