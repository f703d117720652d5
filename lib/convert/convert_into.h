// convert() with an output that is no path.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "btf/convert.h"
#include "formats/io/byte_sink.h"

namespace btf {

// Asked once, when the size of the output is known (0: it is not).
using MakeSink = std::function<Result<std::unique_ptr<ByteSink>>(const SinkOptions& options)>;

// The name only says the format, as the end of a path does.
Result<std::uint64_t> convert_into(const TensorFile& input, const std::string& name,
                                   const MakeSink& make_sink, const ConvertOptions& options,
                                   const TensorReportSink& report = {});

}  // namespace btf
