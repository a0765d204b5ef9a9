// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "command_line.h"

// Each fault is a single change to a valid file. The complaint about it names file, line and
// column, shows the place, and states what is expected.
namespace tessera::cli {

// A change, the position of the complaint, and its text: the message, then the lines below the
// excerpt.
struct Fault {
  std::string name;
  std::string from;
  std::string to;
  int line;
  int column;
  std::string message;
  std::vector<std::string> cure;
};

void PrintTo(const Fault& fault, std::ostream* out);

// The name of the fault, for a suite of tests.
std::string NameOf(const testing::TestParamInfo<Fault>& info);

// Expects exit code 3, no output, and only that complaint about `text`, the faulty file.
void ExpectComplaint(const Outcome& outcome, const std::string& file, const std::string& text,
                     const Fault& fault);

}  // namespace tessera::cli
