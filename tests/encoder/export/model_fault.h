// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "tessera/encoder/export/formula.h"

namespace tessera::encoder {

// An output that is no model, the position of its fault, and part of the message. The output is
// read as "model.txt".
struct ModelFault {
  std::string name;
  std::string output;
  int line;
  int column;
  std::string message;
};

inline void PrintTo(const ModelFault& fault, std::ostream* out) { *out << fault.name; }

inline void ExpectRefused(const base::Expected<exports::Decoded>& decoded,
                          const ModelFault& fault) {
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().file, "model.txt");
  EXPECT_EQ(decoded.error().line, fault.line);
  EXPECT_EQ(decoded.error().column, fault.column);
  EXPECT_THAT(decoded.error().message, testing::HasSubstr(fault.message));
}

}  // namespace tessera::encoder
