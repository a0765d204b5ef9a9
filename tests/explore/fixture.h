// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tessera/explore/spec.h"

// Specifications in a folder of their own, next to the shipped files that they name.
namespace tessera::explore {

class SpecTest : public testing::Test {
 protected:
  SpecTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("explore_" + std::to_string(getpid()) + "_" +
               testing::UnitTest::GetInstance()->current_test_info()->name());
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

  // one.yaml, a network of one operator, and bursts.yaml, a profile on which requests for its input
  // are best of 32 bytes: fewer bytes ask more often, more bytes waste part of a burst.
  void WriteBursts() const {
    Write("one.yaml",
          "schema: 1\nname: one\ndtype: int8\ninputs:\n  - {id: x, shape: [1, 4, 4, 8]}\n"
          "operators:\n  - {id: y, kind: conv, inputs: [x], out_channels: 4, kernel: 1}\n"
          "outputs: [y]\n");
    Write("bursts.yaml", "extends: " + Shipped("hw_profiles/edge_npu_64kib.yaml") +
                             "\nname: bursts\nmemories:\n  dram:\n    port: {burst_bytes: 32}\n"
                             "roles:\n  network_input: {home: dram, request_bytes: 32}\n");
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
