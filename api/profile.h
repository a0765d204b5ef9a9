// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_PROFILE_H_
#define TESSERA_PROFILE_H_

#include <tessera/result.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {
inline namespace v0 {

// An accelerator: memories with banks and modes, engines, links, energies (docs/profile-format.md).
// Immutable and thread-safe; copies share the content.
class TESSERA_API Profile {
 public:
  // Reads the profile of a YAML file and the files that it extends.
  static Result<Profile> Load(const std::string& path);

  // As Load, from a text, which must not extend files. `name` is for messages.
  static Result<Profile> Parse(std::string_view yaml, const std::string& name = "profile");

  // Returns a copy with another value in one place. `path` is the JSON pointer (RFC 6901) of an
  // entry in Json(), which must exist, and `value` is its new value in JSON:
  // With("/memories/sram/capacity_bytes", "524288"). The copy is checked like a file.
  Result<Profile> With(const std::string& path, const std::string& value) const;

  // Serialize returns the whole profile, including its descriptions of operators, as bytes for
  // Deserialize in another process with the same version of the library.
  Result<std::string> Serialize() const;
  static Result<Profile> Deserialize(std::string_view bytes);

  const std::string& Name() const noexcept;

  // Returns the complete profile with every default, as JSON that Parse accepts. Descriptions of
  // operators are left out.
  const std::string& Json() const noexcept;

  // Returns Json() for a file. Returns kUnsupported if the file would lack descriptions of
  // operators
  // (`ops`), with their position.
  Result<std::string> Render() const;

  // Returns the names of the file or text of this profile and of each file that it extends.
  Result<std::vector<std::string>> Files() const;

  struct Content;
  explicit Profile(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_PROFILE_H_
