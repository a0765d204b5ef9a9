// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tessera/c/tessera.h>
#include <tessera/evaluator.h>
#include <tessera/session.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/tests/draws.h"
#include "tessera/tests/memory/failing_new.h"

// Lets each allocation of a call of the library fail in turn. No exception crosses the interface:
// the call has an answer, or the error kStopped, and later calls answer as before.
namespace tessera::tests {
namespace {

using testing::AnyOf;
using testing::Eq;

constexpr std::string_view kNetwork = R"(schema: 1
name: one
inputs: [{id: x, shape: [1, 8, 4, 4]}]
operators: [{id: r, kind: elementwise, function: relu, inputs: [x]}]
)";
constexpr std::string_view kBuffers = "id,lower,upper,size\na,0,4,30\nb,2,6,20\n";

template <typename T>
T Must(Result<T> result) {
  if (!result) ADD_FAILURE() << result.Error().text;
  return *std::move(result);
}

template <typename T>
CallStatus StatusOf(const Result<T>& result) {
  return result ? CallStatus::kOk : result.Error().status;
}

FormulaOptions InTwelveBytes() {
  FormulaOptions options;
  options.capacity = 12;
  return options;
}

AllocateOptions InElevenBytes() {
  AllocateOptions options;
  options.capacity = 11;
  return options;
}

ChooseOptions SomeInElevenBytes() {
  ChooseOptions options;
  options.capacity = 11;
  return options;
}

ListRequest TenBuffers() {
  ListRequest request;
  request.family = "perfect";
  request.buffers = 10;
  request.fixed_share = 0.5;
  return request;
}

PlanOptions InOneCycle() {
  PlanOptions options;
  options.limits = {{"latency", 1}};
  return options;
}

// Everything that calls take. A call makes no copy of it, as the failing allocation could be that
// of the copy, which is the caller's.
struct Inputs {
  const std::string profile_file = TESSERA_SOURCE_DIR "/hw_profiles/mcu_320k.yaml";
  const Network network = Must(Network::Parse(kNetwork));
  const NetworkParts parts = {"one",
                              "int8",
                              {{"x", {1, 8, 4, 4}}},
                              {},
                              {{"elementwise", "r", {"x"}, {{"function", "relu"}}}}};
  const Profile profile = Must(Profile::Load(profile_file));
  const Plan plan = *Must(MakePlan(network, profile)).plan;
  const std::string plan_json = Must(plan.Render("json"));
  const std::vector<Buffer> buffers = {
      {"a", 8, {{0, 3}}}, {"b", 4, {{1, 6}, {7, 9}}}, {"c", 8, {{4, 9}}, /*alignment=*/4}};
  const Problem problem = Must(Problem::Make(buffers));
  const std::string problem_json = Must(problem.Render("json"));
  const Allocation allocation = *Must(Allocate(problem)).allocation;
  const std::string allocation_json = Must(allocation.Render("json"));
  const Revision revision = {{}, {"a"}, {{"b", 6}}};
  const std::vector<MetricValue> limits = {{"latency", 1}};
  const std::vector<std::string> metrics = {"latency"};
  const TileChoice choice = {"r", "", ""};
  const AllocateOptions in_eleven_bytes = InElevenBytes();
  const ChooseOptions some_in_eleven_bytes = SomeInElevenBytes();
  const ListFormat csv = {"csv"};
  const ListRequest request = TenBuffers();
  const Measurements measured = Must(Measurements::Parse(
      "network,operators,cycles\none,r,100\none,r,110\n", profile, {{"one", network}}));
  const PlanOptions in_one_cycle = InOneCycle();
  const FormulaOptions in_twelve_bytes = InTwelveBytes();
  const Session session;
  const Evaluator evaluator = Must(Evaluator::Make({profile}));
  // greater in each call, so that no answer is known
  mutable std::vector<std::vector<MetricValue>> wide_limits = {{{"latency", 1e12}}};
};

const Inputs& Given() {
  static const Inputs inputs;
  return inputs;
}

struct Call {
  std::string name;
  CallStatus (*make)();
};

void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

std::string NameOfCall(const testing::TestParamInfo<Call>& info) { return info.param.name; }

// Returns the number of allocations of the call, of which none fails.
int64_t AllocationsOf(const Call& call) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  UntilFailure() = kNever;
  call.make();
  return kNever - UntilFailure().exchange(0);
}

// Returns at most about `most` numbers from 1 to `all`: a quarter of them from 1 on, and the others
// spread over the rest.
std::vector<int64_t> SpreadOver(int64_t all, int64_t most) {
  std::vector<int64_t> numbers;
  const int64_t step = all <= most ? 1 : all / most;
  for (int64_t k = 1; k <= all; k += k < most / 4 ? 1 : step) numbers.push_back(k);
  return numbers;
}

