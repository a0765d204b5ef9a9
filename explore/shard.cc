// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/shard.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

#include "tessera/explore/area.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/output.h"
#include "tessera/explore/store.h"

namespace tessera::explore {
namespace {

constexpr size_t kMostPieces = 10'000;

std::optional<size_t> ParsePieceNumber(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Plans in a round, at least.
constexpr size_t kPlansAtOnce = 8;

double TileCapacityOf(const Point& point) {
  const Json document = point.Document();
  const std::string memory = document.value("tile_memory", "");
  const auto memories = document.find("memories");
  if (memories == document.end() || !memories->contains(memory)) return 1;
  return std::max(1.0, memories->at(memory).value("capacity_bytes", 1.0));
}

// Chooses the open pairs of the piece, those with the least bounds first, and pairs of other pieces
// whose answers the store has.
class PieceChooser final : public Chooser {
 public:
  // `is_mine` is by pair. All arguments must outlive this object.
  PieceChooser(const Spec& spec, const Store& store, const Planner& planner,
               std::vector<bool> is_mine)
      : spec_(spec), store_(store), planner_(planner), is_mine_(std::move(is_mine)) {}

  std::vector<size_t> Choose(const Exploration& so_far, size_t /*most*/) override {
    std::vector<std::pair<double, size_t>> mine;
    for (size_t i = 0; i < so_far.pairs.size(); ++i) {
      if (is_mine_[i] && so_far.pairs[i].IsOpen())
        mine.emplace_back(PriorityOf(so_far.pairs[i]), i);
    }
    if (mine.empty()) return {};
    std::sort(mine.begin(), mine.end());
    std::vector<size_t> round = KnownToOthers(so_far);
    for (size_t i = 0; i < mine.size() && i * spec_.metrics.size() < kPlansAtOnce; ++i)
      round.push_back(mine[i].second);
    return round;
  }

 private:
  // Reads the store only after another process wrote to it.
  std::vector<size_t> KnownToOthers(const Exploration& so_far) {
    std::vector<size_t> known;
    const std::vector<Store::Row> rows = store_.Query("PRAGMA data_version", {});
    const std::string version = rows.empty() ? "" : rows.front().front();
    if (version == seen_) return known;
    seen_ = version;
    for (size_t i = 0; i < so_far.pairs.size(); ++i) {
      const Pair& pair = so_far.pairs[i];
      if (is_mine_[i] || !pair.IsOpen()) continue;
      const bool is_known =
          std::all_of(spec_.metrics.begin(), spec_.metrics.end(), [&](const std::string& metric) {
            return store_.FindAnswer(planner_.KeyOf({pair.of, metric})).has_value();
          });
      if (is_known) known.push_back(i);
    }
    return known;
  }

  const Spec& spec_;
  const Store& store_;
  const Planner& planner_;
  std::vector<bool> is_mine_;
  std::string seen_;  // the version of the store
};

class Shard {
 public:
  Shard(const Spec& spec, const Store& store, const ShardOptions& options)
      : spec_(spec), store_(store), options_(options) {}

  base::Expected<std::optional<ShardReport>> Run(const std::string& text) {
    const base::Expected<std::vector<Point>> points = spec_.space.Enumerate();
    if (!points) return base::Unexpected(points.error());
    const KeptEstimates estimates(spec_, store_, options_.canceller);
    const base::Expected<std::vector<double>> areas = FindAreas(spec_, *points);
    if (options_.canceller.IsCancelled()) return std::optional<ShardReport>();
    if (!areas) return base::Unexpected(areas.error());
    const std::string digest = DigestOf(spec_, *points, *areas, options_.plan_all);
    Register(digest, text);
    const Attempts attempts(store_);
    Planner planner(spec_, *points, store_,
                    {.threads = options_.threads, .canceller = options_.canceller});
    if (const auto fault = planner.Load()) return base::Unexpected(*fault);
    base::Expected<std::vector<bool>> mine = FindMine(*points, planner);
    if (!mine) return base::Unexpected(mine.error());
    if (options_.canceller.IsCancelled()) return std::optional<ShardReport>();
    if (options_.retry_failed) Retry(digest, attempts, planner, *mine);
    PieceChooser chooser(spec_, store_, planner, *mine);
    RunOptions run;
    run.threads = options_.threads;
    run.canceller = options_.canceller;
    run.plan_all = options_.plan_all;
    run.chooser = &chooser;
    run.attempts = &attempts;
    run.progress = options_.progress;
    const auto found = Explore(spec_, store_, run);
    if (!found) return base::Unexpected(found.error());
    if (!*found) return std::optional<ShardReport>();
    AddPiece("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, 1)", digest);
    if (auto fault = store_.Fault()) return base::Unexpected(*fault);
    return std::optional(ReportOf(**found, *mine));
  }

 private:
  void Register(const std::string& digest, const std::string& text) const {
    std::error_code error;
    const std::filesystem::path file = std::filesystem::absolute(spec_.file, error);
    MakeShardTables(store_);
    store_.Query("INSERT OR REPLACE INTO specifications VALUES (?, ?, ?, ?)",
                 {digest, text, error ? spec_.file : file.string(), options_.plan_all ? "1" : "0"});
    AddPiece("INSERT OR IGNORE INTO pieces VALUES (?, ?, ?, 0)", digest);
  }

  // Marks the piece as not done until its failed questions are answered.
  void Retry(const std::string& digest, const Attempts& attempts, const Planner& planner,
             const std::vector<bool>& mine) const {
    const size_t points = mine.size() / spec_.networks.size();
    std::set<std::string> keys;
    for (size_t i = 0; i < mine.size(); ++i) {
      for (const std::string& metric : spec_.metrics) {
        if (mine[i]) keys.insert(planner.KeyOf({{i / points, i % points}, metric}));
      }
    }
    AddPiece("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, 0)", digest);
    attempts.Forget(keys);
  }

  void AddPiece(std::string_view sql, const std::string& digest) const {
    store_.Query(
        sql, {digest, std::to_string(options_.piece.index), std::to_string(options_.piece.count)});
  }

  // A part is a pair. If the set has a front, it is a point with all networks, because its points
  // need the answers of all networks.
  base::Expected<std::vector<bool>> FindMine(const std::vector<Point>& points,
                                             const Planner& planner) const {
    std::vector<PairOf> pairs;
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      for (size_t point = 0; point < points.size(); ++point) {
        if (planner.FaultOf(point) == nullptr) pairs.push_back({network, point});
      }
    }
    const auto bounds = planner.FindBounds(pairs);
    if (!bounds) return base::Unexpected(bounds.error());
    const std::vector<double> costs = PredictCosts(spec_, points, planner, pairs, *bounds);
    const bool by_point = spec_.wants_set_front;
    const auto part_of = [&](const PairOf& pair) {
      return by_point ? pair.point : pair.network * points.size() + pair.point;
    };
    std::vector<double> parts(by_point ? points.size() : spec_.networks.size() * points.size());
    for (size_t i = 0; i < pairs.size(); ++i) parts[part_of(pairs[i])] += costs[i];
    const std::vector<size_t> pieces = DivideParts(parts, options_.piece.count);
    std::vector<bool> mine(spec_.networks.size() * points.size());
    for (const PairOf& pair : pairs)
      mine[pair.network * points.size() + pair.point] =
          pieces[part_of(pair)] == options_.piece.index;
    return mine;
  }

  ShardReport ReportOf(const Exploration& found, const std::vector<bool>& mine) const {
    ShardReport report;
    for (size_t i = 0; i < found.pairs.size(); ++i) {
      if (!mine[i]) continue;
      const Pair& pair = found.pairs[i];
      ++report.pairs;
      ++(pair.settled == Settled::kPlanned ? report.planned : report.skipped);
      for (const Answer& answer : pair.answers) {
        if (answer.outcome != kFailed) continue;
        report.failed.push_back(spec_.networks[pair.of.network].name + " on point " +
                                std::to_string(pair.of.point) + ", " + answer.metric +
                                " minimised: " + answer.reason);
      }
    }
    return report;
  }

  const Spec& spec_;
  const Store& store_;
  const ShardOptions& options_;
};

}  // namespace

std::optional<Piece> ParsePiece(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<size_t> index = ParsePieceNumber(text.substr(0, slash));
  const std::optional<size_t> count = ParsePieceNumber(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count || *count > kMostPieces)
    return std::nullopt;
  return Piece{*index, *count};
}

std::vector<size_t> DivideParts(std::span<const double> costs, size_t count) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  using Load = std::pair<double, size_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (size_t piece = 1; piece <= count; ++piece) loads.emplace(0.0, piece);
  std::vector<size_t> pieces(costs.size());
  for (const size_t part : order) {
    auto [load, piece] = loads.top();
    loads.pop();
    pieces[part] = piece;
    loads.emplace(load + costs[part], piece);
  }
  return pieces;
}

