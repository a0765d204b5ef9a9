#include "tessera/explore/attempts.h"

#include <cstdlib>
#include <vector>

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

void Attempts::Forget() const {
  store_.Query("DELETE FROM answers WHERE outcome = ?", {std::string(kFailed)});
  store_.Query("DELETE FROM attempts", {});
  store_.Query("DELETE FROM results", {});
}

}  // namespace tessera::explore
