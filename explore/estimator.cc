// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/estimator.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/base/command.h"
#include "tessera/base/text.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

namespace tessera::explore {
namespace {

constexpr std::chrono::seconds kMostTime{60};
constexpr size_t kMostShown = 80;  // bytes of an answer that is no number

}  // namespace

base::Expected<double> Estimator::AreaOf(const std::string& description) {
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(description); known != known_.end()) return known->second;
  const base::Expected<std::string> output = base::RunCommand(
      command_, folder_, description + "\n", kMostTime, [&] { return canceller_.IsCancelled(); });
  base::Diagnostic fault;
  if (!output) {
    fault = output.error();
    fault.hint = "the command is '" + command_ + "', and its input " + description;
    return base::Unexpected(fault);
  }
  const std::string_view answer = base::Trimmed(*output);
  const std::optional<double> mm2 = ParseQuantity(answer);
  if (mm2 && std::isfinite(*mm2) && *mm2 >= 0) return known_[description] = *mm2;
  fault.message = "the command gives no area";
  fault.expected = "a number of at least 0 on standard output, in mm2";
  fault.found = answer.empty() ? "nothing" : base::Printable(base::Shortened(answer, kMostShown));
  fault.hint = "the command is '" + command_ + "', and its input " + description;
  return base::Unexpected(fault);
}

void Estimator::Know(const std::string& description, double mm2) {
  const std::lock_guard lock(mutex_);
  known_[description] = mm2;
}

std::map<std::string, double> Estimator::Known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

KeptEstimates::KeptEstimates(const Spec& spec, const Store& store, const Canceller& canceller)
    : store_(store) {
  for (const AreaRule& rule : spec.area.Rules()) {
    if (!rule.estimator) continue;
    rule.estimator->SetCanceller(canceller);
    estimators_.push_back(rule.estimator);
  }
  if (estimators_.empty()) return;
  store_.Query(
      "CREATE TABLE IF NOT EXISTS estimates (folder TEXT, command TEXT, part TEXT, mm2 TEXT,"
      " PRIMARY KEY (folder, command, part)) WITHOUT ROWID",
      {});
  for (const auto& estimator : estimators_) {
    for (const Store::Row& row :
         store_.Query("SELECT part, mm2 FROM estimates WHERE folder = ? AND command = ?",
                      {estimator->Folder(), estimator->Command()})) {
      if (const std::optional<double> mm2 = ParseQuantity(row[1])) estimator->Know(row[0], *mm2);
    }
  }
}

// If memory runs out, a later run asks again.
KeptEstimates::~KeptEstimates() {
  if (estimators_.empty()) return;
  try {
    Keep();
  } catch (const std::bad_alloc&) {
    return;
  }
}

void KeptEstimates::Keep() const {
  store_.Begin();
  for (const auto& estimator : estimators_) {
    for (const auto& [description, mm2] : estimator->Known())
      store_.Query(
          "INSERT OR IGNORE INTO estimates VALUES (?, ?, ?, ?)",
          {estimator->Folder(), estimator->Command(), description, fmt::format("{}", mm2)});
  }
  store_.Commit();
}

}  // namespace tessera::explore
