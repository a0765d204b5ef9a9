// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/choose.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/choose/fill.h"
#include "tessera/search/choose/items.h"
#include "tessera/search/choose/subsets.h"
#include "tessera/search/choose/value_bound.h"

namespace tessera::search::choose {

using engines::order_search::Effort;
using engines::order_search::Instance;
using problem::Allocation;
using problem::Engine;
using problem::Fallbacks;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

constexpr int64_t kCoreUnits = 20'000;  // of a placement, in the search for a core
constexpr int kFirstPricings = 16;      // before the first choice
constexpr int64_t kSteps = 32;          // from the bound to the value, in the first search
constexpr int kFirstFills = 3;          // without gain, for many items, before a bound by subsets
constexpr int kFills = 60;              // without gain, for fewer items, before the proof
constexpr int kFillsWithoutGain = 400;  // at the end
constexpr size_t kManyItems = 4'000;    // above that, no proof by engines is tried

class Chooser {
 public:
  Chooser(const Problem& problem, std::span<const Engine* const> engines,
          const ChooseOptions& options)
      : problem_(problem),
        engines_(engines),
        options_(options),
        stop_(options.stop != nullptr ? *options.stop : never_),
        capacity_(options.capacity.value_or(problem.memories[0].capacity)),
        fallbacks_(options.fallbacks != nullptr ? *options.fallbacks : Fallbacks()),
        items_(FindItems(problem, capacity_, fallbacks_)),
        prices_(items_, kFirstPricings, stop_) {
    choice_.bound = prices_.Bound();
    for (size_t i = 0; i < fallbacks_.size(); ++i) {
      if (!fallbacks_[i]) continue;
      value_of_fallbacks_ += fallbacks_[i]->value;
      leaves_memory_ |= fallbacks_[i]->memory != problem.buffers[i].memory;
    }
  }

  base::Expected<Choice> Run() {
    ReportProgress("bound", choice_.bound);
    if (!PlaceRequired()) return Conclude();
    const bool is_plain = IsPlain();
    MakeFirstChoice(is_plain);
    prices_.Improve(Prices::RoundsFor(items_) - kFirstPricings, stop_);
    choice_.bound = prices_.Bound();
    ReportProgress("bound", choice_.bound);
    if (is_plain && !stop_.Requested()) StartFiller();
    const bool is_large = items_.all.size() > kManyItems;
    if (filler_) Fill(is_large ? kFirstFills : kFills);
    if (!is_plain) PlaceAdmitted();
    is_large ? BoundBySubset() : Prove();
    if (filler_) Fill(kFillsWithoutGain);
    return Conclude();
  }

 private:
  bool IsClosed() const { return has_choice_ && choice_.value >= choice_.bound; }

  void ReportProgress(std::string what, int64_t value) const {
    if (!options_.progress) return;
    const std::string line = std::move(what) + " " + std::to_string(value + value_of_fallbacks_);
    options_.progress({.line = line,
                       .phase = "value",
                       .done = choice_.value + value_of_fallbacks_,
                       .total = choice_.bound + value_of_fallbacks_});
  }

  // Whether Filler supports the problem.
  bool IsPlain() const {
    if (problem_.memories.size() > 1 || !problem_.rules.empty() || !fallbacks_.empty())
      return false;
    if (allocate::FindUnsupported(problem_, allocate::BankSupport::kNone)) return false;
    return !engines::order_search::FindUnsupportedBuffer(problem_, 0);
  }

  Result Place(const std::vector<bool>& chosen, int64_t units, StandIns which = StandIns::kAll) {
    const Part part = PartOf(problem_, items_, chosen, fallbacks_, which);
    Result result;
    allocate::AllocateOptions options;
    options.capacity = capacity_;
    options.budget.units = std::min(units, options_.budget.units);
    options.threads = options_.threads;
    options.stop = &stop_;
    base::Expected<Result> answer = Allocate(part.problem, nullptr, 0, engines_, options);
    if (!answer) {
      fault_ = std::move(answer.error());
      return result;
    }
    if (answer->status == Status::kUnsupported) refusal_ = answer->reason;
    return *std::move(answer);
  }

