// SPDX-License-Identifier: Apache-2.0

#include "tessera/serve/answerer.h"

#include <tessera/tessera.h>

#include <algorithm>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/base/files.h"
#include "tessera/base/process.h"
#include "tessera/serve/protocol.h"

namespace tessera::serve {
namespace {

// Returns the problem with the sizes of a candidate.
Result<Problem> AtCandidate(const Problem& problem, const std::string& candidate) {
  Result<Problem> sized = problem.AtCandidate(candidate);
  if (sized) return sized;
  Error error = sized.Error();
  if (candidate.empty()) error.message = "the problem has tile candidates, and none is chosen";
  error.pointer = "/candidate";
  return error;
}

// Returns the text of a document.
Result<std::string> TextOf(const Document& document) {
  if (!document.IsFile()) return document.text;
  base::Expected<std::string> text = base::ReadInput(document.file);
  if (text) return *std::move(text);
  return AsError(text.error());
}

constexpr size_t kBytesOfByte = 16;  // that inputs hold for each byte of their text, about
constexpr size_t kInputs = 64;       // of a kind, that are kept
constexpr size_t kEvaluators = 2;    // that are kept

// Returns the input in a document, which is read unless it is kept already.
template <typename Value, typename Read>
Result<Value> ReadOr(Recent<Value>& known, const Document& document, const Read& read) {
  const Result<std::string> text = TextOf(document);
  if (!text) return text.Error();
  // The length marks the end of the name.
  const std::string key = std::to_string(document.file.size()) + ':' + document.file + *text;
  return known.FindOr(key, kBytesOfByte * text->size(), [&] { return read(*text); });
}

// Half of the kept bytes are for the session, three eighths for evaluators, and the rest for
// inputs.
size_t BytesOfEvaluator(const AnswererOptions& options) {
  return options.most_bytes / 8 * 3 / kEvaluators;
}

int64_t LimitOf(const AnswererOptions& options) {
  return options.memory_limit.value_or(base::UsableBytes() / 4 * 3);
}

AnswererOptions WithinLimit(AnswererOptions options) {
  const auto quarter = static_cast<size_t>(std::max<int64_t>(LimitOf(options), 0) / 4);
  options.most_bytes = std::min(options.most_bytes, quarter);
  return options;
}

}  // namespace

Answerer::Answerer(const AnswererOptions& options)
    : options_(WithinLimit(options)),
      session_(SessionOptions{options_.most_bytes / 2}),
      networks_(kInputs, options_.most_bytes / 16),
      profiles_(kInputs, options_.most_bytes / 32),
      evaluators_(kEvaluators, options_.most_bytes / 32) {
  if (!session_.HasState()) throw std::bad_alloc();
}

std::string Answerer::Answer(const Request& request, const Canceller& canceller) {
  try {
    if (request.lacked_memory) return LineOfNoMemory(request.id);
    if (request.fault) return LineOfError(request.id, "bad_request", AsError(*request.fault));
    MakeRoom();
    deadline_.reset();
    if (request.timeout_s) {
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*request.timeout_s));
    }
    const bool kept = keeps_;
    Result<std::string> line = Try(request, canceller);
    const bool has_time = !deadline_ || Clock::now() < *deadline_;
    if (out_of_memory_ && kept && has_time && !canceller.IsCancelled()) {
      Forget();
      Result<std::string> again = Try(request, canceller);
      if (again || !line) line = std::move(again);
    }
    return line ? *std::move(line) : AnswerToError(request.id, line.Error());
  } catch (const std::bad_alloc&) {
    Forget();
    return LineOfNoMemory(request.id);
  } catch (const std::exception& exception) {
    Error error;
    error.message = exception.what();
    return AnswerToError(request.id, error);
  }
}

// Sets out_of_memory_.
Result<std::string> Answerer::Try(const Request& request, const Canceller& canceller) {
  out_of_memory_ = false;
  try {
    Result<std::string> line = AnswerTo(request, canceller);
    out_of_memory_ |= !line && line.Error().status == CallStatus::kStopped;
    return line;
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
    Error error;
    error.status = CallStatus::kStopped;
    error.message = "out of memory";
    return error;
  }
}

// Freed memory counts too, until the allocator returns it.
void Answerer::MakeRoom() {
  const int64_t half = LimitOf(options_) / 2;
  if (base::ResidentBytes() <= half) return;
  base::ReturnFreeMemory();
  if (base::ResidentBytes() > half) Forget();
}

