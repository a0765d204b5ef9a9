#pragma once

#include <string>

#include "tessera/encoder/export/formula.h"

namespace tessera::encoder {

// The line that opens a formula, without the sign that makes it a comment:
//
//     tessera-formula {"version":1,"problem":"c0ffee...","capacity":4096,"rung":"rows=7","integers":"order"}
std::string WriteHeader(const problem::ProblemDocument& document, const FormulaOptions& options);

}  // namespace tessera::encoder
