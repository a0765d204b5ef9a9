// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/choices/equal_intervals.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/homes.h"

namespace tessera::search::partition::choices {
namespace {

// A description that is longer than this takes more time than it saves.
constexpr size_t kMostWords = 8192;

// Words that differ from all numbers of operators and tensors.
constexpr int kNone = -1;
constexpr int kBefore = -2;  // the interval
constexpr int kAfter = -3;
constexpr int kEnd = -4;  // of a list
constexpr int kTheTensor = -5;

size_t Mix(size_t hash, size_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15U + (hash >> 29U);
}

template <typename Values>
size_t MixAll(size_t hash, const Values& values) {
  hash = Mix(hash, std::size(values));
  for (const auto value : values) hash = Mix(hash, static_cast<size_t>(value));
  return hash;
}

size_t HashOf(const graph::Operator& op) {
  size_t hash = static_cast<size_t>(op.kind);
  hash = MixAll(hash, op.window.kernel);
  hash = MixAll(hash, op.window.stride);
  hash = MixAll(hash, op.axes);
  return Mix(hash, std::hash<std::string_view>()(op.function));
}

size_t HashOf(const graph::Tensor& tensor) {
  return MixAll(Mix(static_cast<size_t>(tensor.type), tensor.constant ? 1 : 0), tensor.shape);
}

graph::Operator WithoutNames(const graph::Operator& op) {
  graph::Operator bare = op;
  bare.id.clear();
  bare.inputs.clear();
  bare.weights.clear();
  bare.outputs.clear();
  bare.annotations.clear();
  return bare;
}

graph::Tensor WithoutNames(const graph::Tensor& tensor) {
  graph::Tensor bare = tensor;
  bare.id.clear();
  bare.next_of = -1;
  bare.annotations.clear();
  return bare;
}

// Whether the tensor's home is the tile memory. As a feature inside of an interval, it has another
// role, but then the interval touches it.
bool IsAtHome(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor) {
  const base::TensorRole role = encoder::program::RoleAtHome(graph, tensor);
  return encoder::program::HomeOf(graph, profile, tensor, role) == profile.tile_memory;
}

}  // namespace

ShapePrices SharedPrices::Find(const graph::tiling::TileShape& shape,
                               const std::function<ShapePrices()>& price, const base::Stop& stop) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(shape);
  if (known != known_.end()) return known->second;
  ShapePrices prices = price();
  const auto size = static_cast<int64_t>(prices.priced.size() + prices.held.size()) + 1;
  if (!stop.Requested() && room_->Take(size)) known_.emplace(shape, prices);
  return prices;
}

double SharedPrices::FindBound(const graph::tiling::TileShape& shape, const cost::Tie& floor,
                               const std::function<double()>& bound, const base::Stop& stop) {
  const std::lock_guard lock(mutex_);
  auto of_floor = std::find_if(bounds_.begin(), bounds_.end(),
                               [&floor](const auto& each) { return each.first == floor; });
  if (of_floor == bounds_.end()) of_floor = bounds_.insert(of_floor, {floor, {}});
  const auto known = of_floor->second.find(shape);
  if (known != of_floor->second.end()) return known->second;
  const double found = bound();
  if (!stop.Requested() && room_->TakeForBound()) of_floor->second.emplace(shape, found);
  return found;
}

bool SharedPrices::FindOnce(std::optional<bool>& known, const std::function<bool()>& find,
                            const base::Stop& stop) {
  const std::lock_guard lock(mutex_);
  if (known) return *known;
  const bool found = find();
  if (!stop.Requested()) known = found;
  return found;
}

size_t PriceStore::Hash::operator()(const std::vector<int64_t>& words) const {
  return MixAll(0, words);
}

template <typename Part>
int PriceStore::Distinct<Part>::NumberOf(Part part, size_t hash) {
  const auto [begin, end] = positions.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (parts[static_cast<size_t>(at->second)] == part) return at->second;
  }
  const auto number = static_cast<int>(parts.size());
  parts.push_back(std::move(part));
  positions.emplace(hash, number);
  return number;
}

std::vector<int> PriceStore::NumbersOf(std::span<const graph::Operator> operators) {
  const std::lock_guard lock(mutex_);
  std::vector<int> numbers;
  for (const graph::Operator& op : operators)
    numbers.push_back(operators_.NumberOf(WithoutNames(op), HashOf(op)));
  return numbers;
}

std::vector<int> PriceStore::NumbersOf(std::span<const graph::Tensor> tensors) {
  const std::lock_guard lock(mutex_);
  std::vector<int> numbers;
  for (const graph::Tensor& tensor : tensors)
    numbers.push_back(tensors_.NumberOf(WithoutNames(tensor), HashOf(tensor)));
  return numbers;
}

