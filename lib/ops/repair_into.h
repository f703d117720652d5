// repair() of bytes that are no file, to an output that is no path.
#pragma once

#include <memory>
#include <string>

#include "btf/repair.h"
#include "formats/byte_source.h"
#include "ops/convert_into.h"

namespace btf {

// The name is for errors.
Result<RepairSummary> repair_into(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                  const MakeSink& make_sink, const RepairOptions& options,
                                  const RepairReport& report = {});

}  // namespace btf
