// repair(): finds records in damaged bytes and writes them anew, also to an output that is not a
// path.
#pragma once

#include <memory>
#include <string>

#include "btf/repair.h"
#include "convert/convert_set.h"
#include "formats/io/byte_source.h"

namespace btf {

// Repairs bytes that are not a file, to an output that is not a path.

// `name` is for errors.
Result<RepairSummary> repair_into(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                  const MakeSink& make_sink, const RepairOptions& options,
                                  const RepairReport& report = {});

}  // namespace btf
