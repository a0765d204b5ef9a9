#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "command_line.h"

// Faults that are made by a single change to a sound file, and the complaint about each: it names
// file, line and column, shows the place, and says what would have been right.
namespace tessera::cli {

// A change, where the complaint about it stands, and what the complaint says: the message, then
// lines below the picture of the place.
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

// The fault's own name, for a suite of tests.
std::string NameOf(const testing::TestParamInfo<Fault>& info);

// Expects exit code 3, no output, and nothing but that complaint about `text`, the faulty file.
void ExpectComplaint(const Outcome& outcome, const std::string& file, const std::string& text,
                     const Fault& fault);

}  // namespace tessera::cli
