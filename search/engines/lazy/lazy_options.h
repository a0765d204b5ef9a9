#pragma once

#include <cstdint>

namespace tessera::search::engines::lazy {

// Every rule of the lazy engine can be switched off. None changes an answer; all change the time.
struct LazyOptions {
  uint64_t seed = 0;  // 0: heavier buffers first among equals; else shuffled by the seed

  bool edge_finding = true;
  int section_pair_cuts = 2;     // later sections that each section is compared with; 0: none
  bool section_energy = true;    // used while orders are decided...
  int energy_slack_percent = 5;  // ... in sections with at most this much slack
  // every buffer rests on another (pair_rules.h), if offsets are not tied
  bool bottom_left = false;

  bool order_interchangeable = true;  // the first of interchangeable buffers lies below the next
  // in one heavy pair the first lies below, if the mirrored solution is also valid
  bool break_mirror = true;

  bool minimize_clauses = true;
  bool reduce_clauses = true;
  int restart_base = 300;    // conflicts; 0: never
  int orders_every = 3;      // one of this many runs between restarts decides orders; 0: none does
  bool follow_hints = true;  // until the first restart

  // If true, the capacity is assumed anew for each call, so that learned clauses hold for every
  // capacity. If false, it is a constant of the query: learned clauses are shorter, but hold for
  // smaller capacities only.
  bool assume_capacity = false;
  bool keep_clauses = true;  // from query to query, if they still hold
};

}  // namespace tessera::search::engines::lazy
