// JSON by the rules of docs/cli.md: non-finite numbers are strings, integers beyond 2^53 are
// strings, members keep their order.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"

namespace btf::report {

using Json = nlohmann::ordered_json;

// Does every reader get this integer as it is? Others are written as strings.
bool json_exact(std::uint64_t value);
Json json_number(double value);
Json json_number(std::uint64_t value);
// Files beside the tensors, as a member; none if there are none.
Json json_others(const std::vector<std::string>& paths);
Json json_dims(const Dims& dims);
Json json_value(DType dtype, std::uint64_t code);  // one element

// Adds "layout", and "dla" where one name has two pitches, under these names.
void add_layout(Json& object, const std::string& prefix, Layout layout);
// One line of JSON text; invalid UTF-8 (of file names) is replaced.
std::string dump(const Json& json);

}  // namespace btf::report
