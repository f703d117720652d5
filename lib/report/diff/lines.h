// Lines into a sink.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "btf/report/report.h"

namespace btf::report {

class Lines {
 public:
  explicit Lines(TextSink sink) : sink_(std::move(sink)) {}

  void line(std::string_view text) {
    if (status_) status_ = sink_(std::string(text) + "\n");
  }
  // The first write error; nothing was written after it.
  const Status& status() const { return status_; }

 private:
  TextSink sink_;
  Status status_{};
};

}  // namespace btf::report
