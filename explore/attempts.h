// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tessera/explore/store.h"

namespace tessera::explore {

// The outcome of an answer that two attempts did not find.
inline constexpr std::string_view kFailed = "failed";

// Which questions processes work on. A note is in the store before a question is asked, and goes
// when it is answered. So a note that a process finds at its start is of a process that ended
// meanwhile: by a signal, or because memory ran out. One process at a time may work on a question.
class Attempts {
 public:
  // The store must outlive it.
  explicit Attempts(const Store& store);

  // How often the question was begun without an end.
  int64_t CountOf(const std::string& key) const;

  // Notes an attempt. After two it does not, and gives the reason why the question is given up.
  std::optional<std::string> Begin(const std::string& key) const;

  // Why the last attempt, which the process survived, gave no answer.
  void Explain(const std::string& key, const std::string& reason) const;

  // The question is answered, or its attempt was cancelled.
  void End(const std::string& key) const;

  // Forgets the answers "failed" and the notes of these questions, so that they are asked again,
  // and what became stale by it.
  void Forget(const std::set<std::string>& keys) const;

 private:
  const Store& store_;
};

// Removes finished explorations that state a failure which the answers of the store do not state
// any more: the question was answered since, or is to be asked again.
void DropStaleResults(const Store& store);

}  // namespace tessera::explore
