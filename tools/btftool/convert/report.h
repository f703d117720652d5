// The report of a conversion: text on standard error, JSON on standard output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/told.h"
#include "io/context.h"
#include "report/text/json_document.h"

namespace btftool {

class ConvertReport {
 public:
  ConvertReport(const Context& context, const ConvertCommand& command);

  void take(const ToldTensor& tensor);
  // When the output has been written, and not before: losses. `others`: files beside the tensors.
  void finish(std::uint64_t bytes, const std::vector<std::string>& others);

 private:
  const Context& context_;
  const ConvertCommand& command_;
  JsonDocument json_;
  std::vector<std::string> notes_;
  std::string last_ending_;
  Limited raw_;
  Limited endings_;
  Limited warnings_;
  Limited alarms_;
  Limited scales_;
  Limited losses_;
};

}  // namespace btftool
