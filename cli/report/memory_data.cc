#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tessera/cli/report/data.h"

namespace tessera::cli::report {
namespace {

using Json = nlohmann::ordered_json;

// "pe.read dma.write", "read" for every engine, or "off".
std::string TextOf(const problem::BankMode& bank) {
  if (bank.off) return "off";
  std::string text;
  for (const problem::Permission& permission : bank.allowed) {
    if (!text.empty()) text += ' ';
    if (!permission.engine.empty()) text += permission.engine + '.';
    text += permission.kind == problem::AccessKind::kRead ? "read" : "write";
  }
  return text.empty() ? "hold" : text;
}

Json AsData(const problem::Memory& memory) {
  Json data;
  data["name"] = memory.name;
  data["capacity"] = memory.capacity;
  for (const char* list : {"banks", "modes", "reserved"}) data[list] = Json::array();
  for (const problem::Bank& bank : memory.banks)
    data["banks"].push_back({{"name", bank.name}, {"begin", bank.range.begin}, {"end", bank.range.end}});
  for (const problem::Mode& mode : memory.modes) {
    Json banks = Json::array();
    for (const problem::BankMode& bank : mode.banks) banks.push_back(TextOf(bank));
    data["modes"].push_back({{"name", mode.name}, {"banks", std::move(banks)}});
  }
  for (const problem::Reserved& reserved : memory.reserved) {
    data["reserved"].push_back(
        {{"begin", reserved.range.begin}, {"end", reserved.range.end}, {"reason", reserved.reason}});
  }
  return data;
}

Json AsData(const plan::StepUse& step) {
  static constexpr std::array<std::string_view, 6> kKinds = {"prologue", "load",     "compute",
                                                             "store",    "epilogue", "copy"};
  Json data;
  data["kind"] = kKinds[static_cast<size_t>(step.kind)];
  data["subgraph"] = step.subgraph;
  data["parity"] = step.parity;
  data["op"] = step.op;
  data["transfers"] = step.transfers;
  return data;
}

Json AsData(const problem::Buffer& buffer, const plan::BufferUse& use, problem::Bytes offset) {
  Json data;
  data["id"] = buffer.id;
  data["role"] = buffer.role;
  data["size"] = buffer.size;
  data["offset"] = offset;
  data["memory"] = buffer.memory;
  data["subgraph"] = use.subgraph;
  data["tensor"] = use.tensor;
  data["op"] = use.op;
  data["lives"] = Json::array();
  for (const problem::Lifespan& life : buffer.lifespans) data["lives"].push_back({life.lower, life.upper});
  data["accesses"] = Json::array();
  for (const problem::Access& access : buffer.accesses) {
    data["accesses"].push_back(
        {access.step, access.engine, access.kind == problem::AccessKind::kRead ? "read" : "write"});
  }
  return data;
}

}  // namespace

void AddMemory(const plan::Plan& plan, Json& data) {
  for (const char* list : {"memories", "loops", "steps", "buffers", "schedules"}) data[list] = Json::array();
  for (const problem::Memory& memory : plan.problem.memories) data["memories"].push_back(AsData(memory));
  for (const problem::Loop& loop : plan.problem.loops) data["loops"].push_back({loop.begin, loop.end});
  for (const plan::StepUse& step : plan.steps) data["steps"].push_back(AsData(step));
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    data["buffers"].push_back(AsData(plan.problem.buffers[i], plan.buffers[i], plan.allocation.offsets[i]));
  }
  for (const problem::ModeSchedule& schedule : plan.allocation.modes) data["schedules"].push_back(schedule);
}

}  // namespace tessera::cli::report
