// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/engine_session.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "tessera/problem/structure.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/contraction.h"
#include "tessera/search/allocate/needed_addresses.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::allocate {

using problem::Buffer;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

std::optional<std::string> FindUnsupportedRelation(const Problem& problem,
                                                   DistanceSupport distances) {
  for (const Relation& relation : problem.relations) {
    const bool is_distance = relation.kind == RelationKind::kColocate;
    if (is_distance && distances == DistanceSupport::kColocate) continue;
    const auto name = [&]() -> const char* {
      switch (relation.kind) {
        case RelationKind::kColocate:
          return "colocate";
        case RelationKind::kAdjacent:
          return "adjacent";
        case RelationKind::kSameBank:
          return "same bank";
        case RelationKind::kDifferentBank:
          return "different bank";
        case RelationKind::kSeparate:
        case RelationKind::kExclusive:
          return nullptr;
      }
      return nullptr;
    }();
    if (name == nullptr) continue;
    return std::string("the relation '") + name + "' between " +
           problem.buffers[static_cast<size_t>(relation.first)].id + " and " +
           problem.buffers[static_cast<size_t>(relation.second)].id;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Bytes> SizesOf(const Problem& problem) {
  std::vector<Bytes> sizes;
  sizes.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) sizes.push_back(buffer.size);
  return sizes;
}

std::optional<std::string> FindUnsupported(const Problem& problem, BankSupport banks,
                                           DistanceSupport distances) {
  if (ReachesTooFar(problem)) return "addresses of 2^61 bytes and more";
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Memory& memory = problem.memories[m];
    if (!memory.modes.empty() && !problem::FindPermissiveMode(problem, static_cast<int>(m))) {
      return "the modes of memory '" + memory.name + "'";
    }
  }
  for (const Buffer& buffer : problem.buffers) {
    const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
    if (!buffer.accesses.empty() && problem::HasPorts(memory)) {
      return "the ports of memory '" + memory.name + "' that " + buffer.id + " uses";
    }
    if (banks == BankSupport::kNone && problem::BanksNarrow(problem, buffer)) {
      return "the banks in which " + buffer.id + " must lie";
    }
  }
  if (!problem.rules.empty()) return problem::Describe(problem.rules.front());
  return FindUnsupportedRelation(problem, distances);
}

using problem::Result;
using problem::Status;

void AppendReason(std::string& reasons, const std::string& reason) {
  if (!reasons.empty() && !reason.empty()) reasons += "; ";
  reasons += reason;
}

std::optional<base::Diagnostic> CheckAnswer(std::string_view engine, const Problem& problem,
                                            problem::Bytes capacity,
                                            const problem::Result& result) {
  base::Diagnostic fault;
  fault.message = "the engine '" + std::string(engine) + "' returned a wrong allocation";
  fault.hint = "this is a fault of the program, not of the input; please report it with the input";
  fault.found = "no allocation";
  if (!result.allocation) return fault;
  const auto violations = problem::Validate(problem, *result.allocation, capacity, 1);
  if (violations.empty()) return std::nullopt;
  fault.found = violations.front().message;
  return fault;
}

SizedSession::SizedSession(std::string_view engine, BankSupport banks,
                           const problem::Problem& problem, const problem::Ladder* ladder,
                           DistanceSupport distances)
    : engine_(engine), banks_(banks), distances_(distances), problem_(problem), ladder_(ladder) {}

Result SizedSession::Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) {
  Result result;
  if (OpenCandidate(candidate, stop, result)) Answer(capacity, budget, stop, result);
  return result;
}

bool SizedSession::OpenCandidate(size_t candidate, const base::Stop& stop, Result& result) {
  result.engine = engine_;
  if (const auto unsupported = FindUnsupported(problem_, banks_, distances_)) {
    result.status = Status::kUnsupported;
    result.reason = "the " + engine_ + " engine does not support " + *unsupported;
    return false;
  }
  if (ladder_ != nullptr && candidate >= ladder_->candidates.size()) {
    result.status = Status::kInvalid;
    result.reason = "there is no candidate " + std::to_string(candidate);
    return false;
  }
  if (stop.Requested()) {
    result.reason = "the " + engine_ + " engine was stopped before it began";
    return false;
  }
  if (sized_ != nullptr && candidate == candidate_) return true;
  candidate_ = candidate;
  if (ladder_ != nullptr) at_candidate_ = AtCandidate(problem_, ladder_->candidates[candidate]);
  sized_ = at_candidate_ ? &*at_candidate_ : &problem_;
  Reopen();
  return true;
}

using problem::Ladder;
using problem::Problem;
using problem::Result;

void PerMemorySession::Answer(problem::Bytes capacity, const base::Budget& budget,
                              const base::Stop& stop, problem::Result& result) {
  result.status = problem::Status::kFeasible;
  problem::Allocation& allocation = result.allocation.emplace();
  for (const Buffer& buffer : Sized().buffers)
    allocation.offsets.push_back(buffer.offset.value_or(0));
  allocation.modes = problem::ConstantModes(Sized());
  for (size_t memory = 0; memory < Sized().memories.size(); ++memory) {
    const problem::Bytes limit = memory == 0 ? capacity : Sized().memories[memory].capacity;
    if (SolveMemory(memory, limit, budget, stop, result)) continue;
    result.allocation.reset();
    return;
  }
  result.peak = PeakOf(Sized(), allocation);
}

namespace {

class ContractedSession final : public problem::Session {
 public:
  ContractedSession(std::string_view engine, Contraction contraction, bool has_ladder,
                    const SessionOpener& open)
      : engine_(engine),
        contraction_(std::move(contraction)),
        inner_(open(contraction_.problem, has_ladder ? &contraction_.ladder : nullptr)) {}

  Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
               const base::Stop& stop) override {
    if (!contraction_.contradiction.empty()) {
      Result result;
      result.engine = engine_;
      result.status = problem::Status::kInfeasible;
      result.reason = contraction_.contradiction;
      return result;
    }
    Result result = inner_->Solve(candidate, capacity, budget, stop);
    if (result.allocation) result.allocation = Expand(contraction_, *result.allocation);
    return result;
  }

  std::string Describe() const override { return inner_->Describe(); }

 private:
  std::string engine_;
  Contraction contraction_;  // before inner_, which refers to it
  std::unique_ptr<problem::Session> inner_;
};

}  // namespace

std::unique_ptr<problem::Session> OpenContracted(std::string_view engine, const Problem& problem,
                                                 const Ladder* ladder, const SessionOpener& open) {
  auto contraction = ContractColocated(problem, ladder);
  if (!contraction) return open(problem, ladder);
  return std::make_unique<ContractedSession>(engine, *std::move(contraction), ladder != nullptr,
                                             open);
}

}  // namespace tessera::search::allocate
