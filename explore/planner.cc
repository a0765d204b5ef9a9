// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/planner.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/api/errors.h"
#include "tessera/base/process.h"

namespace tessera::explore {
namespace {

std::map<std::string, double> FiguresOf(const std::string& text) {
  std::map<std::string, double> figures;
  if (text.empty()) return figures;
  const Json json = Json::parse(text);
  for (const auto& [name, value] : json.items()) figures[name] = value.get<double>();
  return figures;
}

std::string ImportText(const NetworkEntry& network) {
  Json json = Json::object();
  for (const auto& [name, extent] : network.import.dims) json["dims"][name] = extent;
  if (!network.import.floats_as.empty()) json["floats_as"] = network.import.floats_as;
  return json.dump();
}

}  // namespace

std::string OptionsText(const Settings& settings, const NetworkEntry& network,
                        const std::string& metric) {
  Json json = {{"minimize", metric},
               {"limits", AsJson(std::map<std::string, double>{network.limits.begin(),
                                                               network.limits.end()})},
               {"budget", settings.budget},
               {"seed", settings.seed}};
  if (settings.max_operators) json["max_operators"] = *settings.max_operators;
  if (settings.keep_order) json["order"] = "given";
  if (!settings.keep_boundaries) json["keep"] = false;
  return json.dump();
}

std::string NetworkKey(const NetworkEntry& network) { return network.digest + ImportText(network); }

Planner::Planner(const Spec& spec, const std::vector<Point>& points, const Store& store,
                 PlannerOptions options)
    : spec_(spec), points_(points), store_(store), options_(std::move(options)) {
  if (!session_.HasState() || !options_.canceller.HasState()) throw std::bad_alloc();
  for (const Point& point : points_) digests_.push_back(DigestOf(point.text));
}

std::optional<base::Diagnostic> Planner::InParallel(
    size_t count, const std::function<std::optional<base::Diagnostic>(size_t)>& work) const {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::optional<base::Diagnostic>> faults(count);
  const auto run = [&] {
    for (size_t i = next++; i < count && !failed; i = next++) {
      try {
        faults[i] = work(i);
      } catch (const std::bad_alloc&) {
        failed = true;
        throw;
      } catch (const std::exception& exception) {
        faults[i].emplace().message = exception.what();
      }
      if (faults[i]) failed = true;
    }
  };
  base::RunOnThreads(options_.threads.AtMost(count), run);
  const auto fault =
      std::find_if(faults.begin(), faults.end(), [](const auto& each) { return each.has_value(); });
  return fault == faults.end() ? std::nullopt : *fault;
}

std::optional<base::Diagnostic> Planner::Load() {
  for (const NetworkEntry& entry : spec_.networks) {
    Result<Network> network = Network::Load(entry.file, entry.import);
    if (!network) return api::AsDiagnostic(network.Error());
    networks_.push_back(*std::move(network));
  }
  profiles_.resize(points_.size());
  faults_.resize(points_.size());
  auto fault = InParallel(points_.size(), [&](size_t i) -> std::optional<base::Diagnostic> {
    Result<Profile> profile = Profile::Parse(points_[i].text, "profile");
    if (profile) {
      profiles_[i] = *std::move(profile);
    } else {
      const Error& error = profile.Error();
      api::ThrowIfExhausted(error);
      faults_[i] = error.message + (error.expected.empty() ? "" : "; expected " + error.expected) +
                   (error.found.empty() ? "" : "; found " + error.found);
    }
    return std::nullopt;
  });
  if (fault) return fault;
  store_.Begin();
  for (size_t i = 0; i < points_.size(); ++i) store_.AddProfile(digests_[i], points_[i].text);
  for (const NetworkEntry& entry : spec_.networks)
    store_.AddNetwork({NetworkKey(entry), entry.file, ImportText(entry)});
  store_.Commit();
  return store_.Fault();
}

const std::string* Planner::FaultOf(size_t point) const {
  return profiles_[point] ? nullptr : &faults_[point];
}

std::string Planner::KeyOfBounds(const PairOf& pair) const {
  const NetworkEntry& network = spec_.networks[pair.network];
  const Json limits =
      AsJson(std::map<std::string, double>{network.limits.begin(), network.limits.end()});
  return DigestOf(std::string(Version()) + "\nbounds\n" + NetworkKey(network) + "\n" +
                  points_[pair.point].text + "\n" + limits.dump());
}

std::optional<base::Diagnostic> Planner::ComputeBounds(const PairOf& pair, Bounds& bounds) const {
  const std::vector<MetricValue>& limits = spec_.networks[pair.network].limits;
  const Network& network = networks_[pair.network];
  const Profile& profile = *profiles_[pair.point];
  const Result<std::vector<MetricValue>> values = LowerBounds(network, profile, limits);
  if (!values) return api::AsDiagnostic(values.Error());
  const Result<std::string> none = WhyNoPlan(network, profile, limits);
  if (!none) return api::AsDiagnostic(none.Error());
  bounds = {{values->begin(), values->end()}, *none};
  return std::nullopt;
}

base::Expected<std::vector<Planner::Bounds>> Planner::FindBounds(
    std::span<const PairOf> pairs) const {
  std::vector<Bounds> bounds(pairs.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (const std::optional<std::string> found = store_.FindBounds(KeyOfBounds(pairs[i]))) {
      const Json json = Json::parse(*found);
      bounds[i] = {FiguresOf(json.at("metrics").dump()), json.value("none", "")};
    } else {
      open.push_back(i);
    }
  }
  const auto fault = InParallel(open.size(), [&](size_t i) -> std::optional<base::Diagnostic> {
    if (options_.canceller.IsCancelled()) return std::nullopt;
    return ComputeBounds(pairs[open[i]], bounds[open[i]]);
  });
  if (fault) return base::Unexpected(*fault);
  store_.Begin();
  for (const size_t i : open) {
    if (bounds[i].metrics.empty()) continue;
    Json json = {{"metrics", AsJson(bounds[i].metrics)}};
    if (!bounds[i].none.empty()) json["none"] = bounds[i].none;
    store_.AddBounds(KeyOfBounds(pairs[i]), json.dump());
  }
  store_.Commit();
  if (auto broken = store_.Fault()) return base::Unexpected(*broken);
  return bounds;
}

PlanOptions Planner::OptionsFor(const Question& question) const {
  const Settings& settings = spec_.settings;
  PlanOptions options;
  options.minimize = {{question.metric, 1}};
  options.limits = spec_.networks[question.pair.network].limits;
  options.max_operators = settings.max_operators;
  options.keep_order = settings.keep_order;
  options.keep_boundaries = settings.keep_boundaries;
  options.transfers = Transfers::kPerSubgraph;
  options.budget = settings.budget;
  options.seed = settings.seed;
  options.canceller = options_.canceller;
  options.memory_limit = options_.memory_limit;
  return options;
}

std::string Planner::KeyOf(const Question& question) const {
  const NetworkEntry& network = spec_.networks[question.pair.network];
  return DigestOf(std::string(Version()) + "\n" + NetworkKey(network) + "\n" +
                  points_[question.pair.point].text + "\n" +
                  OptionsText(spec_.settings, network, question.metric));
}

void Planner::Remember(const Question& question, const Answer& answer, double milliseconds) const {
  const NetworkEntry& network = spec_.networks[question.pair.network];
  store_.Add({answer.key, NetworkKey(network), digests_[question.pair.point], question.metric,
              OptionsText(spec_.settings, network, question.metric), answer.outcome,
              answer.HasPlan() ? AsJson(answer.values).dump() : "", answer.reason},
             milliseconds);
}

base::Expected<Answer> Planner::AskLibrary(const Question& question) const {
  const auto start = std::chrono::steady_clock::now();
  const Result<PlanAnswer> found = session_.MakePlan(
      networks_[question.pair.network], *profiles_[question.pair.point], OptionsFor(question));
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!found) return base::Unexpected(api::AsDiagnostic(found.Error()));
  Answer answer{KeyOf(question), question.metric, NameOf(found->outcome), {}, found->reason};
  if (found->stopped) {
    if (options_.canceller.IsCancelled()) return answer;
    throw std::bad_alloc();
  }
  if (found->plan) {
    for (const PlanMetric& metric : found->plan->Metrics())
      answer.values[metric.name] = metric.value;
  }
  const std::lock_guard lock(*mutex_);
  Remember(question, answer, elapsed.count());
  if (options_.planned) options_.planned();
  return answer;
}

