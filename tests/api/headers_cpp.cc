#include <tessera/c/tessera.h>
#include <tessera/tessera.h>

// The headers alone, as compilers and standards of users read them.
bool PlansAnything(const tessera::Network& network, const tessera::Profile& profile) {
  const tessera::Result<tessera::PlanAnswer> answer = tessera::MakePlan(network, profile);
  return answer && answer->plan && answer->plan->Save("plan.json");
}
