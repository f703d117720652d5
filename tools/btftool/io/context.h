// What every command is given.
#pragma once

#include "cli/option_names.h"
#include "cli/options.h"
#include "io/log.h"
#include "io/output.h"

namespace btftool {

struct Context {
  const GlobalOptions& global;
  Output& out;
  Log& log;
  const OptionNames& names;
};

}  // namespace btftool
