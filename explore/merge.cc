// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "tessera/explore/area.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/output.h"
#include "tessera/explore/shard.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// All stores are united in memory first, so that a conflict is found before anything is written.
// The document is not a sum of documents: it is made from the answers, as one process would have
// made it (shard.h). A document that states a failure is dropped as soon as some store has an
// answer.
namespace tessera::explore {
namespace {

// Rows with the same key are equal, except for those of `times`.
constexpr std::array<const char*, 9> kMergedTables = {"answers",  "times",          "bounds",
                                                      "profiles", "networks",       "results",
                                                      "analyses", "specifications", "pieces"};

base::Diagnostic MergeFault(const std::string& file, std::string message,
                            std::string expected = "") {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return fault;
}

// Returns the explorations of which a store has a part.
std::set<std::string> DigestsOf(const Store& store) {
  MakeShardTables(store);
  std::set<std::string> digests;
  for (const Store::Row& row :
       store.Query("SELECT digest FROM specifications UNION SELECT specification FROM results", {}))
    digests.insert(row.front());
  return digests;
}

class Union {
 public:
  explicit Union(const Store& target) : target_(target) {
    MakeShardTables(target_);
    const Attempts makes_table(target_);
  }

  // Adds a store; if it fails, a part of the store may remain.
  std::optional<base::Diagnostic> Add(const std::string& file) const {
    target_.Query("ATTACH DATABASE ? AS other", {file});
    target_.Begin();
    std::optional<base::Diagnostic> fault = FindConflict(file);
    if (!fault) Copy();
    target_.Commit();
    target_.Query("DETACH DATABASE other", {});
    return fault ? fault : target_.Fault();
  }

 private:
  // Finds two different answers to one question. "failed" is not an answer.
  std::optional<base::Diagnostic> FindConflict(const std::string& file) const {
    const std::vector<Store::Row> rows = target_.Query(
        "SELECT a.network, a.profile, a.metric, a.key FROM main.answers a JOIN other.answers b"
        " ON a.key = b.key WHERE a.outcome <> ?1 AND b.outcome <> ?1 AND (a.outcome <> b.outcome OR"
        " a.figures <> b.figures OR a.reason <> b.reason) ORDER BY a.key LIMIT 1",
        {std::string(kFailed)});
    if (rows.empty()) return std::nullopt;
    const Store::Row& row = rows.front();
    const std::vector<Store::Row> names =
        target_.Query("SELECT file FROM other.networks WHERE digest = ?", {row[0]});
    base::Diagnostic fault =
        MergeFault(file, "the answer about " + (names.empty() ? row[0] : names.front().front()) +
                             " on the profile " + row[1] + ", " + row[2] +
                             " minimised, differs from that of another store");
    fault.expected = "equal answers to equal questions";
    fault.hint =
        "one of the stores was changed, or a program is wrong; `tessera explore show` with " +
        row[3].substr(0, 12) + " makes the plan again";
    return fault;
  }

  void Copy() const {
    const std::string failed(kFailed);
    target_.Query(
        "DELETE FROM main.answers WHERE outcome = ?1 AND key IN"
        " (SELECT key FROM other.answers WHERE outcome <> ?1)",
        {failed});
    for (const char* table : kMergedTables) {
      const std::string name(table);
      if (name == "results") {
        DropStaleResults(target_);
        target_.Query(
            "INSERT OR IGNORE INTO main.results (specification, document) SELECT specification,"
            " document FROM other.results ORDER BY number",
            {});
      } else if (name == "pieces") {
        target_.Query(
            "INSERT INTO main.pieces SELECT * FROM other.pieces WHERE true ON CONFLICT DO UPDATE "
            "SET"
            " done = max(done, excluded.done)",
            {});
      } else {
        target_.Query(fmt::format("INSERT OR IGNORE INTO main.{0} SELECT * FROM other.{0}", name),
                      {});
      }
    }
    DropStaleResults(target_);
  }

  const Store& target_;
};

class Merging {
 public:
  Merging(const std::vector<std::string>& stores, const std::string& output,
          const MergeOptions& options)
      : stores_(stores), output_(output), options_(options) {}

  tl::expected<std::optional<MergeReport>, StoreFault> Run() {
    const auto merged = Store::Open(":memory:");
    if (!merged) return tl::unexpected(merged.error());
    if (const auto fault = Unite(*merged)) return tl::unexpected(StoreFault{*fault, false});
    const auto output = Store::Open(output_);
    if (!output) return tl::unexpected(output.error());
    if (const auto fault = Write(*merged, *output)) return tl::unexpected(*fault);
    auto report = Finish(*output);
    if (!report) return tl::unexpected(output->FaultOr(report.error()));
    return *std::move(report);
  }

 private:
  // Starts with the output if it is a store, because it must agree with the others.
  std::optional<base::Diagnostic> Unite(const Store& merged) {
    std::vector<std::string> files;
    if (std::filesystem::exists(output_)) files.push_back(output_);
    for (const std::string& store : stores_) {
      if (std::filesystem::exists(output_) && std::filesystem::exists(store) &&
          std::filesystem::equivalent(store, output_))
        continue;
      files.push_back(store);
    }
    const Union all(merged);
    for (const std::string& file : files) {
      const auto store = Store::Open(file, Store::Missing::kRefuse);
      if (!store) return store.error();
      if (auto fault = Compare(*store, file)) return fault;
      if (auto fault = all.Add(file)) return fault;
    }
    return std::nullopt;
  }