  // Stores a placement of the chosen items if they are worth more than the best so far.
  void Take(const std::vector<bool>& chosen, const Allocation& allocation, std::string engine) {
    const int64_t value = ValueOf(items_, chosen);
    if (has_choice_ && value <= choice_.value) return;
    const Part part = PartOf(problem_, items_, chosen, fallbacks_);
    const auto violations = problem::Validate(part.problem, allocation, capacity_, 1);
    if (!violations.empty()) {
      base::Diagnostic fault;
      fault.message = "the engine '" + engine + "' returned a wrong allocation";
      fault.found = violations.front().message;
      fault.hint = "this is a fault of the program, not of the input; please report it";
      fault_ = std::move(fault);
      return;
    }
    has_choice_ = true;
    choice_.value = value;
    choice_.engine = std::move(engine);
    choice_.modes = allocation.modes;
    choice_.chosen.assign(problem_.buffers.size(), false);
    choice_.stands_in = choice_.chosen;
    choice_.offsets.assign(problem_.buffers.size(), 0);
    for (size_t i = 0; i < part.buffers.size(); ++i) {
      const auto buffer = static_cast<size_t>(part.buffers[i]);
      (i < part.chosen ? choice_.chosen : choice_.stands_in)[buffer] = true;
      choice_.offsets[buffer] = allocation.offsets[i];
    }
    ReportProgress("value", value);
  }

  // Places the items without a value and all fallbacks; these alone are the first choice. If they
  // do not fit only because of fallbacks in other memories, a choice of more items may fit. Returns
  // whether the search can continue.
  bool PlaceRequired() {
    std::vector<bool> required(items_.all.size());
    for (size_t i = 0; i < required.size(); ++i) required[i] = !items_.all[i].is_optional;
    if (PartOf(problem_, items_, required, fallbacks_).buffers.empty()) {
      has_choice_ = true;  // an empty one
      choice_.chosen.assign(problem_.buffers.size(), false);
      choice_.stands_in = choice_.chosen;
      choice_.offsets.assign(problem_.buffers.size(), 0);
      return true;
    }
    const Result result = Place(required, options_.budget.units);
    if (result.allocation) Take(required, *result.allocation, result.engine);
    if (result.allocation || fault_) return !fault_;
    choice_.reason = fallbacks_.empty() ? "of the buffers without a value: "
                                        : "of the buffers without a value, and all fallbacks: ";
    choice_.reason += result.reason;
    const bool may_fit =
        leaves_memory_ && result.status == Status::kInfeasible &&
        Place(required, options_.budget.units, StandIns::kInPlace).allocation.has_value();
    if (!may_fit) choice_.status = result.status;
    return may_fit && !fault_;
  }

  // Makes a filler with the current prices.
  void StartFiller() {
    if (!filler_) instance_ = engines::order_search::MakeInstance(problem_, 0);
    // The instance rounds sizes up to the common alignment; only engines use the last bytes below
    // an unaligned capacity.
    const Bytes unit = engines::order_search::CommonAlignment(problem_, 0);
    filler_.emplace(items_, prices_, instance_, base::RoundDown(capacity_, unit), options_.seed);
  }

  // Makes a choice with rough prices. By engines only if there are many items: for few items, the
  // final prices are found quickly.
  void MakeFirstChoice(bool is_plain) {
    if (is_plain) {
      StartFiller();
      Effort effort(WorkOfFills(), stop_);
      FillOnce(effort);
    } else if (Prices::RoundsFor(items_) == Prices::kLeastRounds) {
      PlaceAdmitted();
    }
  }

  // Fills until `without_gain` choices in a row gained nothing.
  void Fill(int without_gain) {
    if (fault_) return;
    Effort effort(WorkOfFills(), stop_);
    for (int failures = 0;
         failures < without_gain && !effort.IsOver() && !IsClosed() && !stop_.Requested();) {
      const int64_t before = filler_->Value();
      if (!FillOnce(effort)) return;
      failures = filler_->Value() > before ? 0 : failures + 1;
    }
  }

  int64_t WorkOfFills() const { return std::min(options_.budget.units, base::kMaxTotal / 64) * 32; }

