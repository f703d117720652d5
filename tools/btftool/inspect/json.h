// inspect as one JSON document, written as it grows: a file of a million records needs no million
// objects.
#pragma once

#include <string>
#include <string_view>

#include "inspect/details.h"
#include "io/finding_tally.h"
#include "io/json.h"
#include "io/json_text.h"
#include "io/output.h"
#include "report/text/json_document.h"

namespace btftool {

class InspectJson {
 public:
  InspectJson(Output& out, const InspectOptions& options);

  void begin(const btf::TensorFile& file);
  // Instead of a file that could not be opened.
  void unreadable(const std::string& path, const btf::Error& error);
  void tensor(const btf::TensorInfo& tensor, const InspectDetails& details);
  void broken(const btf::Error& error, std::uint64_t tensor);
  void odd(const btf::Error& error);  // of the file as a whole
  void end();                         // of a file

  void close(const Json& members);

 private:
  void take(const btf::Finding& finding);
  void unknown(const btf::TensorInfo& tensor, std::uint64_t at, std::string_view code,
               const std::string& what);
  void describe(const btf::TensorInfo& tensor, const InspectDetails& details);
  void strides(const btf::TensorInfo& tensor);
  static Json at(const InspectDetails& details);

  Output& out_;
  const InspectOptions& options_;
  JsonDocument document_;
  bool btf_ = true;
  JsonText object_;            // used again for every tensor
  FindingTally tally_{false};  // of a file
  Json findings_;              // those that are shown
};

}  // namespace btftool
