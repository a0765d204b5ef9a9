// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>

#include <optional>
#include <vector>

#include "tessera/api/content.h"
#include "tessera/api/parts/plan_reasons.h"
#include "tessera/search/partition/partition.h"

// Private: what the calls that search for plans share.
namespace tessera::api {

// The search that the options of a call state, with all that it points to.
struct PlanCall {
  // `kept` is as for SearchPlan. The arguments must outlive this object.
  PlanCall(const Network& network, const Profile& profile, const PlanOptions& options,
           const KeptEngines* kept);

  // Translates the options. Returns the first one that is wrong.
  std::optional<Error> Prepare();

  // The notes of the import, which follow those of the plan.
  std::vector<std::string> ImportNotes() const;

  // Adds the cause of a result without a plan, changes that would help, and a proof, as far as the
  // options request them.
  std::optional<Error> Justify(const search::partition::answer::PartitionResult& result,
                               PlanAnswer& answer) const;

  const graph::Graph& network;
  const hw_profiles::Profile& profile;
  const PlanOptions& given;
  const Network::Content& source;
  CallStop stop;
  std::optional<KeptEngines> own;
  const KeptEngines* kept;
  search::partition::answer::PartitionOptions options;
};

}  // namespace tessera::api
