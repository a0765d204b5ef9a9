// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_CERTIFICATE_H_
#define TESSERA_CERTIFICATE_H_

#include <tessera/call.h>
#include <tessera/result.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {
inline namespace v0 {

// A proof that buffers do not fit, or that a network has no plan (docs/certificate-format.md).
// Allocate and MakePlan make it if their options ask for it. Immutable and thread-safe; copies
// share the content.
class TESSERA_API Certificate {
 public:
  // Reads the certificate in a folder, without checking it: see Check.
  static Result<Certificate> Load(const std::string& folder);

  // Makes a certificate of these files: names, relative to a folder, and contents. It is not
  // checked.
  static Result<Certificate> FromFiles(
      const std::vector<std::pair<std::string, std::string>>& files);

  // Writes the files into the folder, which is created if it is missing.
  Result<Done> Save(const std::string& folder) const;

  // Returns the names of the files, relative to the folder, and their contents.
  const std::vector<std::pair<std::string, std::string>>& Files() const noexcept;

  struct Content;
  explicit Certificate(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

struct CertificateReport : CheckReport {
  std::string claim = {};  // what is proven: "nothing fits into 11 bytes"; empty unless accepted
};

// Checks the proof with code that contains no solver and no search.
TESSERA_API Result<CertificateReport> Check(const Certificate& certificate,
                                            const CallOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CERTIFICATE_H_
