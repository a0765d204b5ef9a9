// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/space.h"

// Areas of hardware: the rules that state them, and commands that estimate them.
namespace tessera::explore {

// Areas from a command of the user: a wrapper of CACTI, a table of a foundry, a fitted model.

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

// The silicon area of a profile, as the sum over its memories, engines and links.

// The area of the parts that match, in square millimetres. Names in the expression are fields of
// the part ("capacity_bytes", "port.bytes_per_cycle"), then
//
//   banks     of a memory: their number, 1 without banks
//   accesses  of a memory: the access paths of all banks, one for each access that some mode allows
//             to a bank: a bank that is only read in one mode and only written in another has two
//   width     of a memory: bytes that its port moves in a cycle, in both directions together where
//             they do not take turns; of a link: the smaller of its two memories'
//   macs      of an engine: multiply-accumulates in a cycle, the most of its operators' `unroll`
//             for each of `cycles_per_step`, if that is more than 1
//
// and then the names of the space.
struct AreaRule {
  std::string part;                                             // "memories.sram", "engines.*"
  std::vector<std::pair<std::string, double>> conditions = {};  // fields that must have this value
  Expression mm2;
  std::shared_ptr<Estimator> estimator = {};  // in place of the expression
  base::Diagnostic place = {};                // where it is stated, without a message
};

// The area of one part.
struct PartArea {
  std::string part;
  double mm2 = 0;
};

using Lookup = std::function<std::optional<double>(std::string_view name)>;

class AreaModel {
 public:
  void Add(AreaRule rule) { rules_.push_back(std::move(rule)); }
  const std::vector<AreaRule>& Rules() const { return rules_; }

  // Returns the area of each part: its `area_mm2`, or else that of the first rule that matches.
  // Refuses a document with parts that have neither, and names them. `names` looks up names of the
  // space.
  base::Expected<std::vector<PartArea>> PartsOf(const Json& document, const Lookup& names) const;

  // Returns the sum of these areas.
  base::Expected<double> Of(const Json& document, const Lookup& names) const;

  // Sets the place in the input that needs areas, for the complaint about parts without one.
  void SetPlace(base::Diagnostic place) { place_ = std::move(place); }

 private:
  base::Expected<std::optional<double>> OfPart(const std::string& part, const Json& document,
                                               const Json& fields, const Lookup& names) const;

  std::vector<AreaRule> rules_;
  base::Diagnostic place_;
};

// Returns "memories.sram", ...: the parts of a profile, in its order.
std::vector<std::string> PartsOf(const Json& document);

// Returns the names that a rule for this part of the document may use: its fields, and those listed
// at AreaRule.
std::vector<std::string> NamesOfPart(const Json& document, const std::string& part);

// Reads rules from a table with a header: `part`, any number of fields, `area_mm2`.
//
//     part,capacity_bytes,area_mm2
//     memories.sram,65536,0.041
//
// An empty cell is no condition. `file` is for messages.
base::Expected<std::vector<AreaRule>> ReadAreaTable(std::string_view text, const std::string& file);

}  // namespace tessera::explore
