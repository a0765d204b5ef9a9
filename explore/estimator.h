// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"

// Areas from a command of the user: a wrapper of CACTI, a table of a foundry, a fitted model.
namespace tessera::explore {

class Store;
struct Spec;

// A command that reads a description of a part, as JSON on one line, and writes its area in square
// millimetres. It runs once for each description; its answers are assumed not to change. Several
// threads may call.
class Estimator {
 public:
  // `folder`: where the command runs, absolute.
  Estimator(std::string command, std::string folder)
      : command_(std::move(command)), folder_(std::move(folder)) {}

  const std::string& Command() const { return command_; }
  const std::string& Folder() const { return folder_; }

  // Returns the area of a part. A diagnostic has no place.
  base::Expected<double> AreaOf(const std::string& description);

  // Adds an answer of an earlier process.
  void Know(const std::string& description, double mm2);

  std::map<std::string, double> Known() const;

  // Sets a canceller that ends a running command.
  void SetCanceller(const Canceller& canceller) { canceller_ = canceller; }

 private:
  std::string command_;
  std::string folder_;
  Canceller canceller_;
  mutable std::mutex mutex_;
  std::map<std::string, double> known_;
};

// The constructor loads the answers that the store has; the destructor adds the new ones to it.
// Between them, the canceller ends running commands.
class KeptEstimates {
 public:
  KeptEstimates(const Spec& spec, const Store& store, const Canceller& canceller);
  ~KeptEstimates();
  KeptEstimates(const KeptEstimates&) = delete;
  KeptEstimates& operator=(const KeptEstimates&) = delete;

 private:
  void Keep() const;

  std::vector<std::shared_ptr<Estimator>> estimators_;
  const Store& store_;
};

}  // namespace tessera::explore