std::shared_ptr<SharedPrices> PriceStore::PricesOf(std::vector<int64_t> description) {
  constexpr size_t kWordsOfPrice = 32;  // words that take as much space as a configuration
  const std::lock_guard lock(mutex_);
  const auto size = static_cast<int64_t>(description.size() / kWordsOfPrice) + 1;
  std::shared_ptr<SharedPrices>& prices = prices_[std::move(description)];
  if (prices == nullptr) {
    prices = std::make_shared<SharedPrices>(room_);
    if (sharing_ == Sharing::kManySearches) room_->Take(size);
  }
  return prices;
}

// ---- descriptions ----

class EqualIntervals::Description {
 public:
  Description(const EqualIntervals& all, graph::Interval interval,
              std::span<const encoder::program::Policy> policies)
      : all_(all), interval_(interval) {
    CollectTensors(policies);
    AddOperators();
    for (const int tensor : tensors_) AddTensor(tensor);
    AddResting();
    for (const encoder::program::Policy& policy : policies) AddPolicy(policy);
  }

  void Add(int64_t word) { words_.push_back(word); }
  std::vector<int64_t> Take() { return std::move(words_); }

 private:
  const graph::Operator& OpAt(int op) const {
    return all_.graph_.operators[static_cast<size_t>(op)];
  }

  // Collects the tensors that the operators touch, those that are kept, and their states and next
  // values.
  void CollectTensors(std::span<const encoder::program::Policy> policies) {
    const auto take = [this](const std::vector<int>& some) {
      tensors_.insert(tensors_.end(), some.begin(), some.end());
    };
    for (int op = interval_.first; op <= interval_.last; ++op) {
      take(OpAt(op).inputs);
      take(OpAt(op).weights);
      take(OpAt(op).outputs);
    }
    for (const encoder::program::Policy& policy : policies)
      kept_.insert(kept_.end(), policy.kept.begin(), policy.kept.end());
    std::sort(kept_.begin(), kept_.end());
    take(kept_);
    for (size_t i = 0, end = tensors_.size(); i < end; ++i) {
      const int state = all_.graph_.tensors[static_cast<size_t>(tensors_[i])].next_of;
      if (state >= 0) tensors_.push_back(state);
      if (const auto next = all_.next_.find(tensors_[i]); next != all_.next_.end())
        take(next->second);
    }
    std::sort(tensors_.begin(), tensors_.end());
    tensors_.erase(std::unique(tensors_.begin(), tensors_.end()), tensors_.end());
  }

  // Whether a tensor that the operators do not touch takes space in its home while they run. The
  // next value of a state may lie in the place of the state, so bounds of the room leave it out.
  bool Rests(int tensor) const {
    const graph::Tensor& its = all_.graph_.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = all_.usages_[static_cast<size_t>(tensor)];
    if (its.constant || its.state) return true;
    if (its.next_of >= 0 || usage.producer > interval_.last) return false;
    return its.network_output || usage.consumers.empty() || usage.consumers.back() > interval_.last;
  }

