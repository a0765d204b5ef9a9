#pragma once

#include <cstdint>
#include <optional>
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

  // Forgets all answers "failed" and all notes, so that the questions are asked again.
  void Forget() const;

 private:
  const Store& store_;
};

}  // namespace tessera::explore
