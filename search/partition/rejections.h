#pragma once

#include <cstddef>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/path_search.h"

// What stood beside the choices of a plan, and why it was passed over. It is told from what the search knows when it ends, and from the
// bounds of some tiles without room (PathSearch::PoseRefused); no engine is asked, so of intervals that nothing ever drew attention to only
// a bound is known.
namespace tessera::search {

inline constexpr size_t kMostRejected = 3;  // of each kind

// Of subgraph `s` of the selection: first tiles that would have been better and have no room, then the next best, then the subgraph
// joined with the one behind it; a few of each.
std::vector<plan::Rejection> RejectionsOf(const Planning& planning, const PathSearch& paths,
                                          const Selection& selection, size_t s);

}  // namespace tessera::search
