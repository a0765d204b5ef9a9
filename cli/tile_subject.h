#pragma once

#include <string>
#include <vector>

#include "tessera/cli/network_options.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace CLI {
class Option;
}

namespace tessera::cli {

// The network, the profile and the interval that a question is about.
struct TileSubject {
  graph::Graph network;
  hw_profiles::Profile profile;
  graph::Interval interval;
  std::vector<std::string> notes;  // what the network's reader has to say

  std::string Text() const;
};

// The options beside a network that make it a subject.
class SubjectOptions {
 public:
  // Adds --hw, --ops and those of NetworkOptions. The answer is --hw.
  CLI::Option* Declare(CLI::App& app);

  bool NamesProfile() const { return !profile_.empty(); }

  // Tells `files` which files the options name.
  void AddInputs(Destinations& files) const;

  // Prints the notes.
  tl::expected<TileSubject, NetworkRefusal> Load(Console& console, const std::string& network) const;

 private:
  std::string profile_;
  std::string interval_;
  NetworkOptions import_;
};

// The options that make a subject one Problem: --tile and --policy.
class TileChoice {
 public:
  // Both need `profile`.
  void Declare(CLI::App& app, CLI::Option* profile);

  // What engines are asked of this tile under this policy. Refuses what is no tile or no policy of the subject, and
  // as unsupported what the profile cannot run.
  tl::expected<problem::Problem, NetworkRefusal> Pose(const TileSubject& subject) const;

 private:
  std::string tile_;
  std::string policy_;
};

}  // namespace tessera::cli
