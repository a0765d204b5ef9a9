#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/clause_record.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/encoder/export/sentences.h"

namespace tessera::encoder {

// The formula as DIMACS CNF. `header` opens it; the comments behind it map every variable to its meaning.
std::string WriteDimacs(const ClauseRecord& record, const Sentences& sentences, std::string_view header,
                        std::string_view sizes);

// The output of a SAT solver, as the SAT competitions define it: comments (c), one line of status (s), and the
// values (v) up to a 0. Values go into `record`. Variables may be missing where every clause holds without
// them.
base::Expected<Decoded::Claim> ReadDimacsModel(std::string_view output, std::string_view file,
                                               ClauseRecord& record, const Sentences& sentences);

}  // namespace tessera::encoder
