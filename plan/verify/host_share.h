// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"

// The operators of a network that run on the host, with the reasons.
namespace tessera::plan::verify {

struct HostedOperator {
  int op = -1;
  std::string reason;
};

struct HostShare {
  std::vector<HostedOperator> operators;
  int64_t macs = 0;      // of these, as far as they are known
  int64_t all_macs = 0;  // of the network, as far as they are known

  double Percent() const;  // of the MACs
};
HostShare HostShareOf(const Plan& plan);

// The share in words, with each operator and its reason; nullopt if the host runs nothing.
std::optional<std::string> NoteOnHost(const Plan& plan);

}  // namespace tessera::plan::verify
