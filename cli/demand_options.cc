#include "tessera/cli/demand_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "tessera/cli/files.h"
#include "tessera/cli/tile_words.h"
#include "tessera/search/partition/demand_faults.h"
#include "tessera/search/partition/demand_names.h"
#include "tessera/search/partition/demands_yaml.h"

namespace tessera::cli {
namespace {

using search::Demand;
using search::DemandKind;

// Demands with the words on the command line that state them.
class WordReader {
 public:
  explicit WordReader(const graph::Graph& network) : network_(network) {}

  void AddTogether(const std::string& words) {
    Add("--together", words, ParseInterval(words, network_, "--together"), [](graph::Interval interval) {
      return Demand{.kind = DemandKind::kTogether, .interval = interval, .way = {}, .memory = {}};
    });
  }

  void AddApart(const std::string& id) {
    Add("--apart", id, ParseOperator(id, network_, "--apart"), [](int op) {
      return Demand{.kind = DemandKind::kApart, .interval = {op, op}, .way = {}, .memory = {}};
    });
  }

  void AddStay(const char* option, DemandKind kind, const std::string& id) {
    Add(option, id, search::LookUpTensor(network_, id), [kind](int tensor) {
      return Demand{.kind = kind, .interval = {}, .tensor = tensor, .way = {}, .memory = {}};
    });
  }

  // Behind the demands of a file, which have no fault among themselves.
  base::Expected<std::vector<Demand>> Join(std::vector<Demand> demands, const hw_profiles::Profile& profile,
                                           std::optional<int> max_operators) {
    if (fault_) return base::Unexpected(*fault_);
    const size_t before = demands.size();
    demands.insert(demands.end(), demands_.begin(), demands_.end());
    const auto fault = search::FindFault(network_, profile, demands, max_operators);
    if (!fault) return demands;
    return base::Unexpected(Said(words_[fault->demand - before], fault->diagnostic));
  }

 private:
  template <typename Found, typename Make>
  void Add(const char* option, const std::string& words, const base::Expected<Found>& found, Make make) {
    words_.push_back(fmt::format("{} {}", option, words));
    if (found) {
      demands_.push_back(make(*found));
    } else if (!fault_) {
      fault_ = Said(words_.back(), found.error());
    }
  }

  static base::Diagnostic Said(const std::string& words, base::Diagnostic fault) {
    if (!fault.message.starts_with(words)) fault.message = fmt::format("{}: {}", words, fault.message);
    return fault;
  }

  const graph::Graph& network_;
  std::vector<Demand> demands_;
  std::vector<std::string> words_;  // parallel, as long as there is no fault
  std::optional<base::Diagnostic> fault_;
};

}  // namespace

void DemandOptions::Declare(CLI::App& app) {
  app.add_option("--demands", file_,
                 "What the plan must keep to, in YAML: docs/demands.md; - reads standard input");
  app.add_option("--together", together_,
                 "FIRST..LAST: these operators run in one subgraph, perhaps with others")
      ->allow_extra_args(false);
  app.add_option("--apart", apart_, "OPERATOR: a subgraph begins with it")->allow_extra_args(false);
  app.add_option("--keep", kept_, "TENSOR: it stays on chip, inside a subgraph or between them")
      ->allow_extra_args(false);
  app.add_option("--spill", spilled_, "TENSOR: it goes home where it passes from one subgraph to another")
      ->allow_extra_args(false);
}

base::Expected<std::vector<Demand>> DemandOptions::Load(const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        std::optional<int> max_operators) const {
  std::vector<Demand> demands;
  if (!file_.empty()) {
    const base::Expected<std::string> text = ReadInput(file_);
    if (!text) return base::Unexpected(text.error());
    const std::string name = file_ == "-" ? "standard input" : file_;
    base::Expected<std::vector<Demand>> read =
        search::ReadDemands(*text, name, network, profile, max_operators);
    if (!read) return read;
    demands = *std::move(read);
  }
  WordReader words(network);
  for (const std::string& each : together_) words.AddTogether(each);
  for (const std::string& each : apart_) words.AddApart(each);
  for (const std::string& each : kept_) words.AddStay("--keep", DemandKind::kKeep, each);
  for (const std::string& each : spilled_) words.AddStay("--spill", DemandKind::kSpill, each);
  return words.Join(std::move(demands), profile, max_operators);
}

}  // namespace tessera::cli
