// Dtypes of tensors by their names, of files that name tensors and do not tell dtypes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/tensor_set.h"
#include "cli/options.h"

namespace btftool {

using DtypeOf = decltype(btf::OpenOptions::dtype_of);

// Of the rules that are a dtype alone, the last whose glob matches the tensor or the file. Nothing
// to ask if there are none.
DtypeOf dtype_of(const std::vector<SpecRule>& rules);

// Is the rule a dtype alone, and does its glob match a tensor of a file of the set that does not
// tell its dtypes?
bool names_a_tensor(const SpecRule& rule, const btf::TensorSet& set);

// `open` with these rules; an error: one matches nothing in any of the files. Of stdin that is not
// asked.
btf::Result<btf::OpenOptions> with_types(const btf::OpenOptions& open,
                                         const std::vector<SpecRule>& rules,
                                         std::span<const std::string> paths);

}  // namespace btftool