  // Makes one choice by first fit and stores it if it is worth more. Returns false after a stop, a
  // fault or the end of the effort.
  bool FillOnce(Effort& effort) {
    const int64_t before = filler_->Value();
    const bool continues = filler_->Fill(effort);
    if (filler_->Value() > std::max(before, choice_.value)) TakeFilled();
    return continues && !fault_;
  }

  void TakeFilled() {
    std::vector<Bytes> by_problem(problem_.buffers.size(), 0);
    for (size_t i = 0; i < instance_.origin.size(); ++i)
      by_problem[static_cast<size_t>(instance_.origin[i])] = filler_->Offsets()[i];
    Allocation allocation;
    for (const int buffer : PartOf(problem_, items_, filler_->Chosen(), fallbacks_).buffers)
      allocation.offsets.push_back(by_problem[static_cast<size_t>(buffer)]);
    allocation.modes = problem::ConstantModes(problem_);
    Take(filler_->Chosen(), allocation, "first fit");
  }

  // Whether the fallback of the item takes bytes of another memory.
  bool LeavesMemory(int item) const {
    const std::vector<int>& buffers = items_.all[static_cast<size_t>(item)].buffers;
    return std::any_of(buffers.begin(), buffers.end(), [this](int buffer) {
      const auto at = static_cast<size_t>(buffer);
      return !fallbacks_.empty() && fallbacks_[at] &&
             fallbacks_[at]->memory != problem_.buffers[at].memory;
    });
  }

  // For problems that first fit does not support: lets engines place items by attraction. If there
  // is no choice yet, because another memory lacks room for fallbacks, a second order begins with
  // the items that have such fallbacks.
  void PlaceAdmitted() {
    std::vector<int> order = prices_.OptionalByAttraction();
    PlaceAdmitted(order);
    if (has_choice_ || !leaves_memory_) return;
    std::stable_partition(order.begin(), order.end(),
                          [this](int item) { return LeavesMemory(item); });
    PlaceAdmitted(order);
  }

  // Admits items in this order, and leaves out a twentieth of them at a time until engines place
  // the rest.
  void PlaceAdmitted(const std::vector<int>& order) {
    std::vector<bool> chosen(items_.all.size());
    for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = !items_.all[i].is_optional;
    std::vector<int> taken = Admit(items_, order, chosen);
    while (!taken.empty() && !stop_.Requested() && !fault_) {
      const Result result = Place(chosen, 10 * kCoreUnits);
      if (result.allocation) return Take(chosen, *result.allocation, result.engine);
      for (size_t left = 1 + taken.size() / 20; left > 0; --left) {
        chosen[static_cast<size_t>(taken.back())] = false;
        taken.pop_back();
      }
    }
  }

  // Returns the best subset by bytes alone that is worth more than the best choice. The wanted
  // value falls from the bound in growing steps: a higher value means fewer states, and the first
  // subset found is the best of all. A step without a subset lowers the bound.
  BestSubset FindNext() {
    SubsetQuery query;
    query.cores = &cores_;
    BestSubset best;
    for (int64_t step = std::max<int64_t>(1, (choice_.bound - choice_.value) / kSteps);;
         step *= 2) {
      query.more_than = std::max(choice_.value, choice_.bound - step);
      best = FindBestSubset(items_, prices_, query, stop_);
      if (!best.is_complete || best.items) return best;
      choice_.bound = query.more_than;
      ReportProgress("bound", choice_.bound);
      if (choice_.bound <= choice_.value) return best;
    }
  }

  // Uses the best subset by bytes alone as a bound, and as the items that the filler prefers.
  void BoundBySubset() {
    if (IsClosed() || fault_ || stop_.Requested()) return;
    const BestSubset best = FindNext();
    if (!best.is_complete || !best.items) return;
    choice_.bound = std::min(choice_.bound, best.value);
    ReportProgress("bound", choice_.bound);
    if (filler_) filler_->Prefer(*best.items);
  }

  // Finds the best subset by bytes alone until engines place one; each that does not fit adds a
  // core.
  void Prove() {
    while (!IsClosed() && !fault_ && !stop_.Requested()) {
      BestSubset best = FindNext();
      if (!best.is_complete || !best.items) return;
      choice_.bound = std::min(choice_.bound, best.value);
      ReportProgress("bound", choice_.bound);
      const Result result = Place(*best.items, options_.budget.units);
      if (result.allocation) {
        Take(*best.items, *result.allocation, result.engine);
        continue;
      }
      std::optional<Core> core;
      if (result.status == Status::kInfeasible) core = CoreOf(*std::move(best.items));
      if (!core) return;
      cores_.push_back(*std::move(core));
    }
  }

