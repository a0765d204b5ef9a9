#include "tessera/cli/refutation_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "tessera/cli/certificates.h"
#include "tessera/cli/files.h"
#include "tessera/plan/refutation/document.h"
#include "tessera/problem/json.h"
#include "tessera/problem/proof/certificate.h"

namespace tessera::cli {
namespace {

namespace proof = problem::proof;

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr std::string_view kRefutationName = "refutation.json";

// The folder of the proof with that number, from 1.
std::string PlacementIn(const std::string& folder, size_t number) {
  return PathIn(folder, fmt::format("placement-{}", number));
}

base::Expected<void> MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  base::Diagnostic fault;
  fault.file = folder;
  fault.message = "cannot make this folder: " + error.message();
  return base::Unexpected(std::move(fault));
}

}  // namespace

void AddRefutation(Destinations& files, const std::string& folder) {
  files.WriteInto("--certificate", folder, {kRefutationName});
}

base::Expected<void> WriteRefutationIn(const std::string& folder, const plan::Plan& question,
                                       const plan::refutation::Refutation& refutation) {
  std::vector<Output> files;
  for (size_t i = 0; i < refutation.proofs.size(); ++i) {
    const plan::refutation::PlacementProof& placement = refutation.proofs[i];
    const std::string place = PlacementIn(folder, i + 1);
    files.push_back({PathIn(place, proof::kProblemName), problem::WriteProblem(placement.problem)});
    files.push_back({PathIn(place, proof::kProofName), placement.text});
    files.push_back(
        {PathIn(place, proof::kManifestName), proof::WriteManifest({placement.capacity, {}, "plan"})});
  }
  files.push_back({PathIn(folder, kRefutationName), plan::refutation::WriteRefutation(question, refutation)});
  size_t bytes = 0;
  for (const Output& file : files) bytes += file.content.size();
  if (bytes > kMostBytes) {
    base::Diagnostic fault;
    fault.file = folder;
    fault.message = fmt::format("the certificate has {} bytes", bytes);
    fault.expected = fmt::format("{} at most", kMostBytes);
    return base::Unexpected(std::move(fault));
  }
  if (auto made = MakeFolder(folder); !made) return made;
  for (size_t i = 0; i < refutation.proofs.size(); ++i) {
    if (auto made = MakeFolder(PlacementIn(folder, i + 1)); !made) return made;
  }
  return WriteTogether(files);
}

bool HoldsRefutation(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathIn(folder, kRefutationName), error);
}

base::Expected<plan::refutation::Judgement> CheckRefutationIn(const std::string& folder) {
  const std::string path = PathIn(folder, kRefutationName);
  const base::Expected<std::string> text = ReadInput(path);
  if (!text) return base::Unexpected(text.error());
  const base::Expected<plan::refutation::Document> document = plan::refutation::ReadRefutation(*text, path);
  if (!document) return base::Unexpected(document.error());
  std::map<std::string, std::string> proofs;  // by Problem
  std::error_code error;
  for (size_t number = 1; std::filesystem::exists(PlacementIn(folder, number), error); ++number) {
    const std::string place = PlacementIn(folder, number);
    const base::Expected<std::string> about = ReadInput(PathIn(place, proof::kProblemName));
    if (!about) return base::Unexpected(about.error());
    base::Expected<std::string> why = ReadInput(PathIn(place, proof::kProofName));
    if (!why) return base::Unexpected(why.error());
    const auto problem = problem::ReadProblem(*about, PathIn(place, proof::kProblemName));
    if (!problem) return base::Unexpected(problem.error());
    proofs.emplace(problem::WriteProblem(problem->problem), *std::move(why));
  }
  const auto find_proof = [&proofs](const problem::Problem& problem,
                                    problem::Bytes) -> std::optional<std::string> {
    const auto known = proofs.find(problem::WriteProblem(problem));
    return known == proofs.end() ? std::nullopt : std::optional(known->second);
  };
  plan::refutation::Judgement judgement =
      plan::refutation::Judge(document->question, find_proof, base::Stop());
  if (!judgement.refutation) return judgement;
  if (std::string difference = FindDifference(*document, *judgement.refutation); !difference.empty())
    return plan::refutation::Judgement{std::nullopt, std::move(difference)};
  return judgement;
}

}  // namespace tessera::cli
