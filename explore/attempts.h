// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tessera/explore/store.h"

namespace tessera::explore {

// The outcome of a question that two attempts did not answer.
inline constexpr std::string_view kFailed = "failed";

// Notes in the store about the questions that processes work on. A note is added before a question
// is asked, and removed when it is answered. So a note that a process finds at its start comes from
// a process that ended before the answer, by a signal or because memory ran out. Only one process
// at a time may work on a question.
class Attempts {
 public:
  // The store must outlive it.
  explicit Attempts(const Store& store);

  // Returns how often the question was begun without an end.
  int64_t CountOf(const std::string& key) const;

  // Notes an attempt. After two attempts it notes nothing, and returns why the question is given
  // up.
  std::optional<std::string> Begin(const std::string& key) const;

  // Records why the last attempt, which the process survived, gave no answer.
  void Explain(const std::string& key, const std::string& reason) const;

  // Removes the note: the question is answered, or its attempt was cancelled.
  void End(const std::string& key) const;

  // Removes the answers "failed" and the notes of these questions, so that they are asked again,
  // and removes the results that this makes stale.
  void Forget(const std::set<std::string>& keys) const;

 private:
  const Store& store_;
};

// Removes finished explorations that state a failure which the answers of the store no longer
// state, because the question was answered since or will be asked again.
void DropStaleResults(const Store& store);

}  // namespace tessera::explore
