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
// Allocate and MakePlan make it if their options ask for it. A value that never changes; copies
// share it, and threads may too.
class TESSERA_API Certificate {
 public:
  // The certificate in a folder. It is read, not checked: see Check.
  static Result<Certificate> Load(const std::string& folder);

  // The certificate with these files: names, relative to a folder, and contents. It is not checked.
  static Result<Certificate> FromFiles(
      const std::vector<std::pair<std::string, std::string>>& files);

  // Writes its files into the folder, which is made if there is none.
  Result<Done> Save(const std::string& folder) const;

  // Names, relative to the folder, and contents.
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

// Checks the proof by code that knows no solver and no search.
TESSERA_API Result<CertificateReport> Check(const Certificate& certificate,
                                            const CallOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CERTIFICATE_H_
