// SPDX-License-Identifier: Apache-2.0

#include <tessera/c/tessera.h>

int main(int argc, char** argv) {
  tessera_network* network;
  tessera_profile* profile;
  tessera_answer* answer;
  if (argc != 4 || tessera_network_load(argv[1], NULL, &network, NULL)) return 1;
  if (tessera_profile_load(argv[2], &profile, NULL)) return 1;
  if (tessera_make_plan(network, profile, NULL, &answer, NULL)) return 2;
  return tessera_plan_save(tessera_answer_plan(answer), argv[3], NULL);
}