std::vector<double> PredictCosts(const Spec& spec, const std::vector<Point>& points,
                                 const Planner& planner, std::span<const PairOf> pairs,
                                 std::span<const Planner::Bounds> bounds) {
  std::vector<double> capacities;
  capacities.reserve(points.size());
  for (const Point& point : points) capacities.push_back(TileCapacityOf(point));
  std::vector<double> costs;
  costs.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto bytes = bounds[i].metrics.find("off_chip_bytes");
    const double moved = bytes == bounds[i].metrics.end() ? 0 : bytes->second;
    costs.push_back(static_cast<double>(spec.metrics.size()) *
                    static_cast<double>(planner.NetworkAt(pairs[i].network).OperatorCount()) *
                    std::log2(2 + moved / capacities[pairs[i].point]));
  }
  return costs;
}

base::Expected<std::optional<ShardReport>> ExploreShard(const Spec& spec, const std::string& text,
                                                        const Store& store,
                                                        const ShardOptions& options) {
  return Shard(spec, store, options).Run(text);
}

void MakeShardTables(const Store& store) {
  store.Query(
      "CREATE TABLE IF NOT EXISTS specifications (digest TEXT PRIMARY KEY, text TEXT, file TEXT,"
      " plan_all TEXT) WITHOUT ROWID",
      {});
  store.Query(
      "CREATE TABLE IF NOT EXISTS pieces (digest TEXT, piece INTEGER, count INTEGER, done INTEGER,"
      " PRIMARY KEY (digest, piece, count)) WITHOUT ROWID",
      {});
}

std::vector<StoredSpec> FindSpecs(const Store& store) {
  MakeShardTables(store);
  std::vector<StoredSpec> specs;
  for (const Store::Row& row : store.Query("SELECT * FROM specifications ORDER BY digest", {})) {
    StoredSpec& spec = specs.emplace_back(StoredSpec{row[0], row[1], row[2], row[3] == "1", {}});
    // Pieces of one division suffice.
    for (const Store::Row& division : store.Query(
             "SELECT count, count(*) FROM pieces WHERE digest = ? GROUP BY count ORDER BY count",
             {spec.digest})) {
      spec.missing.clear();
      std::set<std::string> done;
      for (const Store::Row& piece :
           store.Query("SELECT piece FROM pieces WHERE digest = ? AND count = ? AND done = 1",
                       {spec.digest, division[0]}))
        done.insert(piece[0]);
      for (size_t i = 1; i <= std::stoul(division[0]); ++i) {
        if (!done.contains(std::to_string(i)))
          spec.missing.push_back(std::to_string(i) + "/" + division[0]);
      }
      if (spec.missing.empty()) break;
    }
  }
  return specs;
}

}  // namespace tessera::explore