enum class Ending : uint8_t { kAnswer, kStopped, kOtherError, kException };

// Makes the call, whose k-th allocation fails.
Ending MakeFailing(const Call& call, int64_t k) {
  try {
    UntilFailure() = k;
    const CallStatus status = call.make();
    UntilFailure() = 0;
    if (status == CallStatus::kOk) return Ending::kAnswer;
    return status == CallStatus::kStopped ? Ending::kStopped : Ending::kOtherError;
  } catch (...) {
    UntilFailure() = 0;
    return Ending::kException;
  }
}

class LibraryUnderFailure : public testing::TestWithParam<Call> {};

TEST_P(LibraryUnderFailure, ThrowsNothingAndAnswersAgain) {
  const Call& call = GetParam();
  ASSERT_EQ(call.make(), CallStatus::kOk);
  const int64_t allocations = AllocationsOf(call);
  ASSERT_GT(allocations, 0) << "does the library use this operator new?";
  int64_t stopped = 0;
  for (const int64_t k : SpreadOver(allocations, IsLongRun() ? 1'000'000 : 1'000)) {
    const Ending ending = MakeFailing(call, k);
    ASSERT_THAT(ending, AnyOf(Eq(Ending::kAnswer), Eq(Ending::kStopped))) << "allocation " << k;
    stopped += ending == Ending::kStopped ? 1 : 0;
  }
  EXPECT_GT(stopped, 0);
  EXPECT_EQ(call.make(), CallStatus::kOk);
}

// Calls that hold JSON documents, which the JSON library cannot destroy without memory
// (docs/library.md): each call is made in a process of its own, which may abort.
class JsonUnderFailure : public testing::TestWithParam<Call> {};

// Returns the ending, or nullopt if the process aborted.
std::optional<Ending> MakeFailingApart(const Call& call, int64_t k) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(100);
    _exit(static_cast<int>(MakeFailing(call, k)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return std::nullopt;
  return WIFEXITED(status) && WEXITSTATUS(status) <= static_cast<int>(Ending::kException)
             ? static_cast<Ending>(WEXITSTATUS(status))
             : Ending::kOtherError;
}

TEST_P(JsonUnderFailure, ThrowsNothing) {
  const Call& call = GetParam();
  ASSERT_EQ(call.make(), CallStatus::kOk);
  int64_t runs = 0;
  int64_t aborted = 0;
  for (const int64_t k : SpreadOver(AllocationsOf(call), IsLongRun() ? 600 : 60)) {
    const std::optional<Ending> ending = MakeFailingApart(call, k);
    ++runs;
    aborted += ending ? 0 : 1;
    if (!ending) continue;
    ASSERT_THAT(*ending, AnyOf(Eq(Ending::kAnswer), Eq(Ending::kStopped))) << "allocation " << k;
  }
  RecordProperty("aborted", std::to_string(aborted));
  EXPECT_LT(aborted, runs / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Calls, LibraryUnderFailure,
    testing::Values(
        Call{"NetworkParse", [] { return StatusOf(Network::Parse(kNetwork)); }},
        Call{"MetricNames", [] { return StatusOf(MetricNames()); }},
        Call{"MakePlan", [] { return StatusOf(MakePlan(Given().network, Given().profile)); }},
        Call{"PlanRenderH", [] { return StatusOf(Given().plan.Render("h")); }},
        Call{"PlanRenderSvg", [] { return StatusOf(Given().plan.Render("svg")); }},
        Call{"PlanRenderTxt", [] { return StatusOf(Given().plan.Render("txt")); }},
        Call{"LowerBounds", [] { return StatusOf(LowerBounds(Given().network, Given().profile)); }},
        Call{"WhyNoPlan",
             [] { return StatusOf(WhyNoPlan(Given().network, Given().profile, Given().limits)); }},
        Call{
            "MakeProblem",
            [] { return StatusOf(MakeProblem(Given().network, Given().profile, Given().choice)); }},
        Call{"ProblemMake", [] { return StatusOf(Problem::Make(Given().buffers)); }},
        Call{"ProblemParse", [] { return StatusOf(Problem::Parse(kBuffers)); }},
        Call{"ProblemInMemoryOf",
             [] { return StatusOf(Given().problem.InMemoryOf(Given().profile)); }},
        Call{"Allocate", [] { return StatusOf(Allocate(Given().problem)); }},
        Call{"AllocateNothing",
             [] { return StatusOf(Allocate(Given().problem, Given().in_eleven_bytes)); }},
        Call{"Explain", [] { return StatusOf(Explain(Given().problem, Given().in_eleven_bytes)); }},
        Call{"Revise", [] { return StatusOf(Revise(Given().allocation, Given().revision)); }},
        Call{"CheckAllocation", [] { return StatusOf(Check(Given().allocation)); }},
        Call{"AllocationRenderCsv", [] { return StatusOf(Given().allocation.Render("csv")); }},
        Call{"AllocationRenderSvg", [] { return StatusOf(Given().allocation.Render("svg")); }},
        Call{"ListFamilies", [] { return StatusOf(ListFamilies()); }},
        Call{"GenerateList", [] { return StatusOf(GenerateList(Given().request)); }},
        Call{"WriteList", [] { return StatusOf(WriteList(Given().problem, Given().csv)); }},
        Call{"NewSession", [] { return StatusOf(Session().Allocate(Given().problem)); }},
        Call{"SessionMakePlan",
             [] {
               Given().session.Clear();
               return StatusOf(Given().session.MakePlan(Given().network, Given().profile));
             }},
        Call{"SessionAllocate",
             [] {
               Given().session.Clear();
               return StatusOf(Given().session.Allocate(Given().problem));
             }},
        Call{"SessionRevise",
             [] {
               Given().session.Clear();
               return StatusOf(Given().session.Revise(Given().problem, Given().revision));
             }},
        Call{"EvaluateAtMost",
             [] {
               Given().wide_limits[0][0].second += 1;
               return StatusOf(
                   Given().evaluator.EvaluateAtMost(Given().network, Given().wide_limits));
             }}),
    NameOfCall);

INSTANTIATE_TEST_SUITE_P(
    Calls, JsonUnderFailure,
    testing::Values(
        Call{"NetworkJson", [] { return StatusOf(Given().network.Json()); }},
        Call{"ProfileLoad", [] { return StatusOf(Profile::Load(Given().profile_file)); }},
        Call{"MakeNoPlan",
             [] {
               return StatusOf(MakePlan(Given().network, Given().profile, Given().in_one_cycle));
             }},
        Call{"FindFront",
             [] { return StatusOf(FindFront(Given().network, Given().profile, {}, 2)); }},
        Call{"StatisticsOf", [] { return StatusOf(StatisticsOf(Given().problem)); }},
        Call{"Choose",
             [] { return StatusOf(Choose(Given().problem, Given().some_in_eleven_bytes)); }},
        Call{"FitProfile", [] { return StatusOf(FitProfile(Given().profile, Given().measured)); }},
        Call{"ProfileRender", [] { return StatusOf(Given().profile.Render()); }},
        Call{"Difference", [] { return StatusOf(Difference(Given().plan, Given().plan)); }},
        Call{"NetworkMake", [] { return StatusOf(Network::Make(Given().parts)); }},
        Call{"PlanParse", [] { return StatusOf(Plan::Parse(Given().plan_json)); }},
        Call{"PlanRenderJson", [] { return StatusOf(Given().plan.Render("json")); }},
        Call{"Evaluate", [] { return StatusOf(Evaluate(Given().plan_json)); }},
        Call{"CheckPlan", [] { return StatusOf(Check(Given().plan)); }},
        Call{"IsAtLeastAsGood",
             [] {
               return StatusOf(IsAtLeastAsGood(Given().network, Given().profile, Given().profile,
                                               Given().metrics));
             }},
        Call{"FindTiles", [] { return StatusOf(FindTiles(Given().network, Given().profile)); }},
        Call{"ProblemParse", [] { return StatusOf(Problem::Parse(Given().problem_json)); }},
        Call{"ProblemRenderJson", [] { return StatusOf(Given().problem.Render("json")); }},
        Call{"AllocationParse",
             [] { return StatusOf(Allocation::Parse(Given().problem, Given().allocation_json)); }},
        Call{"Encode", [] { return StatusOf(Encode(Given().problem, Given().in_twelve_bytes)); }}),
    NameOfCall);

template <typename Object>
Object MadeWithoutMemory() {
  UntilFailure() = 1;
  Object object;
  UntilFailure() = 0;
  return object;
}

TEST(WithoutState, SessionsSayThatMemoryRanOut) {
  const Inputs& given = Given();
  const Session session = MadeWithoutMemory<Session>();
  EXPECT_FALSE(session.HasState());
  EXPECT_EQ(StatusOf(session.MakePlan(given.network, given.profile)), CallStatus::kStopped);
  EXPECT_EQ(StatusOf(session.FindTiles(given.network, given.profile)), CallStatus::kStopped);
  EXPECT_EQ(StatusOf(session.Allocate(given.problem)), CallStatus::kStopped);
  const Result<RevisedAnswer> revised = session.Revise(given.problem, given.revision);
  ASSERT_FALSE(revised);
  EXPECT_EQ(revised.Error().text, "out of memory");
  session.Clear();
  EXPECT_EQ(session.Count().misses, 0);
  EXPECT_TRUE(Session().HasState());
}

template <typename Options>
Options With(const Canceller& canceller) {
  Options options;
  options.canceller = canceller;
  return options;
}

TEST(WithoutState, CallsThatACancellerCouldEndSayThatMemoryRanOut) {
  const Inputs& given = Given();
  const auto canceller = MadeWithoutMemory<Canceller>();
  EXPECT_FALSE(canceller.HasState());
  canceller.Cancel();
  EXPECT_TRUE(canceller.IsCancelled());
  const auto plan = With<PlanOptions>(canceller);
  const auto allocate = With<AllocateOptions>(canceller);
  constexpr CallStatus kStopped = CallStatus::kStopped;
  EXPECT_EQ(StatusOf(MakePlan(given.network, given.profile, plan)), kStopped);
  EXPECT_EQ(StatusOf(given.session.MakePlan(given.network, given.profile, plan)), kStopped);
  EXPECT_EQ(StatusOf(FindTiles(given.network, given.profile, With<TileOptions>(canceller))),
            kStopped);
  EXPECT_EQ(StatusOf(Evaluate(given.plan, With<EvaluateOptions>(canceller))), kStopped);
  EXPECT_EQ(StatusOf(Check(given.plan, With<CheckOptions>(canceller))), kStopped);
  EXPECT_EQ(StatusOf(Execute(given.plan, With<CallOptions>(canceller))), kStopped);
  EXPECT_EQ(StatusOf(Allocate(given.problem, allocate)), kStopped);
  EXPECT_EQ(StatusOf(Revise(given.allocation, given.revision, allocate)), kStopped);
  EXPECT_EQ(StatusOf(Explain(given.problem, allocate)), kStopped);
  EXPECT_EQ(StatusOf(ExploreText(
                "schema: 1\nnetworks: [" TESSERA_SOURCE_DIR
                "/examples/networks/patent_chain.yaml]\nprofile: " +
                    given.profile_file +
                    "\nvary:\n  memories.sram.capacity_bytes: {name: sram, values: [8Ki, 64Ki]}\n"
                    "minimize: [latency, sram]\n",
                With<ExploreOptions>(canceller))),
            kStopped);
  EXPECT_FALSE(Canceller().IsCancelled());
}

TEST(WithoutState, HandlesOfCAreNotMade) {
  tessera_session* session = nullptr;
  int stopped = 0;
  for (int64_t k = 1; session == nullptr; ++k) {
    UntilFailure() = k;
    const tessera_status status = tessera_session_new(0, &session, nullptr);
    UntilFailure() = 0;
    ASSERT_EQ(status, session == nullptr ? TESSERA_STOPPED : TESSERA_OK) << "allocation " << k;
    stopped += session == nullptr ? 1 : 0;
  }
  EXPECT_EQ(stopped, 2);  // the state and the handle
  tessera_session_free(session);
  tessera_canceller* canceller = nullptr;
  for (int64_t k = 1; canceller == nullptr; ++k) {
    ASSERT_LE(k, 3);
    UntilFailure() = k;
    canceller = tessera_canceller_new();
    UntilFailure() = 0;
  }
  tessera_canceller_free(canceller);
}

// Answers that there was no memory to keep take no space from others.
TEST(SessionsUnderFailure, DropTheOldestAnswers) {
  std::vector<Problem> problems;
  std::vector<std::vector<std::int64_t>> expected;
  for (const std::int64_t size : {8, 12, 16, 20}) {
    problems.push_back(Must(Problem::Make({{"a", size, {{0, 3}}}, {"b", 4, {{2, 5}}}})));
    expected.push_back(Must(Allocate(problems.back())).allocation->Offsets());
  }
  const Session probe;
  Must(probe.Allocate(problems[0]));
  const std::size_t most = probe.Count().bytes * 5 / 2;  // of two answers
  const Session session({2 * most});
  int failures = 0;
  for (int64_t k = 1;; ++k) {
    session.Clear();
    UntilFailure() = k;
    const Result<AllocateAnswer> answer = session.Allocate(problems[0]);
    const bool failed = UntilFailure().exchange(0) == 0;
    for (size_t i = 0; i < problems.size(); ++i) {
      EXPECT_EQ(Must(session.Allocate(problems[i])).allocation->Offsets(), expected[i])
          << "allocation " << k;
    }
    ASSERT_LE(session.Count().bytes, most) << "allocation " << k;
    if (!failed) break;
    ++failures;
  }
  EXPECT_GT(failures, 50);
  EXPECT_GT(session.Count().dropped, failures);
}

}  // namespace
}  // namespace tessera::tests
