#include "tessera/cli/tile_subject.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/cli/console.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/tables.h"
#include "tessera/cli/tile_words.h"
#include "tessera/encoder/adapt/assign_homes.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/plan/plan.h"

namespace tessera::cli {
namespace {

using encoder::Policy;

base::Expected<graph::TileShape> ChooseTile(const std::string& words, const TileSubject& subject) {
  if (!words.empty()) return ParseTileShape(words, subject.network, subject.profile, subject.interval);
  return encoder::OutputShape(subject.network, subject.interval);
}

base::Expected<Policy> ChoosePolicy(const std::string& words, const TileSubject& subject) {
  const std::vector<Policy> policies =
      encoder::PoliciesOf(subject.network, subject.profile, subject.interval);
  if (words.empty()) return policies.front();
  std::vector<std::string> names;
  for (const Policy& policy : policies) {
    names.push_back(PolicyText(policy.weights, policy.in_place, policy.halo, policy.depth));
    if (names.back() == words) return policy;
  }
  const std::vector<std::string_view> choices(names.begin(), names.end());
  base::Diagnostic fault;
  fault.message = fmt::format("--policy: the profile holds these operators in no way '{}'", words);
  fault.expected = base::Join(choices, "; ");
  fault.hint = base::DidYouMean(words, choices);
  return tl::unexpected(std::move(fault));
}

}  // namespace

std::string TileSubject::Text() const {
  const auto id = [this](int op) { return network.operators[static_cast<size_t>(op)].id; };
  return fmt::format("{}, operators {} to {}", network.name, id(interval.first), id(interval.last));
}

CLI::Option* SubjectOptions::Declare(CLI::App& app) {
  CLI::Option* profile = app.add_option("--hw", profile_, "The hardware profile");
  app.add_option("--ops", interval_, "FIRST..LAST, ids or numbers from 0, both included (default: all)")
      ->needs(profile);
  import_.Declare(app);
  return profile;
}

void SubjectOptions::AddInputs(Destinations& files) const {
  if (!profile_.empty()) AddProfile(files, profile_);
  import_.AddInputs(files);
}

tl::expected<TileSubject, NetworkRefusal> SubjectOptions::Load(Console& console,
                                                               const std::string& network) const {
  tl::expected<LoadedNetwork, NetworkRefusal> loaded = import_.Load(network, profile_);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  if (auto note = plan::NoteOnUnknownWork(loaded->graph, {})) loaded->notes.push_back(*std::move(note));
  for (const std::string& note : loaded->notes) console.Note(note);
  if (!loaded->nodes.empty()) loaded->notes.push_back(loaded->nodes);
  base::Expected<hw_profiles::Profile> profile = LoadProfile(profile_);
  if (!profile) return tl::unexpected(NetworkRefusal{profile.error()});
  const base::Expected<graph::Interval> interval = ParseInterval(interval_, loaded->graph);
  if (!interval) return tl::unexpected(NetworkRefusal{interval.error()});
  loaded->graph = encoder::WithHomes(std::move(loaded->graph), *profile);
  return TileSubject{std::move(loaded->graph), *std::move(profile), *interval, std::move(loaded->notes)};
}

void TileChoice::Declare(CLI::App& app, CLI::Option* profile) {
  app.add_option(
         "--tile", tile_,
         "The tile of the last operator's output: ROWSxCOLUMNS or AXIS=EXTENT,... (default: all of it)")
      ->needs(profile);
  app.add_option("--policy", policy_,
                 "How weights, results and halos are held, in the words of `tessera tile` (default: what the "
                 "profile prefers)")
      ->needs(profile);
}

tl::expected<problem::Problem, NetworkRefusal> TileChoice::Pose(const TileSubject& subject) const {
  if (auto fault = encoder::FindFault(subject.network, subject.interval)) {
    return tl::unexpected(NetworkRefusal{*std::move(fault), ExitCode::kUnsupported});
  }
  const base::Expected<graph::TileShape> tile = ChooseTile(tile_, subject);
  if (!tile) return tl::unexpected(NetworkRefusal{tile.error()});
  const base::Expected<Policy> policy = ChoosePolicy(policy_, subject);
  if (!policy) return tl::unexpected(NetworkRefusal{policy.error()});
  const std::array choices = {encoder::SubgraphChoice{subject.interval, *tile, *policy}};
  base::Expected<encoder::Program> program = encoder::BuildProgram(subject.network, subject.profile, choices);
  if (!program) return tl::unexpected(NetworkRefusal{program.error(), ExitCode::kUnsupported});
  return std::move(program->problem);
}

}  // namespace tessera::cli