void Answerer::Forget() {
  session_.Clear();
  networks_.Clear();
  profiles_.Clear();
  evaluators_.Clear();
  keeps_ = false;
  base::ReturnFreeMemory();
}

Result<std::string> Answerer::AnswerTo(const Request& request, const Canceller& canceller) {
  switch (request.method) {
    case Method::kPlan:
      return Plan(request, canceller);
    case Method::kEvaluate:
    case Method::kEvaluateAtMost:
      return Evaluate(request, canceller);
    case Method::kAllocate:
      return Allocate(request, canceller);
    case Method::kCheck:
      return Check(request, canceller);
    case Method::kPing:
      return Line(request.id, true, {{"version", Version()}});
    case Method::kCancel:
    case Method::kQuit:
      break;
  }
  return Line(request.id, true, Json::object());
}

void Answerer::Limit(const Canceller& canceller, CallOptions& options) const {
  options.threads = options_.threads;
  options.memory_limit = options_.memory_limit;
  if (deadline_) {
    const std::chrono::duration<double> left = *deadline_ - Clock::now();
    options.timeout_s = std::max(0.0, left.count());
  }
  options.canceller = canceller;
}

Result<Network> Answerer::NetworkOf(const Request& request) {
  const Document& document = *request.network;
  Result<Network> network = ReadOr(networks_, document, [&](const std::string& text) {
    return Network::Parse(text, document.file);
  });
  if (!network || !request.costs) return network;
  const Result<std::string> costs = TextOf(*request.costs);
  if (!costs) return costs.Error();
  return network->WithCosts(*costs, request.costs->file);
}

// A file may extend others, so its text alone does not identify the profile.
Result<Profile> Answerer::ProfileOf(const Document& document) {
  if (document.IsFile()) return Profile::Load(document.file);
  return ReadOr(profiles_, document,
                [&](const std::string& text) { return Profile::Parse(text, document.file); });
}

Result<std::string> Answerer::Plan(const Request& request, const Canceller& canceller) {
  keeps_ = true;
  const Result<Network> network = NetworkOf(request);
  if (!network) return network.Error();
  const Result<Profile> profile = ProfileOf(request.profiles.front());
  if (!profile) return profile.Error();
  PlanOptions options = request.plan_options;
  Limit(canceller, options);
  const Result<PlanAnswer> answer = session_.MakePlan(*network, *profile, options);
  if (!answer) return answer.Error();
  out_of_memory_ = answer->out_of_memory;
  Json json = Begin(answer->outcome, answer->reason, answer->stopped);
  if (!answer->explanation.empty()) json["explanation"] = answer->explanation;
  if (!answer->remedies.empty()) json["remedies"] = answer->remedies;
  if (answer->plan) {
    json["score"] = answer->plan->Score();
    json["bound"] = answer->plan->Bound();
    json["metrics"] = MetricsOf(answer->plan->Metrics());
    json["subgraphs"] = answer->plan->Subgraphs().size();
    if (!request.wants_document) return Line(request.id, true, json);
    const Result<std::string> document = answer->plan->Render("json");
    if (!document) return document.Error();
    json["document"] = Json::parse(*document);
  }
  return Line(request.id, true, json);
}

// Returns an evaluator for the profiles and options of the request.
Result<Evaluator> Answerer::EvaluatorOf(const Request& request) {
  std::vector<Profile> profiles;
  std::string key;
  for (const Document& document : request.profiles) {
    Result<Profile> profile = ProfileOf(document);
    if (!profile) return profile.Error();
    key += profile->Json() + "\n";
    profiles.push_back(*std::move(profile));
  }
  const PlanOptions& plan = request.plan_options;
  Json options = {plan.seed,
                  plan.engine,
                  plan.keep_order,
                  plan.keep_boundaries,
                  static_cast<int>(plan.transfers),
                  plan.constraints,
                  plan.minimize};
  options.push_back(plan.budget ? Json(*plan.budget) : Json());
  options.push_back(plan.max_operators ? Json(*plan.max_operators) : Json());
  const size_t bytes = kBytesOfByte * key.size();
  return evaluators_.FindOr(key + options.dump(), bytes, [&] {
    EvaluatorOptions made;
    made.plan = plan;
    made.most_bytes = BytesOfEvaluator(options_);
    return Evaluator::Make(std::move(profiles), made);
  });
}

