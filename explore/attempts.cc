// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/attempts.h"

#include <cstdlib>
#include <vector>

#include "tessera/explore/space.h"

namespace tessera::explore {
namespace {

constexpr int64_t kMostAttempts = 2;
constexpr const char* kSilent = "its process ended";

}  // namespace

Attempts::Attempts(const Store& store) : store_(store) {
  store_.Query(
      "CREATE TABLE IF NOT EXISTS attempts (key TEXT PRIMARY KEY, count INTEGER, reason TEXT)"
      " WITHOUT ROWID",
      {});
}

int64_t Attempts::CountOf(const std::string& key) const {
  const std::vector<Store::Row> rows =
      store_.Query("SELECT count FROM attempts WHERE key = ?", {key});
  return rows.empty() ? 0 : std::atoll(rows.front().front().c_str());
}

std::optional<std::string> Attempts::Begin(const std::string& key) const {
  if (CountOf(key) >= kMostAttempts) {
    const std::vector<Store::Row> rows =
        store_.Query("SELECT reason FROM attempts WHERE key = ?", {key});
    return std::to_string(kMostAttempts) +
           " attempts gave no answer: " + (rows.empty() ? kSilent : rows.front().front());
  }
  store_.Query(
      "INSERT INTO attempts VALUES (?, 1, ?) ON CONFLICT (key) DO UPDATE SET count = count + 1,"
      " reason = excluded.reason",
      {key, kSilent});
  return std::nullopt;
}

void Attempts::Explain(const std::string& key, const std::string& reason) const {
  store_.Query("UPDATE attempts SET reason = ? WHERE key = ?", {reason, key});
}

void Attempts::End(const std::string& key) const {
  store_.Query("DELETE FROM attempts WHERE key = ?", {key});
}

void Attempts::Forget(const std::set<std::string>& keys) const {
  store_.Begin();
  for (const Store::Row& row :
       store_.Query("SELECT key FROM answers WHERE outcome = ? UNION SELECT key FROM attempts",
                    {std::string(kFailed)})) {
    if (!keys.contains(row.front())) continue;
    store_.Query("DELETE FROM answers WHERE key = ? AND outcome = ?",
                 {row.front(), std::string(kFailed)});
    End(row.front());
  }
  DropStaleResults(store_);
  store_.Commit();
}

void DropStaleResults(const Store& store) {
  const std::vector<Store::Row> results =
      store.Query("SELECT specification, document FROM results WHERE instr(document, ?) > 0",
                  {"\"" + std::string(kFailed) + "\""});
  if (results.empty()) return;
  std::set<std::string> failed;
  for (const Store::Row& row :
       store.Query("SELECT key FROM answers WHERE outcome = ?", {std::string(kFailed)}))
    failed.insert(row.front());
  // Documents state the first digits of keys.
  const auto is_failed = [&failed](const std::string& id) {
    const auto key = failed.lower_bound(id);
    return key != failed.end() && key->starts_with(id);
  };
  for (const Store::Row& row : results) {
    bool is_stale = false;
    const Json document = Json::parse(row[1]);
    for (const Json& pair : document.at("pairs")) {
      for (const Json& answer : pair.value("answers", Json::array()))
        is_stale = is_stale || (answer.at("outcome") == kFailed && !is_failed(answer.at("id")));
    }
    if (is_stale) store.Query("DELETE FROM results WHERE specification = ?", {row[0]});
  }
}

}  // namespace tessera::explore
