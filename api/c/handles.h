// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/c/tessera.h>
#include <tessera/tessera.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

// Private: the C interface, as handles around the values of the C++ interface, which throws
// nothing. C callers own the objects that they receive until they free them.
// NOLINTBEGIN(cppcoreguidelines-owning-memory)
struct tessera_error {
  tessera::Error value;
};
struct tessera_network {
  tessera::Network value;
};
struct tessera_profile {
  tessera::Profile value;
};
struct tessera_plan {
  tessera::Plan value;
};
struct tessera_certificate {
  tessera::Certificate value;
};
struct tessera_answer {
  tessera::PlanAnswer value;
  std::string explanation;                           // the one of `value`, in lines
  std::unique_ptr<tessera_plan> plan;                // a handle of value.plan
  std::unique_ptr<tessera_certificate> certificate;  // a handle of value.certificate
};
struct tessera_canceller {
  tessera::Canceller value;
};
struct tessera_problem {
  tessera::Problem value;
};
struct tessera_allocation {
  tessera::AllocateAnswer value;
  std::string explanation;                           // the one of `value`, in lines
  std::unique_ptr<tessera_certificate> certificate;  // a handle of value.certificate
};
struct tessera_tiles {
  tessera::TileAnswer value;
  std::string explanation;  // the one of `value`, in lines
};
struct tessera_session {
  tessera::Session value;
};
struct tessera_front {
  tessera::FrontAnswer value;
  std::vector<tessera_plan> plans;  // handles of the plans of value.points
};
struct tessera_choice {
  tessera::ChooseAnswer value;
};

namespace tessera::api::c {

inline tessera_status Fail(const Error& fault, tessera_error** error) {
  const auto status = static_cast<tessera_status>(fault.status);
  if (error != nullptr) *error = new (std::nothrow) tessera_error{fault};
  return status;
}

// Calls `work`, which throws only if memory runs out, for instance when it copies a caller's text.
template <typename Work>
tessera_status Guarded(tessera_error** error, const Work& work) {
  if (error != nullptr) *error = nullptr;
  try {
    return work();
  } catch (...) {
    return TESSERA_STOPPED;
  }
}

// Makes a handle of the value of a result.
template <typename Handle, typename Value>
tessera_status Give(Result<Value> result, Handle** handle, tessera_error** error) {
  if (!result) return Fail(result.Error(), error);
  *handle = new Handle{*std::move(result)};
  return TESSERA_OK;
}

inline char* Copy(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

inline tessera_status RenderTo(char** text, const Result<std::string>& rendered,
                               tessera_error** error) {
  if (!rendered) return Fail(rendered.Error(), error);
  *text = Copy(*rendered);
  return TESSERA_OK;
}

// Returns the options of this version; fields that an older caller does not have are 0.
template <typename Options>
Options Complete(const Options& given) {
  Options known = {};
  std::memcpy(&known, &given, std::min(given.size, sizeof known));
  return known;
}

// Returns an array of the caller; fields that an older caller does not have are 0.
template <typename Element>
std::vector<Element> Complete(const Element* array, size_t count) {
  std::vector<Element> known(count);
  const char* at = reinterpret_cast<const char*>(array);
  for (Element& element : known) {
    std::memcpy(&element, at, std::min(array->size, sizeof element));
    at += array->size;
  }
  return known;
}

// Translates the options that all searches have in common.
template <typename Given>
void TranslateSearch(const Given& known, SearchOptions& options) {
  options.seed = known.seed;
  if (known.budget != 0) options.budget = known.budget;
  if (known.timeout_s != 0) options.timeout_s = known.timeout_s;
  if (known.memory_limit != 0) options.memory_limit = known.memory_limit;
  if (known.threads != 0) options.threads = known.threads;
  if (known.canceller != nullptr) options.canceller = known.canceller->value;
  if (known.progress != nullptr) {
    options.progress = [known](const Progress& each) {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      const std::string line(each.line);
      const std::string phase(each.phase);
      const tessera_progress progress = {sizeof progress,
                                         line.c_str(),
                                         phase.c_str(),
                                         each.done,
                                         each.total,
                                         each.incumbent.value_or(kNone),
                                         each.bound.value_or(kNone)};
      known.progress(known.user, &progress);
    };
  }
}

// Joins lines to one text.
inline std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

// Writes the result of a check to the arguments of the caller. `findings` may be nullptr.
inline tessera_status Give(const CheckReport& report, int* accepted, char** findings) {
  *accepted = report.accepted ? 1 : 0;
  if (findings == nullptr) return TESSERA_OK;
  *findings = Copy(Joined(report.findings) + (report.open.empty() ? "" : report.open + '\n'));
  return TESSERA_OK;
}

// Returns a text of the caller, which may be NULL.
inline std::string TextOf(const char* text) { return text != nullptr ? text : ""; }

// Translate options of C to those of C++.
PlanOptions Translate(const tessera_plan_options& given);
AllocateOptions Translate(const tessera_allocate_options& given);

// Make handles of new answers.
tessera_status GiveAllocation(Result<AllocateAnswer> made, tessera_allocation** allocation,
                              tessera_error** error);
tessera_status GiveAnswer(Result<PlanAnswer> made, tessera_answer** answer, tessera_error** error);

}  // namespace tessera::api::c

// NOLINTEND(cppcoreguidelines-owning-memory)
