// SPDX-License-Identifier: Apache-2.0

#include <tessera/tessera.h>

int main(int, char** argv) {
  const auto network = tessera::Network::Load(argv[1]);
  const auto profile = tessera::Profile::Load(argv[2]);
  if (!network || !profile) return 1;
  const auto answer = tessera::MakePlan(*network, *profile);
  return answer && answer->plan && answer->plan->Save(argv[3]) ? 0 : 2;
}
