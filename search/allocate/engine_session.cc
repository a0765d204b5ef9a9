#include "tessera/search/allocate/engine_session.h"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/problem/validator.h"
#include "tessera/search/allocate/contraction.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search::allocate {

using problem::Access;
using problem::Bank;
using problem::BankMode;
using problem::Buffer;
using problem::Memory;
using problem::Mode;
using problem::Permission;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Span;

namespace {

bool Allows(const BankMode& bank, const Access& access) {
  return std::any_of(bank.allowed.begin(), bank.allowed.end(), [&](const Permission& permission) {
    return permission.kind == access.kind &&
           (permission.engine.empty() || permission.engine == access.engine);
  });
}

bool AllowsAll(const Mode& mode, const Problem& problem, int memory) {
  return std::all_of(mode.banks.begin(), mode.banks.end(), [&](const BankMode& bank) {
    return !bank.off &&
           std::all_of(problem.buffers.begin(), problem.buffers.end(), [&](const Buffer& buffer) {
             return buffer.memory != memory ||
                    std::all_of(buffer.accesses.begin(), buffer.accesses.end(),
                                [&](const Access& access) { return Allows(bank, access); });
           });
  });
}

std::optional<std::string> FindUnsupportedRelation(const Problem& problem) {
  for (const Relation& relation : problem.relations) {
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

bool HasPorts(const Memory& memory) {
  return std::any_of(memory.banks.begin(), memory.banks.end(), [](const Bank& bank) {
    return bank.ports.total || bank.ports.reads || bank.ports.writes;
  });
}

bool BanksNarrow(const Memory& memory, const Buffer& buffer) {
  if (memory.banks.empty()) return false;
  const bool all =
      buffer.allowed_banks.empty() || buffer.allowed_banks.size() == memory.banks.size();
  return buffer.span != Span::kAny || !all;
}

std::optional<int> FindPermissiveMode(const Problem& problem, int memory) {
  const std::vector<Mode>& modes = problem.memories[static_cast<size_t>(memory)].modes;
  for (size_t mode = 0; mode < modes.size(); ++mode) {
    if (AllowsAll(modes[mode], problem, memory)) return static_cast<int>(mode);
  }
  return std::nullopt;
}

std::vector<Bytes> SizesOf(const Problem& problem) {
  std::vector<Bytes> sizes;
  sizes.reserve(problem.buffers.size());
  for (const Buffer& buffer : problem.buffers) sizes.push_back(buffer.size);
  return sizes;
}

bool ReachesTooFar(const Problem& problem) { return ReachesTooFar(problem, SizesOf(problem)); }

bool ReachesTooFar(const Problem& problem, std::span<const Bytes> sizes) {
  Bytes total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > kNoPosition || problem.buffers[i].offset.value_or(0) > kNoPosition - sizes[i])
      return true;
    total += sizes[i];
    if (total > kNoPosition) return true;
  }
  return std::any_of(problem.memories.begin(), problem.memories.end(), [](const Memory& memory) {
    return std::any_of(
        memory.reserved.begin(), memory.reserved.end(), [&](const problem::Reserved& reserved) {
          return reserved.range.end > kNoPosition && reserved.range.end < memory.capacity;
        });
  });
}

std::vector<problem::ModeSchedule> ConstantModes(const Problem& problem) {
  const problem::Lifespan horizon = problem::Horizon(problem);
  std::vector<problem::ModeSchedule> schedules(problem.memories.size());
  for (size_t m = 0; m < schedules.size(); ++m) {
    if (problem.memories[m].modes.empty()) continue;
    const int mode = FindPermissiveMode(problem, static_cast<int>(m)).value_or(0);
    schedules[m].assign(static_cast<size_t>(horizon.upper - horizon.lower), mode);
  }
  return schedules;
}

std::optional<std::string> FindUnsupported(const Problem& problem, BankSupport support) {
  if (ReachesTooFar(problem)) return "addresses beyond 2^61 bytes";
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Memory& memory = problem.memories[m];
    if (!memory.modes.empty() && !FindPermissiveMode(problem, static_cast<int>(m))) {
      return "the modes of memory '" + memory.name + "'";
    }
  }
  for (const Buffer& buffer : problem.buffers) {
    const Memory& memory = problem.memories[static_cast<size_t>(buffer.memory)];
    if (!buffer.accesses.empty() && HasPorts(memory)) {
      return "the ports of memory '" + memory.name + "' that " + buffer.id + " uses";
    }
    if (support == BankSupport::kNone && BanksNarrow(memory, buffer)) {
      return "the banks in which " + buffer.id + " must lie";
    }
  }
  if (!problem.rules.empty()) return problem::Describe(problem.rules.front());
  return FindUnsupportedRelation(problem);
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
                           const problem::Problem& problem, const problem::Ladder* ladder)
    : engine_(engine), banks_(banks), problem_(problem), ladder_(ladder) {}

Result SizedSession::Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) {
  Result result;
  result.engine = engine_;
  if (const auto unsupported = FindUnsupported(problem_, banks_)) {
    result.status = Status::kUnsupported;
    result.reason = "the " + engine_ + " engine does not honour " + *unsupported;
  } else if (ladder_ != nullptr && candidate >= ladder_->candidates.size()) {
    result.status = Status::kInvalid;
    result.reason = "there is no candidate " + std::to_string(candidate);
  } else if (stop.Requested()) {
    result.reason = "the " + engine_ + " engine was stopped before it began";
  } else {
    OpenCandidate(candidate);
    Answer(capacity, budget, stop, result);
  }
  return result;
}

void SizedSession::OpenCandidate(size_t candidate) {
  if (sized_ != nullptr && candidate == candidate_) return;
  candidate_ = candidate;
  if (ladder_ != nullptr) at_candidate_ = AtCandidate(problem_, ladder_->candidates[candidate]);
  sized_ = at_candidate_ ? &*at_candidate_ : &problem_;
  Reopen();
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
  allocation.modes = ConstantModes(Sized());
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
