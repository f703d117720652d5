// Statistics, and whether a file is well-formed.
#include "btf/stats.h"
#include "btf/try.h"
#include "btf/validate.h"
#include "btf/value.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

double value_of(const TensorInfo& tensor, const std::optional<Extreme>& extreme) {
  return extreme ? value_double(*tensor.dtype, extreme->code) : kNaN;
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_stats(btf_file* file, uint64_t index, uint32_t jobs, btf_tensor_stats* stats) {
  return with_handle(file, [&]() -> btf::Status {
    if (stats == nullptr) return wrong("no room for the statistics");
    BTF_TRY(can_give(stats));
    BTF_ASSIGN(const btf::TensorInfo* const tensor, file->tensor(index));
    btf::Execution execution;
    execution.jobs = jobs;
    BTF_ASSIGN(const btf::TensorStats found, btf::stats(file->file, *tensor, execution));
    return give(stats, {.size = 0,
                        .elements = found.elements,
                        .finite = found.finite,
                        .nan = found.nan,
                        .positive_inf = found.positive_inf,
                        .negative_inf = found.negative_inf,
                        .zeros = found.zeros,
                        .subnormals = found.subnormals,
                        .min = value_of(*tensor, found.min),
                        .max = value_of(*tensor, found.max),
                        .mean = found.mean.value_or(kNaN),
                        .std = found.std.value_or(kNaN)});
  });
}

btf_status btf_validate(const char* path, const btf_validate_options* options,
                        btf_finding_report report, void* user, uint64_t* errors) {
  return guarded(nullptr, [&]() -> btf::Status {
    if (path == nullptr) return wrong("no path");
    BTF_ASSIGN(const btf_validate_options from, given(options));
    btf::ValidateChecks checks{.finite = from.finite != 0};
    if (from.recipient != nullptr) {
      BTF_ASSIGN(checks.recipient,
                 choose("recipient", btf::recipient_names(), from.recipient, btf::Recipient::tfrt));
    }
    btf::Execution execution;
    execution.jobs = from.jobs;
    std::uint64_t bad = 0;
    const auto take = [&](const btf::Finding& found) {
      const bool error = found.severity == btf::Severity::error;
      bad += error ? 1 : 0;
      if (report == nullptr) return;
      const std::string code(found.code);
      const btf_finding finding{.size = sizeof(btf_finding),
                                .error = error ? 1 : 0,
                                .code = code.c_str(),
                                .message = found.message.c_str(),
                                .tensor = found.tensor.value_or(BTF_NONE),
                                .offset = found.offset};
      report(user, &finding);
    };
    BTF_TRY(btf::validate(path, take, {}, execution, checks));
    if (errors != nullptr) *errors = bad;
    return {};
  });
}
}
