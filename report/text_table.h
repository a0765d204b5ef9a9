// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

namespace tessera::report {

// A table for terminals: columns as wide as their widest cell, numbers right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}

  // A row has as many cells as the head. Names from files may be used unchanged.
  void Add(std::vector<std::string> row);

  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// 361984 -> "361 984".
std::string Grouped(int64_t number);

// 361983.7 -> "361 984".
std::string Rounded(double number);

// Returns the value of a metric: a whole number, or a rate with four figures.
std::string Figure(const plan::Metric& metric, double value);

// Returns "conv1..conv3", or the id of the one operator.
std::string NameOfInterval(const graph::Graph& network, graph::Interval interval);

// {1, 32, 14, 112} -> "1x32x14x112".
std::string ShapeText(std::span<const int64_t> shape);

// "resident, in place, halo rolling_buffer"; "split_k 64".
std::string PolicyText(hw_profiles::WeightPolicy weights, bool in_place,
                       hw_profiles::HaloStorage halo, int64_t k_extent, bool serialized);
// As above, for a subgraph of a plan: "resident, prefetched".
std::string PolicyText(const plan::Subgraph& subgraph);

}  // namespace tessera::report
