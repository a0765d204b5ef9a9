#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/symbols.h"

namespace tessera::encoder {

// The formula as SMT-LIB 2 in QF_LIA; most of its orders are differences. Each assertion is named by its topic
// ("liveness.3"), so that a solver's unsat core can be read; the script ends with (check-sat) and (get-model).
std::string WriteSmtlib(const TermRecord& record, const Symbols& symbols, std::string_view header,
                        std::string_view sizes);

// The output of an SMT solver: sat, unsat or unknown, and after sat the answer of get-model,
// ((define-fun |a below b| () Bool true) ...), or of get-value, ((|a below b| true) ...). Every free variable
// must have a value. Values go into `record`.
base::Expected<Decoded::Claim> ReadSmtlibModel(std::string_view output, std::string_view file,
                                               TermRecord& record, const Symbols& symbols);

}  // namespace tessera::encoder
