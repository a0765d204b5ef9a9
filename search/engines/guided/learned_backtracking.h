// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/search/engines/guided/backtracking.h"

namespace tessera::search::engines::guided {

// A forest of regression trees made by gradient boosting (Friedman 2001; XGBoost: Chen and Guestrin
// 2016). The score of a row of features is the sum of one leaf of each tree.
//
//     node   feature   left   value
//        0         3      1     7.5      row[3] < 7.5: node 1, else node 2
//        1        -1            0.25     a leaf: adds 0.25
//        2         0      3     0.1      row[0] < 0.1: node 3, else node 4
//
// Cost of a score: O(trees * depth). Scores are those of XGBoost up to the order of the sum.
struct TreeNode {
  int16_t feature = -1;  // -1: a leaf
  uint16_t left = 0;     // the right child follows it
  float value = 0;       // the score of the leaf; or the row goes left if its feature is below
};

struct BoostedTrees {
  std::span<const TreeNode> nodes;
  std::span<const uint16_t> roots;
  float base = 0;  // added to each score
};

// Returns whether every walk ends in a leaf and reads only features below `features`. Children must
// come after their parent, so that no walk is cyclic.
constexpr bool IsWellFormed(const BoostedTrees& trees, size_t features) {
  for (const uint16_t root : trees.roots) {
    if (root >= trees.nodes.size()) return false;
  }
  for (size_t at = 0; at < trees.nodes.size(); ++at) {
    const TreeNode& node = trees.nodes[at];
    if (node.feature < -1 || node.feature >= static_cast<int>(features)) return false;
    const bool ascends = node.left > at && node.left + size_t{1} < trees.nodes.size();
    if (node.feature >= 0 && !ascends) return false;
  }
  return true;
}

// Returns the score of a row of features. The trees must be well formed for their number.
constexpr float Score(const BoostedTrees& trees, std::span<const float> features) {
  float score = trees.base;
  for (const uint16_t root : trees.roots) {
    const TreeNode* node = &trees.nodes[root];
    while (node->feature >= 0) {
      const bool left = features[static_cast<size_t>(node->feature)] < node->value;
      node = &trees.nodes[node->left + (left ? size_t{0} : size_t{1})];
    }
    score += node->value;
  }
  return score;
}

// Returns the compiled-in model, made by bench/train_backtracking. It scores a target by its
// features.
BoostedTrees BacktrackingModel();

// Returns the policy of the model. It picks the target of the highest score, weighted by depth so
// that a return far up needs a higher score. Below a threshold the default policy decides
// (TelaMalloc: Maas et al. 2023, section 6.5). Cost: one score for each target.
Backtracking LearnedBacktracking();

}  // namespace tessera::search::engines::guided
