// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

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
// takes more tiles, so that constants can be scheduled. See subgraph_forms.cc.
class SubgraphForms {
 public:
  // `table` and `constraints` must outlive the object.
  SubgraphForms(SubgraphTable& table, const constraints::PlanConstraints& constraints,
                const Sequences::Limits& limits)
      : table_(table),
        context_(table.Context()),
        constraints_(constraints),
        sequences_(table, limits) {}

  // FindWhole returns the best schedule of these subgraphs in `room` bytes in which all constants
  // that fit come as a whole; FindInSlices the best one in which some come in slices. Both return
  // nullopt if the subgraphs do not fit.
  std::optional<Scheduled> FindWhole(const Regrouped& groups, problem::Bytes room);
  std::optional<Scheduled> FindInSlices(const Regrouped& groups, problem::Bytes room);

  // Gives one subgraph after the other another form, cuts it or joins it to the next, and gives
  // constants other times. Keeps what lowers the score. `work`: the operators of all programs that
  // may be scheduled; those that are scheduled are taken from it.
  void Refine(Scheduled& best, size_t& work);

  // Returns the schedule of the same subgraphs in another room; nullopt if they do not fit.
  std::optional<Scheduled> InRoom(const Scheduled& scheduled, problem::Bytes room) const;

  // Returns Scheduled::without_room of the first schedule; 0 if there was none.
  int FirstWithoutRoom() const { return first_without_room_.value_or(0); }

 private:
  // A schedule that is being improved.
  struct Attempt {
    std::vector<plan::Subgraph> with;
    std::set<size_t> sliced;   // subgraphs for which slices were tried
    std::vector<size_t> late;  // subgraphs whose constants were late in the last schedule
    PrefetchSchedule::Slices slices = PrefetchSchedule::Slices::kAll;
  };

  bool MayReside(const plan::Subgraph& subgraph) const;
  bool Fits(const plan::Subgraph& subgraph, const std::vector<int>& kept,
            problem::Bytes room) const;
  bool FitsResident(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                    problem::Bytes room) const;
  std::optional<std::vector<FreeBytes>> FreeIn(const std::vector<plan::Subgraph>& subgraphs,
                                               const std::vector<int>& kept,
                                               problem::Bytes room) const;
  std::vector<plan::Subgraph> WithWhole(const Regrouped& groups, problem::Bytes room,
                                        std::vector<size_t>& too_large) const;
  std::optional<plan::Subgraph> InSlices(const plan::Subgraph& subgraph,
                                         const std::vector<int>& kept, problem::Bytes room) const;
  std::optional<plan::Subgraph> WithOtherConstants(const plan::Subgraph& subgraph,
                                                   const std::vector<int>& kept,
                                                   problem::Bytes room) const;
  std::optional<plan::Subgraph> InMoreTiles(const plan::Subgraph& subgraph,
                                            const std::vector<int>& kept, int64_t parts,
                                            hw_profiles::HaloStorage halo) const;
  std::vector<plan::Subgraph> OtherForms(const Scheduled& scheduled, size_t number) const;
  std::vector<Regrouped> OtherPartitions(const Scheduled& scheduled, size_t number) const;
  std::optional<Scheduled> Schedule(Regrouped groups, problem::Bytes room,
                                    PrefetchSchedule::Slices slices, bool improve) const;
  void ChangeSubgraphs(Scheduled& best, size_t& work);
  bool Try(Regrouped other, Scheduled& best, size_t& work) const;
  bool Slice(const std::vector<size_t>& numbers, size_t most, const Regrouped& groups,
             problem::Bytes room, Attempt& attempt) const;
  void Improve(const Regrouped& groups, problem::Bytes room, PrefetchSchedule& schedule,
               Attempt& attempt, std::optional<Scheduled>& best);

  SubgraphTable& table_;
  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  const Sequences sequences_;
  std::optional<int> first_without_room_;
};

}  // namespace tessera::search::partition::driver
