// SPDX-License-Identifier: Apache-2.0

#include "faults.h"

#include <gmock/gmock.h>

namespace tessera::cli {
namespace {

using testing::IsEmpty;

std::string LineOf(std::string text, int line) {
  for (; line > 1; --line) text.erase(0, text.find('\n') + 1);
  return text.substr(0, text.find('\n'));
}

// The line of the complaint, with a caret below the column.
std::string Picture(const std::string& text, const Fault& fault) {
  std::string picture = "     " + std::to_string(fault.line);
  picture.erase(0, picture.size() - 5);
  return picture + " | " + LineOf(text, fault.line) + "\n      | " +
         std::string(static_cast<size_t>(fault.column - 1), ' ') + "^\n";
}

}  // namespace

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

std::string NameOf(const testing::TestParamInfo<Fault>& info) { return info.param.name; }

void ExpectComplaint(const Outcome& outcome, const std::string& file, const std::string& text,
                     const Fault& fault) {
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  std::string complaint = file + ":" + std::to_string(fault.line) + ":" +
                          std::to_string(fault.column) + ": error: " + fault.message + "\n";
  complaint += Picture(text, fault);
  for (const std::string& line : fault.cure) complaint += "  " + line + "\n";
  EXPECT_EQ(outcome.err, complaint);
}

}  // namespace tessera::cli