Result<std::string> Answerer::Evaluate(const Request& request, const Canceller& canceller) {
  keeps_ = true;
  const Result<Network> network = NetworkOf(request);
  if (!network) return network.Error();
  const Result<Evaluator> evaluator = EvaluatorOf(request);
  if (!evaluator) return evaluator.Error();
  CallOptions call;
  Limit(canceller, call);
  const Result<std::vector<Evaluation>> found =
      request.method == Method::kEvaluate
          ? evaluator->Evaluate(*network, call)
          : evaluator->EvaluateAtMost(*network, request.limits, call);
  if (!found) return found.Error();
  Json profiles = Json::array();
  for (const Evaluation& evaluation : *found) {
    out_of_memory_ |= evaluation.out_of_memory;
    Json json = Begin(evaluation.outcome, evaluation.reason, evaluation.stopped);
    if (!evaluation.metrics.empty()) json["metrics"] = MetricsOf(evaluation.metrics);
    if (evaluation.metrics.empty() && !evaluation.bounds.empty())
      json["at_least"] = BoundsOf(evaluation.bounds);
    json["searched"] = evaluation.searched;
    profiles.push_back(std::move(json));
  }
  return Line(request.id, true, {{"profiles", std::move(profiles)}});
}

Result<std::string> Answerer::Allocate(const Request& request, const Canceller& canceller) {
  keeps_ = true;
  const Result<std::string> text = TextOf(*request.problem);
  if (!text) return text.Error();
  Result<Problem> problem = Problem::Parse(*text, request.problem->file);
  if (!problem) return problem.Error();
  if (!request.candidate.empty() || !problem->Candidates().empty())
    problem = AtCandidate(*problem, request.candidate);
  if (problem && !request.capacities.empty()) problem = problem->WithCapacities(request.capacities);
  if (!problem) return problem.Error();
  AllocateOptions options = request.allocate_options;
  Limit(canceller, options);
  const Result<AllocateAnswer> answer = session_.Allocate(*problem, options);
  if (!answer) return answer.Error();
  out_of_memory_ = answer->out_of_memory;
  Json json = Begin(answer->outcome, answer->reason, answer->stopped);
  if (!answer->explanation.empty()) json["explanation"] = answer->explanation;
  json["lower_bound"] = answer->lower_bound;
  if (answer->cost) json["cost"] = *answer->cost;
  for (const MemoryPeak& each : answer->peaks)
    json["memories"].push_back(
        {{"memory", each.memory}, {"peak", each.peak}, {"lower_bound", each.lower_bound}});
  if (!answer->peaks.empty()) {
    json["score"] = answer->score;
    json["score_bound"] = answer->score_bound;
  }
  if (answer->allocation) {
    json["peak"] = answer->allocation->Peak();
    json["offsets"] = answer->allocation->Offsets();
    if (request.wants_document) {
      const Result<std::string> document = answer->allocation->Render("json");
      if (!document) return document.Error();
      json["document"] = Json::parse(*document);
    }
  }
  return Line(request.id, true, json);
}

Result<std::string> Answerer::Check(const Request& request, const Canceller& canceller) {
  const auto line = [&request](const Result<CheckReport>& report) -> Result<std::string> {
    if (!report) return report.Error();
    Json json = {{"accepted", report->accepted}, {"findings", report->findings}};
    if (!report->open.empty()) json["open"] = report->open;
    return Line(request.id, true, json);
  };
  const Document& stated = request.plan ? *request.plan : *request.allocation;
  const Result<std::string> text = TextOf(stated);
  if (!text) return text.Error();
  if (request.plan) {
    const Result<tessera::Plan> plan = tessera::Plan::Parse(*text, stated.file);
    if (!plan) return plan.Error();
    CheckOptions options;
    Limit(canceller, options);
    options.execute = request.executes;
    return line(tessera::Check(*plan, options));
  }
  const Result<std::string> about = TextOf(*request.problem);
  if (!about) return about.Error();
  const Result<Problem> problem = Problem::Parse(*about, request.problem->file);
  if (!problem) return problem.Error();
  const Result<Allocation> allocation = Allocation::Parse(*problem, *text, stated.file);
  if (!allocation) return allocation.Error();
  return line(tessera::Check(*allocation));
}

}  // namespace tessera::serve
