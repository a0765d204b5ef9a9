#include "tessera/cli/problem_dump.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include "tessera/cli/files.h"
#include "tessera/problem/json.h"
#include "tessera/problem/ladder.h"

// Questions come from several threads in any order, and there can be thousands. Kept are those with the most buffers, by
// content where as many have as many: the same ones, under the same names, whoever asked first.
namespace tessera::cli {
namespace {

using problem::Bytes;
using problem::Engine;
using problem::Ladder;
using problem::Problem;
using problem::Session;

// "mobilenet v2/s3" -> "mobilenet_v2_s3".
std::string FileNamePart(const std::string& name) {
  std::string part;
  for (const char c : name) part += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return part.substr(0, 40);
}

}  // namespace

class ProblemDump::Recorder final : public Engine {
 public:
  // The most buffers first, then by content.
  struct Question {
    size_t buffers = 0;
    std::string text;
    std::string name;
    bool operator<(const Question& other) const {
      return buffers != other.buffers ? buffers > other.buffers : text < other.text;
    }
  };

  explicit Recorder(const Engine& engine) : engine_(engine) {}

  std::string_view Name() const override { return engine_.Name(); }
  bool Refutes() const override { return engine_.Refutes(); }
  std::unique_ptr<Session> Open(const Problem& problem, const Ladder* ladder) const override;

  void Hear(const Problem& problem) const {
    Question question{problem.buffers.size(), problem::WriteProblem(problem), problem.name};
    const std::scoped_lock lock(mutex_);
    ++heard_;
    questions_.insert(std::move(question));
    if (questions_.size() > kMost) questions_.erase(std::prev(questions_.end()));
  }

  const std::set<Question>& Questions() const { return questions_; }
  size_t Heard() const { return heard_; }

 private:
  const Engine& engine_;
  mutable std::mutex mutex_;
  mutable std::set<Question> questions_;
  mutable size_t heard_ = 0;
};

namespace {

// Of one session each rung counts once, with the memory's own capacity: asking about less narrows the same question.
class ListeningSession final : public Session {
 public:
  ListeningSession(const ProblemDump::Recorder& recorder, std::unique_ptr<Session> session,
                   const Problem& problem, const Ladder* ladder)
      : recorder_(recorder), session_(std::move(session)), problem_(problem), ladder_(ladder) {}

  problem::Result Solve(size_t rung, Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) override {
    Listen(rung);
    return session_->Solve(rung, capacity, budget, stop);
  }
  problem::Result Minimise(size_t rung, Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) override {
    Listen(rung);
    return session_->Minimise(rung, capacity, budget, stop);
  }
  std::string Describe() const override { return session_->Describe(); }

 private:
  void Listen(size_t rung) {
    if (!asked_.insert(ladder_ == nullptr ? 0 : rung).second) return;
    recorder_.Hear(ladder_ == nullptr ? problem_ : problem::AtRung(problem_, ladder_->rungs[rung]));
  }

  const ProblemDump::Recorder& recorder_;
  std::unique_ptr<Session> session_;
  const Problem& problem_;
  const Ladder* ladder_;
  std::set<size_t> asked_;
};

}  // namespace

std::unique_ptr<Session> ProblemDump::Recorder::Open(const Problem& problem, const Ladder* ladder) const {
  return std::make_unique<ListeningSession>(*this, engine_.Open(problem, ladder), problem, ladder);
}

ProblemDump::Recording::Recording(std::vector<const Engine*> engines, bool listens)
    : engines_(std::move(engines)) {
  if (!listens || engines_.empty()) return;
  recorder_ = std::make_unique<Recorder>(*engines_.front());
  engines_.front() = recorder_.get();
}

ProblemDump::Recording::Recording(Recording&&) noexcept = default;
ProblemDump::Recording::~Recording() = default;

void ProblemDump::Declare(CLI::App& app) {
  app.add_option("--dump-problems", folder_,
                 fmt::format("Write the allocation problems that engines were asked into this folder, at "
                             "most the {} largest; "
                             "`tessera alloc` answers them again",
                             kMost))
      ->type_name("DIR");
}

ProblemDump::Recording ProblemDump::Record(const std::vector<const Engine*>& engines) const {
  return {engines, !folder_.empty()};
}

void ProblemDump::AddTo(Destinations& files) const { files.WriteInto("--dump-problems", folder_, {}); }

ExitCode ProblemDump::Write(Console& console, Destinations& files, const Recording& recording) const {
  if (recording.Heard() == nullptr) return ExitCode::kAnswer;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);  // writing says what is wrong, if anything
  std::vector<Output> outputs;
  for (const Recorder::Question& question : recording.Heard()->Questions()) {
    const std::string name =
        fmt::format("{:03}-{}-{}.json", outputs.size(), FileNamePart(question.name), question.buffers);
    outputs.push_back({(std::filesystem::path(folder_) / name).string(), question.text});
  }
  if (const auto written = WriteTogether(outputs); !written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(
      fmt::format("{} of {} allocation problems in {}", outputs.size(), recording.Heard()->Heard(), folder_));
  return ExitCode::kAnswer;
}

}  // namespace tessera::cli
