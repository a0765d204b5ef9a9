// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <fstream>
#include <sstream>
#include <string_view>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::search {
namespace {

base::Expected<std::string> ContentOf(std::string_view path) {
  std::ifstream in{std::string(path)};
  std::ostringstream text;
  text << in.rdbuf();
  base::Diagnostic fault;
  fault.message = "cannot be read: " + std::string(path);
  if (!in) return tl::unexpected(std::move(fault));
  return text.str();
}

std::string FromRoot(const std::string& path) { return std::string(SOURCE_FOLDER) + "/" + path; }

}  // namespace

graph::Graph NetworkIn(const std::string& path) {
  const std::string file = FromRoot(path);
  return graph::import::yaml::ReadNetwork(ContentOf(file).value(), file).value();
}

hw_profiles::Profile ProfileIn(const std::string& path) {
  const std::string file = FromRoot(path);
  return hw_profiles::ReadProfile(ContentOf(file).value(), file, ContentOf).value();
}

}  // namespace tessera::search
