#pragma once

#include <string>
#include <string_view>

#include "tessera/encoder/export/sentences.h"
#include "tessera/encoder/export/term_record.h"

namespace tessera::encoder {

// The stack of conditions for people: what an SMT solver would be told, in sentences and inequalities over
// bytes, grouped by topic, each numbered as the assertions of SMT-LIB are.
std::string WriteText(const TermRecord& record, const Sentences& sentences);

}  // namespace tessera::encoder
