// SPDX-License-Identifier: Apache-2.0

#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/bench/backtrack_samples.h"
#include "tessera/search/engines/guided/learned_backtracking.h"

// Trains the model of learned_backtracking.h with XGBoost, and writes it as C++ data. The same
// version of XGBoost and the same numbers give the same file.
namespace tessera::bench {
namespace {

using search::engines::guided::kFeatures;
using search::engines::guided::TreeNode;

constexpr int kStoredSamples = 40;  // for the test of the evaluator

constexpr std::pair<const char*, const char*> kParameters[] = {{"objective", "reg:squarederror"},
                                                               {"base_score", "0"},
                                                               {"tree_method", "hist"},
                                                               {"max_depth", "4"},
                                                               {"eta", "0.05"},
                                                               {"min_child_weight", "50"},
                                                               {"nthread", "1"},
                                                               {"verbosity", "0"},
                                                               {"seed", "0"}};
constexpr int kTrees = 100;

void Check(int status) {
  if (status != 0) throw std::runtime_error(XGBGetLastError());
}

struct MatrixCloser {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct BoosterCloser {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, MatrixCloser>;
using Booster = std::unique_ptr<void, BoosterCloser>;

Matrix MakeMatrix(std::span<const BacktrackSample> samples) {
  std::vector<float> rows, scores;
  for (const BacktrackSample& sample : samples) {
    rows.insert(rows.end(), sample.features.begin(), sample.features.end());
    scores.push_back(sample.score);
  }
  DMatrixHandle handle = nullptr;
  Check(XGDMatrixCreateFromMat(rows.data(), samples.size(), kFeatures, std::nanf(""), &handle));
  Matrix matrix(handle);
  Check(XGDMatrixSetFloatInfo(handle, "label", scores.data(), scores.size()));
  return matrix;
}

Booster Train(const Matrix& matrix) {
  BoosterHandle handle = nullptr;
  DMatrixHandle data = matrix.get();
  Check(XGBoosterCreate(&data, 1, &handle));
  Booster booster(handle);
  for (const auto& [name, value] : kParameters) Check(XGBoosterSetParam(handle, name, value));
  for (int round = 0; round < kTrees; ++round)
    Check(XGBoosterUpdateOneIter(handle, round, matrix.get()));
  return booster;
}

std::vector<float> Predict(const Booster& booster, const Matrix& matrix) {
  bst_ulong count = 0;
  const float* scores = nullptr;
  Check(XGBoosterPredict(booster.get(), matrix.get(), 0, 0, 0, &count, &scores));
  return {scores, scores + count};
}

// Breadth first, so that siblings are neighbours and follow their parent.
void AppendTree(const nlohmann::json& tree, std::vector<TreeNode>& nodes) {
  std::vector<size_t> order = {0};
  const size_t first = nodes.size();
  for (size_t at = 0; at < order.size(); ++at) {
    const size_t node = order[at];
    const int left = tree["left_children"][node];
    const float value = tree["split_conditions"][node];
    if (left < 0) {
      nodes.push_back({-1, 0, value});
      continue;
    }
    const int feature = tree["split_indices"][node];
    nodes.push_back(
        {static_cast<int16_t>(feature), static_cast<uint16_t>(first + order.size()), value});
    order.push_back(static_cast<size_t>(left));
    order.push_back(tree["right_children"][node]);
  }
}

void WriteModel(const Booster& booster, const std::filesystem::path& path) {
  bst_ulong length = 0;
  const char* text = nullptr;
  Check(XGBoosterSaveModelToBuffer(booster.get(), R"({"format":"json"})", &length, &text));
  const auto model = nlohmann::json::parse(text, text + length);
  std::vector<TreeNode> nodes;
  std::vector<size_t> roots;
  for (const auto& tree : model["learner"]["gradient_booster"]["model"]["trees"]) {
    roots.push_back(nodes.size());
    AppendTree(tree, nodes);
  }
  const std::string base = model["learner"]["learner_model_param"]["base_score"];
  std::ofstream file(path);
  file << "// SPDX-License-Identifier: Apache-2.0\n\n#pragma once\n\n#include <cstdint>\n\n"
       << "#include \"tessera/search/engines/guided/learned_backtracking.h\"\n\n"
       << "// The model of backtracking. Made by bench/train_backtracking.\n"
       << "namespace tessera::search::engines::guided {\n\n// clang-format off\n"
       << "inline constexpr float kModelBase = " << std::stof(base) << ";\n";
  const auto write = [&](std::string_view head, size_t count, const auto& item) {
    file << head << " = {";
    for (size_t i = 0; i < count; ++i) {
      if (i % 8 == 0) file << '\n';
      item(i);
    }
    file << "};\n";
  };
  write("inline constexpr uint16_t kModelRoots[]", roots.size(),
        [&](size_t i) { file << roots[i] << ','; });
  write("inline constexpr TreeNode kModelNodes[]", nodes.size(), [&](size_t i) {
    std::array<char, 64> cell;
    std::snprintf(cell.data(), cell.size(), "{%d,%d,%.9g},", nodes[i].feature, nodes[i].left,
                  static_cast<double>(nodes[i].value));
    file << cell.data();
  });
  file << "// clang-format on\n\n}  // namespace tessera::search::engines::guided\n";
}

// Rows of features, each with the prediction of XGBoost, spread over the samples.
void WriteSamples(std::span<const BacktrackSample> samples, std::span<const float> predictions,
                  const std::filesystem::path& path) {
  std::ofstream file(path);
  file << "# Made by bench/train_backtracking: features, and the score by XGBoost.\n";
  file.precision(9);
  const size_t apart = std::max<size_t>(samples.size() / kStoredSamples, 1);
  for (size_t at = 0; at < samples.size(); at += apart) {
    for (const float feature : samples[at].features) file << feature << ' ';
    file << predictions[at] << '\n';
  }
}

// The standard deviation of the scores, and the root of the mean squared error.
void PrintFit(std::string_view name, std::span<const BacktrackSample> samples,
              std::span<const float> predictions) {
  double sum = 0, squares = 0, errors = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double score = samples[i].score;
    sum += score;
    squares += score * score;
    errors += (score - predictions[i]) * (score - predictions[i]);
  }
  const auto count = static_cast<double>(samples.size());
  std::printf("%-10s %8zu samples: mean score %.2f, deviation %.2f, error of the model %.2f\n",
              std::string(name).c_str(), samples.size(), sum / count,
              std::sqrt(squares / count - sum * sum / count / count), std::sqrt(errors / count));
}

void Run(uint64_t seeds, const std::filesystem::path& folder) {
  const auto samples = CollectBacktrackSamples(1, seeds);
  const auto unseen = CollectBacktrackSamples(seeds + 1, std::max<uint64_t>(seeds / 8, 1));
  const Matrix matrix = MakeMatrix(samples);
  const Booster booster = Train(matrix);
  const Matrix other = MakeMatrix(unseen);
  const std::vector<float> predictions = Predict(booster, other);
  PrintFit("training", samples, Predict(booster, matrix));
  PrintFit("unseen", unseen, predictions);
  WriteModel(booster, folder / "backtracking_model.h");
  WriteSamples(unseen, predictions, folder / "backtracking_samples.txt");
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  const long long seeds = argc == 3 ? std::atoll(argv[1]) : 0;
  if (seeds < 1 || !std::filesystem::is_directory(argv[2])) {
    std::fputs(
        "usage: train_backtracking SEEDS FOLDER\n"
        "Writes backtracking_model.h, for search/engines/guided, and backtracking_samples.txt,\n"
        "for tests/search/engines/guided, to the folder.\n",
        stderr);
    return 2;
  }
  try {
    tessera::bench::Run(static_cast<uint64_t>(seeds), argv[2]);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "train_backtracking: %s\n", fault.what());
    return 1;
  }
  return 0;
}
