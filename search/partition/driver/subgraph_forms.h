// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"
#include "tessera/search/partition/driver/regrouping.h"

namespace tessera::search::partition::driver {

// Subgraphs with the times of their constants.
struct Scheduled {
  std::vector<plan::Subgraph> subgraphs;
  std::vector<int> kept;    // boundary tensors on chip
  double score = 0;         // without peaks
  int without_room = 0;     // subgraphs of which no part arrives ahead, for lack of room
  problem::Bytes room = 0;  // of the tile memory, that the schedule may use
  PrefetchSchedule::Slices slices = PrefetchSchedule::Slices::kAll;
};

// Decides for each subgraph whether its constants come as a whole or in slices, and whether it
// takes more tiles, so that constants can be scheduled. See subgraph_forms.cc. Returned diagnostics
// are errors of the program.
class SubgraphForms {
 public:
  // `context` and `constraints` must outlive the object. Schedules with at least this score,
  // without peaks, are of no use.
  SubgraphForms(const choices::SearchContext& context,
                const constraints::PlanConstraints& constraints, double score)
      : context_(context), constraints_(constraints), score_(score) {}

  // Returns the best schedule of these subgraphs in `room` bytes; nullopt if there is none with a
  // lower score. With `may_slice`, constants may come in slices too.
  base::Expected<std::optional<Scheduled>> Find(const Regrouped& groups, problem::Bytes room,
                                                bool may_slice);

  // Gives one subgraph after the other another form, and keeps what lowers the score. The work of
  // all calls together is limited.
  std::optional<base::Diagnostic> Refine(Scheduled& best);

  // Returns Scheduled::without_room of the first schedule; 0 if there was none.
  int FirstWithoutRoom() const { return first_without_room_.value_or(0); }

 private:
  // One attempt with constants in slices.
  struct Attempt {
    std::vector<size_t> sliced;  // from the beginning
    int rounds = 1;              // after each of them, more subgraphs whose constants are late
    size_t more = 0;             // at most so many in each round
    PrefetchSchedule::Slices slices = PrefetchSchedule::Slices::kAll;
  };

  bool MayReside(const plan::Subgraph& subgraph) const;
  bool FitsResident(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                    problem::Bytes room) const;
  bool Fits(const std::vector<FreeBytes>& free, problem::Bytes room) const;
  base::Expected<std::vector<FreeBytes>> FreeIn(const std::vector<plan::Subgraph>& subgraphs,
                                                const std::vector<int>& kept,
                                                problem::Bytes room) const;
  std::optional<plan::Subgraph> InSlices(const plan::Subgraph& subgraph,
                                         const std::vector<int>& kept, problem::Bytes room) const;
  std::optional<plan::Subgraph> WithOtherConstants(const plan::Subgraph& subgraph,
                                                   const std::vector<int>& kept,
                                                   problem::Bytes room) const;
  std::optional<plan::Subgraph> InMoreTiles(const plan::Subgraph& subgraph,
                                            const std::vector<int>& kept, int64_t parts,
                                            hw_profiles::HaloStorage halo) const;
  std::vector<plan::Subgraph> OtherForms(const Scheduled& scheduled, size_t number,
                                         problem::Bytes free) const;
  bool Slice(const std::vector<size_t>& late, size_t most, const Regrouped& groups,
             problem::Bytes room, std::set<size_t>& sliced,
             std::vector<plan::Subgraph>& with) const;
  std::optional<base::Diagnostic> Improve(const Regrouped& groups, problem::Bytes room,
                                          PrefetchSchedule::Slices slices,
                                          PrefetchSchedule& schedule,
                                          std::vector<plan::Subgraph>& with,
                                          std::vector<size_t>& late,
                                          std::optional<Scheduled>& best);
  std::optional<base::Diagnostic> TryInSlices(const Regrouped& groups, problem::Bytes room,
                                              const Attempt& attempt, PrefetchSchedule& schedule,
                                              std::vector<plan::Subgraph> with,
                                              std::optional<Scheduled>& best);

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  const double score_;
  std::optional<int> first_without_room_;
  size_t refined_ = 0;  // operators, of all programs of refined schedules
};

}  // namespace tessera::search::partition::driver
