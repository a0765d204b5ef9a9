#include "tessera/plan/execute/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tessera/plan/execute/passes.h"

// The program begins with the tensors that none of its operators makes. Then subgraph follows
// subgraph (passes.h). After each one, its results for others must be complete, and at the end all
// that outlasts the program.
//
// The plan's own steps are walked, and each does what the plan says it does: a step that does not
// name a tensor does not move it.
namespace tessera::plan::execute {
namespace {

using problem::Step;

class Unrolling {
 public:
  Unrolling(const Plan& plan, const Contents& contents,
            const std::function<void(const Instruction&)>& run)
      : plan_(plan),
        contents_(contents),
        users_(UsersOf(plan.network)),
        places_(plan, contents, users_),
        walk_(plan, contents, run) {}

  void Run() {
    ProvideWhatIsThere();
    Step begin = 0;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      Step end = begin;
      while (end < walk_.Steps() && walk_.At(end).subgraph == static_cast<int>(i)) ++end;
      RunSubgraph(static_cast<int>(i), begin, end);
      begin = end;
    }
    ExpectWhatStays();
  }

 private:
  graph::Interval Program() const {
    return {plan_.subgraphs.front().interval.first, plan_.subgraphs.back().interval.last};
  }

  // Whatever no operator of the program makes. What a state has become by then stands in its place.
  void ProvideWhatIsThere() {
    for (const bool next : {false, true}) ProvideWhatIsThere(next);
  }

  void ProvideWhatIsThere(bool next) {
    const Intent given = {Intent::By::kLink, problem::AccessKind::kRead, {0}};
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const auto tensor = static_cast<int>(i);
      const bool is_next = plan_.network.tensors[i].next_of >= 0;
      if (users_[i].maker >= Program().first || is_next != next) continue;
      if (!plan_.network.tensors[i].constant) {
        Provide(places_.OfWhole(tensor, given));
        continue;
      }
      Provide(places_.OfConstantWhole(tensor, given, false));
      if (places_.HasTable(tensor)) Provide(places_.OfConstantWhole(tensor, given, true));
    }
  }

  void Provide(Place place) {
    if (place.where == Where::kNone) return;
    if (place.where == Where::kHome) place.refusal.clear();
    walk_.Run(execute::Provide{std::move(place)});
  }

  // What a subgraph made for others must be complete when it is over.
  void ExpectResults(const Subgraph& subgraph, Step last) {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, {last}};
    for (size_t i = 0; i < users_.size(); ++i) {
      if (!users_[i].MadeIn(subgraph.interval)) continue;
      const std::vector<int>& readers = users_[i].readers;
      const bool read_later = !readers.empty() && readers.back() > subgraph.interval.last;
      const graph::Tensor& tensor = plan_.network.tensors[i];
      if (!tensor.network_output && !tensor.state && !readers.empty() && !read_later) continue;
      Place place = places_.OfWhole(static_cast<int>(i), look);
      if (place.where == Where::kHome) place.refusal.clear();
      walk_.Run(Expect{place, WholeOf(tensor.shape)});
    }
  }

  // Whether the next run finds another value of the state than this one did.
  bool IsAliased(int state) const {
    for (size_t i = 0; i < users_.size(); ++i) {
      if (plan_.network.tensors[i].next_of == state && users_[i].maker <= Program().last)
        return true;
    }
    return false;
  }

  // What the tile memory holds beyond the program: state, constants at home there, results of the
  // network, and what is read later.
  void ExpectWhatStays() {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, {walk_.Steps() - 1}};
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const std::vector<int>& readers = users_[i].readers;
      const bool made = users_[i].maker >= Program().first && users_[i].maker <= Program().last;
      const bool read_later =
          !readers.empty() && readers.back() > Program().last && users_[i].maker <= Program().last;
      const bool wanted = tensor.constant || (tensor.state && !IsAliased(static_cast<int>(i))) ||
                          (made && (tensor.network_output || readers.empty())) || read_later;
      if (!wanted || !places_.IsWhole(static_cast<int>(i))) continue;
      const Place place = tensor.constant
                              ? places_.OfConstantWhole(static_cast<int>(i), look, false)
                              : places_.OfWhole(static_cast<int>(i), look);
      walk_.Run(Expect{place, WholeOf(tensor.shape)});
    }
  }

  void RunSubgraph(int subgraph, Step begin, Step end) {
    Actions actions(plan_, contents_, users_, places_, subgraph);
    const int64_t planned = plan_.subgraphs[static_cast<size_t>(subgraph)].tiles;
    const int64_t tiles = std::min(planned, actions.Tiles());
    if (planned > tiles)
      walk_.Run(Complaint{
          fmt::format("subgraph {} has {} tiles where there are {}", subgraph, planned, tiles)});
    if (plan_.profile.tiling.dma == hw_profiles::DmaSteps::kSerialized) {
      UnrollSerialized(walk_, actions, {begin, end}, tiles);
    } else {
      UnrollDoubleBuffered(walk_, actions, {begin, end}, tiles);
    }
    if (end > begin) ExpectResults(actions.Of(), end - 1);
  }

  const Plan& plan_;
  const Contents& contents_;
  std::vector<Users> users_;
  Places places_;
  Walk walk_;
};

}  // namespace

void Unroll(const Plan& plan, const Contents& contents,
            const std::function<void(const Instruction&)>& run) {
  Unrolling(plan, contents, run).Run();
}

}  // namespace tessera::plan::execute
