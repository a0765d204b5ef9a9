#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tessera/explore/spec.h"

// Specifications in a folder of their own, next to the shipped files that they name.
namespace tessera::explore {

class SpecTest : public testing::Test {
 protected:
  SpecTest() {
    folder_ =
        std::filesystem::path(testing::TempDir()) /
        ("explore_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~SpecTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name) << content;
  }

  std::string PathOf(const std::string& name) const { return (folder_ / name).string(); }

  base::Expected<Spec> Read(const std::string& text) const {
    return ReadSpec(text, PathOf("spec.yaml"));
  }

  static std::string Shipped(const std::string& path) {
    return std::string(TESSERA_SOURCE_DIR) + "/" + path;
  }

  // A network and a profile that are planned in milliseconds.
  static std::string Heads() {
    return "schema: 1\nnetworks: [" + Shipped("examples/networks/patent_chain.yaml") +
           "]\nprofile: " + Shipped("hw_profiles/edge_npu_64kib.yaml") + "\n";
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tessera::explore
