// JSON that is written before what stands in front of it: in memory while it is little, else in a
// temporary file.
#pragma once

#include <optional>

#include "btf/report/report.h"
#include "formats/io/spool.h"
#include "report/text/json_document.h"

namespace btf::report {

class SpooledJson {
 public:
  JsonDocument& document() { return document_; }
  // Call it after each item.
  void settle();
  // All of it, piece by piece. An error: the temporary file, or the sink's.
  Status write(const TextSink& sink);

 private:
  Status keep();

  JsonDocument document_;
  std::optional<Spool> kept_;
  Status status_{};  // the first error
};

}  // namespace btf::report
