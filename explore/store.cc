// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/store.h"

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>
#include <vector>

#include "tessera/explore/space.h"

namespace tessera::explore {
namespace {

constexpr int kVersion = 1;
constexpr int kApplication = 0x54657373;  // "Tess"
constexpr int kPatience = 60'000;         // milliseconds to wait for another writer

constexpr const char* kTables =
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, network TEXT, profile TEXT,"
    " metric TEXT, options TEXT, outcome TEXT, figures TEXT, reason TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS times (key TEXT PRIMARY KEY, milliseconds TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS bounds (key TEXT PRIMARY KEY, figures TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS profiles (digest TEXT PRIMARY KEY, document TEXT) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS networks (digest TEXT PRIMARY KEY, file TEXT, import TEXT)"
    " WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS results (number INTEGER PRIMARY KEY, specification TEXT UNIQUE,"
    " document TEXT);"
    "CREATE TABLE IF NOT EXISTS analyses (question TEXT PRIMARY KEY, document TEXT)"
    " WITHOUT ROWID;";

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

bool IsOfWriting(int code) {
  if (code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) return false;
  const int kind = code & 0xff;
  return kind == SQLITE_FULL || kind == SQLITE_READONLY || kind == SQLITE_PERM ||
         kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR;
}

StoreFault FaultOf(const std::string& path, std::string message, std::string expected = "") {
  StoreFault fault;
  fault.file = path;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  return fault;
}

void RemoveIfEmpty(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_empty(path, ignored)) std::filesystem::remove(path, ignored);
}

StoredAnswer AsAnswer(const std::vector<std::string>& row) {
  return {row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]};
}

constexpr int64_t kMostAttempts = 2;
constexpr const char* kSilent = "its process ended";

}  // namespace

void Store::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

tl::expected<Store, StoreFault> Store::Open(const std::string& path, Missing missing) {
  std::error_code ignored;
  const bool existed = std::filesystem::exists(path, ignored);
  sqlite3* raw = nullptr;
  const int creation = missing == Missing::kCreate ? SQLITE_OPEN_CREATE : 0;
  const int code = sqlite3_open_v2(
      path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | creation, nullptr);
  Store store(std::unique_ptr<sqlite3, Close>(raw), path);
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code != SQLITE_OK) {
    StoreFault fault = FaultOf(path, std::string("cannot be opened: ") + sqlite3_errstr(code));
    fault.is_of_writing = missing == Missing::kCreate && IsOfWriting(code);
    return tl::unexpected(fault);
  }
  sqlite3_busy_timeout(raw, kPatience);
  const auto number = [&](std::string_view sql) {
    const std::vector<Row> rows = store.Query(sql, {});
    return rows.empty() ? std::string() : rows.front().front();
  };
  const std::string tables = number("SELECT count(*) FROM sqlite_master");
  const std::string application = number("PRAGMA application_id");
  const std::string version = number("PRAGMA user_version");
  if (!store.fault_.empty())
    return tl::unexpected(FaultOf(path, "this is no store: " + store.fault_));
  const bool is_ours = application == std::to_string(kApplication);
  if (tables != "0" && (!is_ours || version != std::to_string(kVersion))) {
    return tl::unexpected(FaultOf(
        path, is_ours ? "the store has version " + version : "this file is of another program",
        "a store of explorations, version " + std::to_string(kVersion) + ", or no file"));
  }
  // The log lets readers continue while another process writes, and survives the end of the
  // process.
  store.Query("PRAGMA journal_mode = WAL", {});
  store.Query("PRAGMA synchronous = NORMAL", {});
  store.Query("PRAGMA application_id = " + std::to_string(kApplication), {});
  store.Query("PRAGMA user_version = " + std::to_string(kVersion), {});
  if (sqlite3_exec(raw, kTables, nullptr, nullptr, nullptr) != SQLITE_OK)
    store.NoteFault(sqlite3_extended_errcode(raw));
  if (auto fault = store.Fault()) {
    store.database_.reset();
    if (!existed) RemoveIfEmpty(path);  // where the disk is full, SQLite leaves an empty file
    return tl::unexpected(*fault);
  }
  return store;
}

std::vector<Store::Row> Store::Query(std::string_view sql,
                                     const std::vector<std::string>& values) const {
  sqlite3_stmt* raw = nullptr;
  int code =
      sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  std::vector<Row> rows;
  if (code == SQLITE_OK) {
    for (size_t i = 0; i < values.size(); ++i)
      sqlite3_bind_text(raw, static_cast<int>(i) + 1, values[i].data(),
                        static_cast<int>(values[i].size()), SQLITE_STATIC);
    while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
      Row& row = rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(raw); ++column) {
        const unsigned char* text = sqlite3_column_text(raw, column);
        row.emplace_back(text == nullptr ? "" : reinterpret_cast<const char*>(text),
                         static_cast<size_t>(sqlite3_column_bytes(raw, column)));
      }
    }
  }
  if (code != SQLITE_DONE) NoteFault(sqlite3_extended_errcode(database_.get()));
  return rows;
}

