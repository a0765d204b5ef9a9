// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"

struct sqlite3;

// The results of explorations, in a SQLite file. Several processes may write one file at a time,
// and a process may end at any moment: an answer is there in full or not at all.
//
//     answers   key, network, profile, metric, outcome, figures      what `plan` answers
//     times     key, milliseconds                                    how long that took
//     bounds    network, profile, figures                            lower bounds without a search
//     profiles  digest, document                                     the points, to plan them again
//     networks  digest, file, import                                 where the networks are
//     results   specification, document                              finished explorations
//     analyses  question, document                                   answers to other questions
//     estimates folder, command, part, mm2                           areas from commands
//
// The key of an answer is a digest of network, profile, options and version, so an answer never
// becomes wrong: another question has another key.
namespace tessera::explore {

struct StoredAnswer {
  std::string key;
  std::string network;  // digest
  std::string profile;  // digest
  std::string metric;   // that was minimised
  std::string options;  // JSON
  std::string outcome;  // as NameOf(Outcome)
  std::string figures;  // JSON: metrics to numbers; empty without a plan
  std::string reason;   // why there is no plan
};

struct StoredNetwork {
  std::string digest;
  std::string file;
  std::string import;  // JSON
};

// Why a store cannot be used: its content is wrong, or a write fails on its folder or disk.
struct StoreFault : base::Diagnostic {
  bool is_of_writing = false;
};

class Store {
 public:
  // ":memory:" is a store without a file. Refuses files of other programs and versions.
  enum class Missing { kCreate, kRefuse };
  static tl::expected<Store, StoreFault> Open(const std::string& path,
                                              Missing missing = Missing::kCreate);

  std::optional<StoredAnswer> FindAnswer(const std::string& key) const;

  // Returns at most two of the answers whose key begins with `prefix`.
  std::vector<StoredAnswer> FindAnswersByPrefix(const std::string& prefix) const;

  void Add(const StoredAnswer& answer, double milliseconds) const;

  std::optional<std::string> FindBounds(const std::string& key) const;
  void AddBounds(const std::string& key, const std::string& figures) const;

  std::optional<std::string> FindProfile(const std::string& digest) const;
  void AddProfile(const std::string& digest, const std::string& document) const;

  std::optional<StoredNetwork> FindNetwork(const std::string& digest) const;
  void AddNetwork(const StoredNetwork& network) const;

  // Documents of finished explorations (output.h), by a digest of what was asked.
  std::optional<std::string> FindResult(const std::string& specification) const;
  std::optional<std::string> FindLatestResult() const;
  void AddResult(const std::string& specification, const std::string& document) const;

  // Answers to questions that have no fronts (request.h), by a digest of the question.
  std::optional<std::string> FindAnalysis(const std::string& question) const;
  // Keeps nothing while an answer is `failed`: a retry may replace it.
  void AddAnalysis(const std::string& question, const std::string& document) const;

  // Combine many additions in one step, which is faster.
  void Begin() const;
  void Commit() const;

  // Returns the rows of a statement, as texts. If it fails, there are none, and Fault returns the
  // error. For parts of the store that have a separate source.
  using Row = std::vector<std::string>;
  std::vector<Row> Query(std::string_view sql, const std::vector<std::string>& values) const;

  // Returns the fault of the store, if an access failed.
  std::optional<StoreFault> Fault() const;

  // Returns the fault of the store, or else an error of work with it.
  StoreFault FaultOr(const base::Diagnostic& error) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  Store(std::unique_ptr<sqlite3, Close> database, std::string path)
      : database_(std::move(database)), path_(std::move(path)) {}

  void NoteFault(int code) const;

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
  mutable std::string fault_;
  mutable bool is_of_writing_ = false;  // fault_ is about a write
};

// The outcome of a question that two attempts did not answer.
inline constexpr std::string_view kFailed = "failed";

// Notes in the store about the questions that processes work on. A note is added before a question
// is asked, and removed when it is answered. So a note that a process finds at its start comes from
// a process that ended before the answer, by a signal or because memory ran out. Only one process
// at a time may work on a question.
class Attempts {
 public:
  // The store must outlive it.
  explicit Attempts(const Store& store);

  // Returns how often the question was begun without an end.
  int64_t CountOf(const std::string& key) const;

  // Notes an attempt. After two attempts it notes nothing, and returns why the question is given
  // up.
  std::optional<std::string> Begin(const std::string& key) const;

  // Records why the last attempt, which the process survived, gave no answer.
  void Explain(const std::string& key, const std::string& reason) const;

  // Removes the note: the question is answered, or its attempt was cancelled.
  void End(const std::string& key) const;

  // Removes the answers "failed" and the notes of these questions, so that they are asked again,
  // and removes the results that this makes stale.
  void Forget(const std::set<std::string>& keys) const;

 private:
  const Store& store_;
};

// Removes finished explorations that state a failure which the answers of the store no longer
// state, because the question was answered since or will be asked again.
void DropStaleResults(const Store& store);

}  // namespace tessera::explore
