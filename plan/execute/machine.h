#pragma once

#include <cstdint>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/execute/ledger.h"
#include "tessera/plan/execute/memories.h"

namespace tessera::plan::execute {

// Runs instructions on memories of tags and judges every operator by what it reads. Knows the
// network and the tile memory, and no plan. The network and the contents outlive it.
class Machine {
 public:
  // Keeps at most `most` findings and counts the others.
  Machine(const graph::Graph& network, const Contents& contents, const problem::Memory& tile_memory,
          size_t most)
      : network_(network),
        contents_(contents),
        ledger_(network, contents, most),
        memories_(contents, tile_memory, ledger_) {}

  void Run(const Instruction& instruction);

  const Tally& Totals() const { return ledger_.Totals(); }
  int64_t Found() const { return ledger_.Found(); }
  std::vector<Finding> TakeFindings() { return ledger_.TakeFindings(); }

 private:
  // One move of a transfer under way.
  struct Leg {
    Move move;
    std::vector<execute::Run> sources;
    std::vector<execute::Run> destinations;
    bool reads = true;  // false: what could not be touched is left alone
    bool writes = true;
  };
  struct UnderWay {
    StartTransfer transfer;
    uint32_t actor = 0;
    std::vector<Leg> legs;
    AccessRules::Banks read_banks = 0;
    AccessRules::Banks written_banks = 0;
  };

  void Do(const EnterStep& enter);
  void Do(const Provide& provide) { memories_.Provide(provide.place); }
  void Do(const Forget& forget);
  void Do(const StartTransfer& start);
  void Do(const FinishTransfer& finish);
  void Do(const Compute& compute);
  void Do(const Copy& copy);
  void Do(const Expect& expect);
  void Do(const Complaint& complaint);

  void CopyRow(const Copy& copy, const Move& move, const Box& row, uint32_t actor);
  void CheckMode(AccessRules::Banks banks, const std::string& engine, problem::AccessKind kind);
  void CheckModes(const UnderWay& transfer);
  void LoseBanksThatAreOff();

  bool IsThere(const Place& place, const Box& box);
  ElementSet ReadsOf(const Compute& compute, const Operand& operand, const Box& output) const;
  void ReadOperand(const Compute& compute, const Operand& operand);
  void RunByChannel(const Compute& compute, uint32_t actor);
  bool HasRoomForAChannel(const Compute& compute);
  void WriteResult(const Compute& compute, const Result& result, uint32_t actor);
  bool IsReplacedBy(const Operand& operand, const Result& result, Tag found, Tag coming) const;
  void CheckInPlace(const Compute& compute, const Result& result,
                    const std::vector<execute::Run>& runs);

  const graph::Graph& network_;
  const Contents& contents_;
  Ledger ledger_;
  Memories memories_;
  EnterStep at_;
  bool entered_ = false;
  std::vector<UnderWay> under_way_;
};

}  // namespace tessera::plan::execute