  // Keeps the specifications that all stores have in common.
  std::optional<base::Diagnostic> Compare(const Store& store, const std::string& file) {
    const std::set<std::string> digests = DigestsOf(store);
    if (auto fault = store.Fault()) return fault;
    if (digests.empty()) {
      if (file == output_) return std::nullopt;
      return MergeFault(file, "the store has no exploration",
                        "a store of `tessera explore --shard` or of a finished exploration");
    }
    if (first_.empty()) {
      first_ = file;
      common_ = digests;
      return std::nullopt;
    }
    std::set<std::string> both;
    std::set_intersection(common_.begin(), common_.end(), digests.begin(), digests.end(),
                          std::inserter(both, both.end()));
    if (both.empty())
      return MergeFault(
          file, "the store is of another specification than " + first_,
          "stores of one specification, with equal networks and one version of tessera");
    common_ = std::move(both);
    return std::nullopt;
  }

  // Writes in one step: the rows go through a file, because a store in memory cannot be attached.
  static std::optional<StoreFault> Write(const Store& merged, const Store& output) {
    MakeShardTables(output);
    const Attempts makes_table(output);
    output.Begin();
    output.Query("DELETE FROM answers WHERE outcome = ?", {std::string(kFailed)});
    for (const char* table : kMergedTables) {
      const std::string name(table);
      if (name == "results") DropStaleResults(output);
      for (Store::Row row : merged.Query(fmt::format("SELECT * FROM {}", name), {})) {
        if (name == "results") row.erase(row.begin());
        std::string marks = "?";
        for (size_t i = 1; i < row.size(); ++i) marks += ", ?";
        const std::string columns = name == "results" ? " (specification, document)" : "";
        const std::string verb = name == "pieces" ? "INSERT OR REPLACE" : "INSERT OR IGNORE";
        output.Query(fmt::format("{} INTO {}{} VALUES ({})", verb, name, columns, marks), row);
      }
    }
    output.Commit();
    return output.Fault();
  }

  base::Expected<std::optional<MergeReport>> Finish(const Store& output) {
    MergeReport report;
    const std::string before = Count(output);
    report.answers = std::strtoul(before.c_str(), nullptr, 10);
    for (const StoredSpec& stored : FindSpecs(output)) {
      if (!common_.contains(stored.digest)) continue;
      if (output.FindResult(stored.digest)) continue;
      if (!stored.missing.empty()) {
        report.missing = stored.missing;
        continue;
      }
      const auto document = MakeDocument(stored, output);
      if (!document) return base::Unexpected(document.error());
      if (!*document) return std::optional<MergeReport>();
      output.AddResult(stored.digest, (*document)->dump());
    }
    for (const std::string& digest : common_) {
      const std::optional<std::string> document = output.FindResult(digest);
      if (!document) continue;
      output.AddResult(digest, *document);  // now the latest one
      report.document = Json::parse(*document);
    }
    if (auto fault = output.Fault()) return base::Unexpected(*fault);
    const size_t after = std::strtoul(Count(output).c_str(), nullptr, 10);
    report.planned = after - report.answers;
    report.answers = after;
    return std::optional(std::move(report));
  }

  static std::string Count(const Store& store) {
    const std::vector<Store::Row> rows = store.Query("SELECT count(*) FROM answers", {});
    return rows.empty() ? "0" : rows.front().front();
  }

  base::Expected<std::optional<Json>> MakeDocument(const StoredSpec& stored, const Store& output) {
    const base::Expected<Spec> spec = ReadSpec(stored.text, stored.file);
    if (!spec) return base::Unexpected(spec.error());
    const base::Expected<std::vector<Point>> points = spec->space.Enumerate();
    if (!points) return base::Unexpected(points.error());
    const KeptEstimates estimates(*spec, output, options_.canceller);
    const base::Expected<std::vector<double>> areas = FindAreas(*spec, *points);
    if (options_.canceller.IsCancelled()) return std::optional<Json>();
    if (!areas) return base::Unexpected(areas.error());
    if (DigestOf(*spec, *points, *areas, stored.plan_all) != stored.digest) {
      base::Diagnostic fault = MergeFault(
          stored.file, "a file that the specification names has changed since the pieces");
      fault.hint = "the merged answers are in " + output_ +
                   "; `tessera explore` with that store and the new files plans what is missing";
      return base::Unexpected(fault);
    }
    RunOptions run;
    run.threads = options_.threads;
    run.canceller = options_.canceller;
    run.plan_all = stored.plan_all;
    run.progress = options_.progress;
    const auto found = Explore(*spec, output, run);
    if (!found) return base::Unexpected(found.error());
    if (!*found) return std::optional<Json>();
    return std::optional(AsDocument(*spec, **found));
  }

  const std::vector<std::string>& stores_;
  const std::string& output_;
  const MergeOptions& options_;
  std::string first_;             // the first store with a specification
  std::set<std::string> common_;  // digests
};

}  // namespace

tl::expected<std::optional<MergeReport>, StoreFault> Merge(const std::vector<std::string>& stores,
                                                           const std::string& output,
                                                           const MergeOptions& options) {
  return Merging(stores, output, options).Run();
}

}  // namespace tessera::explore