  // Returns a part of the items that is proven not to fit and, as far as small searches show, needs
  // each of its items for that. A subset that fits on the way is a choice. Leaving out an item
  // never takes more bytes of its own memory, but its fallback may take bytes of another one. So
  // with fallbacks in other memories, a core must not fit even without these; nullopt if that is
  // not proven for the items.
  std::optional<Core> CoreOf(std::vector<bool> items) {
    const StandIns which = leaves_memory_ ? StandIns::kInPlace : StandIns::kAll;
    if (leaves_memory_ && Place(items, options_.budget.units, which).status != Status::kInfeasible)
      return std::nullopt;
    std::vector<int> order = prices_.OptionalByAttraction();
    for (const int i : order) {
      const auto at = static_cast<size_t>(i);
      if (!items[at] || stop_.Requested() || fault_) continue;
      items[at] = false;
      const Result result = Place(items, kCoreUnits, which);
      if (result.status == Status::kInfeasible) continue;
      if (result.allocation && !leaves_memory_) Take(items, *result.allocation, result.engine);
      items[at] = true;
    }
    Core core;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i] && items_.all[i].is_optional) core.push_back(static_cast<int>(i));
    }
    return core;
  }

  base::Expected<Choice> Conclude() {
    if (fault_) return base::Unexpected(*std::move(fault_));
    const bool is_closed = IsClosed();
    choice_.value += value_of_fallbacks_;
    choice_.bound += value_of_fallbacks_;
    if (!has_choice_) return std::move(choice_);
    const bool is_empty = std::count(choice_.chosen.begin(), choice_.chosen.end(), true) == 0;
    if (!is_closed && is_empty && !refusal_.empty() && !stop_.Requested()) {
      Choice none{.status = Status::kUnsupported, .reason = std::move(refusal_)};
      none.bound = choice_.bound;
      return none;
    }
    choice_.status = is_closed ? Status::kOptimal : Status::kFeasible;
    if (is_closed)
      choice_.reason = "the value equals an upper bound";
    else if (stop_.IsOutOfMemory())
      choice_.reason = "the memory limit was reached before the greatest value was proven";
    else if (stop_.Requested())
      choice_.reason = "stopped before the greatest value was proven";
    else if (!refusal_.empty())
      choice_.reason = std::move(refusal_);
    else
      choice_.reason = "no search could prove the greatest value";
    return std::move(choice_);
  }

  const base::Stop never_;
  const Problem& problem_;
  std::span<const Engine* const> engines_;
  const ChooseOptions& options_;
  const base::Stop& stop_;
  Bytes capacity_;
  const Fallbacks fallbacks_;
  int64_t value_of_fallbacks_ = 0;  // the values of items do not include it
  bool leaves_memory_ = false;      // a fallback is in another memory than its buffer
  Items items_;
  Prices prices_;
  Instance instance_;
  std::optional<Filler> filler_;
  std::vector<Core> cores_;
  std::string refusal_;  // why engines did not support a query
  bool has_choice_ = false;
  Choice choice_;
  std::optional<base::Diagnostic> fault_;
};

}  // namespace

base::Expected<Choice> Choose(const Problem& problem, std::span<const Engine* const> engines,
                              const ChooseOptions& options) {
  try {
    auto fault = problem::CheckWellFormed(problem);
    if (!fault && options.fallbacks != nullptr)
      fault = problem::CheckWellFormed(problem, *options.fallbacks);
    if (fault)
      return Choice{.status = Status::kInvalid, .reason = fault->pointer + ": " + fault->message};
    return Chooser(problem, engines, options).Run();
  } catch (const std::bad_alloc&) {
    if (options.stop != nullptr) options.stop->NoteFailedAllocation();
    return Choice{.status = Status::kUnknown, .reason = "memory is exhausted"};
  }
}

}  // namespace tessera::search::choose
