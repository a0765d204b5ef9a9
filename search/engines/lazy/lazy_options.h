#pragma once

#include <cstdint>

namespace tessera::search::engines::lazy {

// Every rule of the lazy engine can be switched off; none changes an answer, all change the time to
// it.
struct LazyOptions {
  uint64_t seed = 0;  // 0: heavier buffers first among equals; else shuffled by it

  bool edge_finding = true;
  int section_pair_cuts = 2;     // sections later in time that each is compared with; 0: none
  bool section_energy = true;    // while orders are decided...
  int energy_slack_percent = 5;  // ... in sections with at most this much slack
  bool bottom_left = false;      // buffers rest on others (resting.h), where offsets are not tied

  bool order_interchangeable = true;  // of buffers alike in everything the first lies below
  bool break_mirror = true;  // of one heavy pair the first lies below, where upside down is as good

  bool minimize_clauses = true;
  bool reduce_clauses = true;
  int restart_base = 300;    // conflicts; 0: never
  int orders_every = 3;      // one run between restarts in so many decides orders; 0: none does
  bool follow_hints = true;  // until the first restart

  // Either the capacity is assumed anew for each call, so that whatever is learned serves every
  // capacity; or it is a constant of the question, which leaves clauses shorter, but of use for
  // smaller capacities only.
  bool assume_capacity = false;
  bool keep_clauses = true;  // from question to question, where they still follow
};

}  // namespace tessera::search::engines::lazy
