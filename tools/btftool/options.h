// What the command line says, as the commands take it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"

namespace btftool {

enum class When : std::uint8_t { automatic, always, never };

struct GlobalOptions {
  bool quiet = false;
  bool verbose = false;
  When color = When::automatic;
  When progress = When::automatic;
  unsigned jobs = 0;
};

struct InspectOptions {
  std::vector<std::string> files;
  std::optional<std::string> tensors;  // a selection; nothing: all
  bool json = false;
  bool stats = false;
  bool strides = false;
  std::optional<std::uint64_t> values;  // how many before they are summarised
  std::optional<std::string> slice;
  std::optional<std::string> at;
};

struct ConvertCommand {
  std::string input;
  std::string output;
  std::optional<std::string> tensors;
  bool json = false;
  btf::ConvertOptions convert;
};

struct DiffCommand {
  std::string actual;
  std::string golden;
  std::optional<std::string> tensors;
  bool json = false;
  btf::DiffOptions diff;
};

struct ValidateOptions {
  std::vector<std::string> files;
  bool json = false;
  bool strict = false;
};

using Command = std::variant<InspectOptions, ConvertCommand, DiffCommand, ValidateOptions>;

struct Invocation {
  GlobalOptions global;
  Command command;
};

}  // namespace btftool