// As AskLibrary, for one of many questions: if memory runs out, the others continue.
base::Expected<Answer> Planner::AskForOneOfMany(const Question& question) const {
  try {
    return AskLibrary(question);
  } catch (const std::bad_alloc&) {
    base::Diagnostic fault;
    fault.message = "the memory limit was reached while a plan was made";
    return base::Unexpected(fault);
  }
}

// As AskLibrary, with notes. The note of an attempt that ends the process stays in the store, and a
// failed attempt is repeated once.
base::Expected<Answer> Planner::AskNoting(const Question& question) const {
  if (options_.attempts == nullptr) return AskLibrary(question);
  const std::string key = KeyOf(question);
  while (true) {
    std::optional<std::string> failure;
    {
      const std::lock_guard lock(*mutex_);
      failure = options_.attempts->Begin(key);
    }
    if (failure) {
      Answer answer{key, question.metric, std::string(kFailed), {}, *failure};
      const std::lock_guard lock(*mutex_);
      Remember(question, answer, 0);
      return answer;
    }
    base::Expected<Answer> answer = AskForOneOfMany(question);
    const std::lock_guard lock(*mutex_);
    if (store_.Fault()) return base::Unexpected(*store_.Fault());
    if (answer || IsCancelled()) {
      options_.attempts->End(key);
      return answer;
    }
    options_.attempts->Explain(key, answer.error().message);
  }
}

