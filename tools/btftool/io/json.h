// JSON that several commands write, by the rules of report/text/json.h.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/stats.h"
#include "btf/validate.h"
#include "report/text/json.h"

namespace btftool {

using namespace btf::report;

// `name`: of its tensor; empty: it has none, or is not asked for.
Json json_finding(const btf::Finding& finding, const std::string& name = {});
Json json_finding(const btf::Error& error, std::optional<std::uint64_t> tensor);
Json json_loss(const btf::LossAccount& loss);
Json json_stats(const btf::TensorStats& stats, btf::DType dtype);

}  // namespace btftool
