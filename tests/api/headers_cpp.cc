// SPDX-License-Identifier: Apache-2.0

#include <tessera/c/tessera.h>
#include <tessera/tessera.h>

// The headers alone, as compilers and standards of users read them.
bool PlacesAnything(const std::vector<tessera::Buffer>& buffers) {
  const tessera::Result<tessera::Problem> problem = tessera::Problem::Make(buffers);
  const tessera::Result<tessera::AllocateAnswer> answer = tessera::Allocate(*problem);
  return answer && answer->allocation && !answer->allocation->Offsets().empty();
}

bool MakesAnything() {
  const tessera::Result<tessera::Network> network = tessera::Network::Make(
      {"one",
       "int8",
       {{"x", {1, 3, 8, 8}}},
       {},
       {{"conv", "c", {"x"}, {{"out_channels", 8U}, {"kernel", {3, 3}}, {"pads", "same"}}}}});
  return network.HasValue();
}

bool PlansAnything(const tessera::Network& network, const tessera::Profile& profile) {
  const tessera::Result<tessera::PlanAnswer> answer = tessera::MakePlan(network, profile);
  return answer && answer->plan && answer->plan->Save("plan.json");
}