// Keeps the first fault. A lack of memory is not a fault of the store.
void Store::NoteFault(int code) const {
  if (code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) throw std::bad_alloc();
  if (!fault_.empty()) return;
  fault_ = sqlite3_errmsg(database_.get());
  is_of_writing_ = IsOfWriting(code);
}

std::optional<StoreFault> Store::Fault() const {
  if (fault_.empty()) return std::nullopt;
  StoreFault fault = FaultOf(path_, "the store cannot be used: " + fault_);
  fault.is_of_writing = is_of_writing_;
  return fault;
}

StoreFault Store::FaultOr(const base::Diagnostic& error) const {
  if (auto fault = Fault()) return *fault;
  return {error, false};
}

std::optional<StoredAnswer> Store::FindAnswer(const std::string& key) const {
  const std::vector<Row> rows = Query("SELECT * FROM answers WHERE key = ?", {key});
  return rows.empty() ? std::nullopt : std::optional(AsAnswer(rows.front()));
}

std::vector<StoredAnswer> Store::FindAnswersByPrefix(const std::string& prefix) const {
  std::vector<StoredAnswer> answers;
  for (const Row& row :
       Query("SELECT * FROM answers WHERE substr(key, 1, length(?1)) = ?1 LIMIT 2", {prefix}))
    answers.push_back(AsAnswer(row));
  return answers;
}

void Store::Add(const StoredAnswer& answer, double milliseconds) const {
  Query("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        {answer.key, answer.network, answer.profile, answer.metric, answer.options, answer.outcome,
         answer.figures, answer.reason});
  Query("INSERT OR REPLACE INTO times VALUES (?, ?)", {answer.key, std::to_string(milliseconds)});
}

std::optional<std::string> Store::FindBounds(const std::string& key) const {
  const std::vector<Row> rows = Query("SELECT figures FROM bounds WHERE key = ?", {key});
  return rows.empty() ? std::nullopt : std::optional(rows.front().front());
}

void Store::AddBounds(const std::string& key, const std::string& figures) const {
  Query("INSERT OR IGNORE INTO bounds VALUES (?, ?)", {key, figures});
}

std::optional<std::string> Store::FindProfile(const std::string& digest) const {
  const std::vector<Row> rows = Query("SELECT document FROM profiles WHERE digest = ?", {digest});
  return rows.empty() ? std::nullopt : std::optional(rows.front().front());
}

void Store::AddProfile(const std::string& digest, const std::string& document) const {
  Query("INSERT OR IGNORE INTO profiles VALUES (?, ?)", {digest, document});
}

std::optional<StoredNetwork> Store::FindNetwork(const std::string& digest) const {
  const std::vector<Row> rows =
      Query("SELECT digest, file, import FROM networks WHERE digest = ?", {digest});
  if (rows.empty()) return std::nullopt;
  return StoredNetwork{rows.front()[0], rows.front()[1], rows.front()[2]};
}

void Store::AddNetwork(const StoredNetwork& network) const {
  Query("INSERT OR REPLACE INTO networks VALUES (?, ?, ?)",
        {network.digest, network.file, network.import});
}

std::optional<std::string> Store::FindResult(const std::string& specification) const {
  const std::vector<Row> rows =
      Query("SELECT document FROM results WHERE specification = ?", {specification});
  return rows.empty() ? std::nullopt : std::optional(rows.front().front());
}

std::optional<std::string> Store::FindLatestResult() const {
  const std::vector<Row> rows =
      Query("SELECT document FROM results ORDER BY number DESC LIMIT 1", {});
  return rows.empty() ? std::nullopt : std::optional(rows.front().front());
}

void Store::AddResult(const std::string& specification, const std::string& document) const {
  Query("INSERT OR REPLACE INTO results (specification, document) VALUES (?, ?)",
        {specification, document});
}

std::optional<std::string> Store::FindAnalysis(const std::string& question) const {
  const std::vector<Row> rows =
      Query("SELECT document FROM analyses WHERE question = ?", {question});
  return rows.empty() ? std::nullopt : std::optional(rows.front().front());
}

void Store::AddAnalysis(const std::string& question, const std::string& document) const {
  Query(
      "INSERT OR REPLACE INTO analyses SELECT ?, ?"
      " WHERE NOT EXISTS (SELECT 1 FROM answers WHERE outcome = 'failed')",
      {question, document});
}

void Store::Begin() const { Query("BEGIN IMMEDIATE", {}); }

void Store::Commit() const { Query("COMMIT", {}); }

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