  int64_t RankOf(int tensor) const {
    const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), tensor);
    return at != tensors_.end() && *at == tensor ? at - tensors_.begin() : -1;
  }

  void AddRanks(const std::vector<int>& tensors) {
    Add(static_cast<int64_t>(tensors.size()));
    for (const int tensor : tensors) Add(RankOf(tensor));
  }

  void AddOperators() {
    Add(interval_.last - interval_.first + 1);
    for (int op = interval_.first; op <= interval_.last; ++op) {
      Add(all_.operators_[static_cast<size_t>(op)]);
      AddRanks(OpAt(op).inputs);
      AddRanks(OpAt(op).weights);
      AddRanks(OpAt(op).outputs);
    }
    Add(static_cast<int64_t>(tensors_.size()));
  }

  void AddTensor(int tensor) {
    const auto at = static_cast<size_t>(tensor);
    const graph::Tensor& its = all_.graph_.tensors[at];
    const std::vector<int>& consumers = all_.usages_[at].consumers;
    Add(all_.tensors_[at]);
    Add(its.next_of >= 0 ? RankOf(its.next_of) : -1);
    AddUser(all_.usages_[at].producer, tensor);
    for (const int consumer : consumers) {
      if (IsInside(consumer)) AddUser(consumer, tensor);
    }
    const bool lasts = !its.constant && !consumers.empty() && consumers.back() > interval_.last;
    Add(lasts && MayOccupyTileMemory(tensor) ? kAfter : kNone);
    AddAll(ConsumersOutside(tensor));
  }

  // Whether the tensor, and not only a tile of it, may lie in the tile memory or leaves the
  // interval. If so, it matters whether it is read later: that decides how long it stays, and
  // whether a next value may take the place of its state.
  bool MayOccupyTileMemory(int tensor) const {
    return IsInside(all_.usages_[static_cast<size_t>(tensor)].producer) ||
           std::binary_search(kept_.begin(), kept_.end(), tensor) ||
           std::binary_search(all_.at_home_.begin(), all_.at_home_.end(), tensor);
  }

  // Returns the consumers outside the interval as a set, because operators all over the network may
  // read a tensor. Its pads and tables depend on which they are, not on their order.
  std::vector<int> ConsumersOutside(int tensor) const {
    std::set<std::vector<int>> consumers;
    for (const int consumer : all_.usages_[static_cast<size_t>(tensor)].consumers) {
      if (!IsInside(consumer)) consumers.insert(UserOf(consumer, tensor));
    }
    std::vector<int> words;
    for (const std::vector<int>& user : consumers)
      words.insert(words.end(), user.begin(), user.end());
    words.push_back(kEnd);
    return words;
  }

  // Adds tensors that lie in the tile memory for the whole interval, because it is their home. They
  // only take space, so their order does not matter.
  void AddResting() {
    std::vector<std::vector<int>> resting;
    for (const int tensor : all_.at_home_) {
      if (RankOf(tensor) >= 0 || !Rests(tensor)) continue;
      resting.push_back(ConsumersOutside(tensor));
      resting.back().push_back(all_.tensors_[static_cast<size_t>(tensor)]);
    }
    std::sort(resting.begin(), resting.end());
    for (const std::vector<int>& words : resting) AddAll(words);
    Add(kEnd);
  }

  bool IsInside(int op) const { return op >= interval_.first && op <= interval_.last; }

  // Adds a producer or consumer: its position in the interval; or, outside, the operator itself.
  void AddUser(int op, int tensor) {
    if (op < 0) return Add(kNone);
    if (IsInside(op)) return Add(op - interval_.first);
    Add(op < interval_.first ? kBefore : kAfter);
    AddAll(UserOf(op, tensor));
  }

  // Returns an operator outside, and which of its operands and results the tensor is.
  std::vector<int> UserOf(int op, int tensor) const {
    std::vector<int> words = {all_.operators_[static_cast<size_t>(op)]};
    for (const std::vector<int>* some : {&OpAt(op).inputs, &OpAt(op).weights, &OpAt(op).outputs}) {
      for (const int each : *some) words.push_back(each == tensor ? kTheTensor : 0);
      words.push_back(kEnd);
    }
    return words;
  }

  void AddAll(const std::vector<int>& words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  void AddPolicy(const encoder::program::Policy& policy) {
    Add(static_cast<int64_t>(policy.weights));
    Add(policy.in_place ? 1 : 0);
    Add(static_cast<int64_t>(policy.halo));
    AddRanks(policy.kept);
    Add(policy.k_extent);
    Add(policy.serialized ? 1 : 0);
  }

  const EqualIntervals& all_;
  graph::Interval interval_;
  std::vector<int> tensors_;  // ascending
  std::vector<int> kept_;     // by any policy; ascending
  std::vector<int64_t> words_;
};

EqualIntervals::EqualIntervals(const graph::Graph& graph, std::span<const graph::Usage> usages,
                               const hw_profiles::Profile& profile, PriceStore& store)
    : graph_(graph),
      usages_(usages),
      store_(store),
      operators_(store.NumbersOf(std::span(graph.operators))),
      tensors_(store.NumbersOf(std::span(graph.tensors))) {
  std::map<int, int> counts;
  for (const int number : operators_) ++counts[number];
  once_.push_back(0);
  for (const int number : operators_) once_.push_back(once_.back() + (counts[number] == 1 ? 1 : 0));
  for (int tensor = 0; tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const int state = graph.tensors[static_cast<size_t>(tensor)].next_of;
    if (state >= 0) next_[state].push_back(tensor);
    if (IsAtHome(graph, profile, tensor)) at_home_.push_back(tensor);
  }
}

std::shared_ptr<SharedPrices> EqualIntervals::PricesOf(
    graph::Interval interval, std::span<const encoder::program::Policy> policies,
    encoder::program::TilesMade made, bool holds_back) const {
  const bool has_unique =
      once_[static_cast<size_t>(interval.last) + 1] > once_[static_cast<size_t>(interval.first)];
  if (has_unique && store_.SharedBy() == PriceStore::Sharing::kOneSearch) return nullptr;
  Description description(*this, interval, policies);
  description.Add(static_cast<int64_t>(made));
  description.Add(holds_back ? 1 : 0);
  std::vector<int64_t> words = description.Take();
  return words.size() > kMostWords ? nullptr : store_.PricesOf(std::move(words));
}

std::shared_ptr<PriceStore> KeptPrices::Of(const plan::Objective& objective) {
  if (objective.weights.size() > 1) return nullptr;
  const Key key(objective.weights, objective.limits);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(stores_.begin(), stores_.end(),
                                  [&key](const auto& each) { return each.first == key; });
  if (found != stores_.end()) stores_.splice(stores_.begin(), stores_, found);
  const bool is_known = found != stores_.end();
  if (is_known && !stores_.front().second->IsFull()) return stores_.front().second;
  auto empty = std::make_shared<PriceStore>(most_, PriceStore::Sharing::kManySearches);
  if (is_known) {
    stores_.front().second = empty;
    return empty;
  }
  if (stores_.size() == kMostObjectives) stores_.pop_back();
  stores_.emplace_front(key, empty);
  return empty;
}

void KeptPrices::Clear() {
  const std::lock_guard lock(mutex_);
  stores_.clear();
}

}  // namespace tessera::search::partition::choices
