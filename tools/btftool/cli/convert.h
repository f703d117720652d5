// The options of convert. Only this folder includes it.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "cli/spec.h"
#include "cli/support.h"

namespace btftool {

// Words that are only interpreted once everything is parsed.
struct ConvertWords {
  std::optional<std::string> dtype;
  std::optional<std::string> layout;
  std::string dla;
  SpecWords input;
  std::optional<std::string> output_spec;
  std::optional<std::string> format;
  std::optional<std::string> scale;
  std::optional<std::string> scale_axis;
  std::optional<std::string> zero_point;
  std::optional<std::string> max_zero;
  std::optional<std::string> max_overflow;
  std::optional<std::string> min_snr;
};

void declare_convert(CLI::App& app, ConvertCommand& command, ConvertWords& words);

// Takes the words, and checks what only shows once the operands are known.
void finish_convert(const CLI::App& app, const ConvertWords& words, ConvertCommand& command);

}  // namespace btftool
