// JSON by the rules of docs/json.md: non-finite numbers are strings, integers beyond 2^53 are
// strings, members keep their order.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "btf/cast.h"
#include "btf/diff.h"
#include "btf/dtype.h"
#include "btf/file.h"
#include "btf/stats.h"
#include "btf/validate.h"

namespace btftool {

using Json = nlohmann::ordered_json;

// Does every reader get this integer as it is? Others are written as strings.
bool json_exact(std::uint64_t value);
Json json_number(double value);
Json json_number(std::uint64_t value);
// Files beside the tensors, as a member; none if there are none.
Json json_others(const std::vector<std::string>& paths);
Json json_dims(const btf::Dims& dims);
Json json_value(btf::DType dtype, std::uint64_t code);  // one element

Json json_finding(const btf::Finding& finding);
Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor);
// Adds "layout", and "dla" where one name has two pitches, under these names.
void add_layout(Json& object, const std::string& prefix, btf::Layout layout);
Json json_loss(const btf::LossAccount& loss);
Json json_stats(const btf::TensorStats& stats, btf::DType dtype);

// One line of JSON text; invalid UTF-8 (of file names) is replaced.
std::string dump(const Json& json);

}  // namespace btftool