// Moves questions with an earlier attempt to the end, so that only they can end the process, and
// returns their number.
size_t Planner::PutSuspectsLast(std::span<const Question> questions,
                                std::vector<size_t>& open) const {
  if (options_.attempts == nullptr) return 0;
  const auto first = std::stable_partition(open.begin(), open.end(), [&](size_t i) {
    return options_.attempts->CountOf(KeyOf(questions[i])) == 0;
  });
  return static_cast<size_t>(open.end() - first);
}

base::Expected<std::optional<std::vector<Answer>>> Planner::Ask(
    std::span<const Question> questions) const {
  std::vector<Answer> answers(questions.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < questions.size(); ++i) {
    const std::string key = KeyOf(questions[i]);
    if (const std::optional<StoredAnswer> stored = store_.FindAnswer(key)) {
      answers[i] = {key, stored->metric, stored->outcome, FiguresOf(stored->figures),
                    stored->reason};
    } else {
      open.push_back(i);
    }
  }
  const size_t together = open.size() - PutSuspectsLast(questions, open);
  const auto ask = [&](size_t i) -> std::optional<base::Diagnostic> {
    if (options_.canceller.IsCancelled()) return std::nullopt;
    base::Expected<Answer> answer = AskNoting(questions[open[i]]);
    if (!answer) return answer.error();
    answers[open[i]] = *std::move(answer);
    return std::nullopt;
  };
  auto fault = InParallel(together, ask);
  for (size_t i = together; i < open.size() && !fault; ++i) fault = ask(i);
  if (fault) return base::Unexpected(*fault);
  if (auto broken = store_.Fault()) return base::Unexpected(*broken);
  if (options_.canceller.IsCancelled()) return std::optional<std::vector<Answer>>();
  return std::optional(std::move(answers));
}

bool Planner::IsAtLeastAsGood(size_t network, size_t better, size_t worse,
                              std::vector<std::string> metrics) const {
  for (const MetricValue& limit : spec_.networks[network].limits) metrics.push_back(limit.first);
  const Result<bool> known =
      tessera::IsAtLeastAsGood(networks_[network], *profiles_[better], *profiles_[worse], metrics);
  return known && *known;
}

}  // namespace tessera::explore
