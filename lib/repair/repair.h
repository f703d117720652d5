// repair(): records found in damaged bytes and written anew, also to an output that is not a path.
#pragma once

#include <memory>
#include <string>

#include "btf/repair.h"
#include "convert/convert_file.h"
#include "formats/io/byte_source.h"

namespace btf {

// repair() of bytes that are no file, to an output that is no path.

// The name is for errors.
Result<RepairSummary> repair_into(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                  const MakeSink& make_sink, const RepairOptions& options,
                                  const RepairReport& report = {});

}  // namespace btf
