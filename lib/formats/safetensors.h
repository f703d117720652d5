// safetensors: many named tensors after a JSON header.
#pragma once

#include <memory>
#include <string_view>

#include "formats/format.h"

namespace btf {

inline constexpr std::string_view kSafetensorsEnding = ".safetensors";

Result<bool> recognizes_safetensors(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_safetensors(const ByteSource& source,
                                                       const OpenRequest& request);
Status check_safetensors(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> safetensors_writer(const WriteRequest& request);

Result<bool> begins_as_safetensors(const ByteSource& beginning);
std::unique_ptr<StreamBound> safetensors_bound();

}  // namespace btf
