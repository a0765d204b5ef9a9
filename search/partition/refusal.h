#pragma once

#include "tessera/search/partition/partition.h"
#include "tessera/search/partition/path_search.h"

namespace tessera::search {

// Why PathSearch::FindBest found nothing, for the user: which operator has no room, where, how many bytes are missing; or which
// limit cannot be kept; or what was left undecided.
PartitionResult ExplainAbsence(const Planning& planning, const PathSearch& paths);

}  // namespace tessera::search
