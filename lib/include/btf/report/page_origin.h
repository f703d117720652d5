// How a report came to be, as its page says it at the top.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/shards/file_state.h"
#include "btf/tensor_set.h"

namespace btf {

// What is not known is not said.
struct PageOrigin {
  std::string program{};  // "btftool 1.0.0"
  std::string command{};  // makes the report again
  // When the newest of the files that were read was changed, in seconds since 1970.
  std::optional<std::int64_t> newest_input{};

  BTF_API void add(const FileState& input);
  BTF_API void add_inputs(const TensorSet& set);
  // Takes the place of that date. `seconds`: $SOURCE_DATE_EPOCH, for pages that have to be the same
  // again; what is no such number, up to the end of the year 9999, changes nothing.
  BTF_API void take_date(std::string_view seconds);
};

}  // namespace btf
