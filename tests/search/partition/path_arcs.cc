// SPDX-License-Identifier: Apache-2.0

#include "path_arcs.h"

namespace tessera::search {

using partition::paths::Arc;

namespace {

void Continue(int at, int last, std::span<const Arc> arcs, std::vector<size_t>& path,
              const std::function<void(const std::vector<size_t>&)>& visit) {
  if (at == last) return visit(path);
  for (size_t i = 0; i < arcs.size(); ++i) {
    if (arcs[i].begin != at) continue;
    path.push_back(i);
    Continue(arcs[i].end, last, arcs, path, visit);
    path.pop_back();
  }
}

}  // namespace

cost::Scale ScaleOf(const plan::Objective& objective) {
  plan::Metrics ones;
  ones.latency_cycles = 1;
  ones.energy_pj = 1;
  ones.off_chip_bytes = 1;
  ones.peak_bytes = 1;
  return *cost::Scale::Make(objective, ones);
}

Arc ArcOf(int begin, int end, size_t choice, double score, double peak) {
  Arc arc{.begin = begin, .end = end, .choice = choice, .cost = {}};
  arc.cost.score = score;
  arc.cost.maxima = {peak};
  return arc;
}

void ForEachPath(int last, std::span<const Arc> arcs,
                 const std::function<void(const std::vector<size_t>&)>& visit) {
  std::vector<size_t> path;
  Continue(0, last, arcs, path, visit);
}

}  // namespace tessera::search
