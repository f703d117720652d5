#include "capi/support.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "btf/try.h"
#include "core/errors.h"

namespace btf::capi {
namespace {

Result<Dims> strides_of(const btf_array& array) {
  Dims strides;
  for (std::uint64_t d = 0; d < array.rank; ++d) {
    if (array.strides[d] < 0)
      return fail(ErrorCode::unsupported, "stride ", array.strides[d], " of dim ", d,
                  " is negative");
    strides.push_back(static_cast<std::uint64_t>(array.strides[d]));
  }
  return strides;
}

// Checks the rank before dims and strides are read: they must have as many numbers.
Result<StridedLayout> storage_of(const btf_array& array, Layout layout, DType dtype) {
  if (array.rank > kMaxRank)
    return fail(ErrorCode::unsupported, "the array has rank ", array.rank,
                ", but tensors have at most ", kMaxRank);
  if (array.rank > 0 && array.dims == nullptr) return null_argument("dims");
  const std::span<const std::uint64_t> dims(array.dims, array.rank);
  if (array.strides == nullptr) return resolve(layout, dims, dtype);
  if (array.layout != nullptr) return wrong("strides and a layout cannot both be given");
  BTF_ASSIGN(const Dims strides, strides_of(array));
  return resolve_strides(dims, strides, dtype);
}

}  // namespace

Result<Array> array_of(const btf_array* from) {
  if (from == nullptr) return null_argument("array");
  BTF_ASSIGN(const btf_array array, copy_in(from));
  if (array.dtype == nullptr) return wrong("the array has no dtype");
  BTF_ASSIGN(const DType dtype, parse_dtype(array.dtype));
  BTF_ASSIGN(const auto named, layout_named(array.layout));
  if (named && spec(*named).shuffled())
    return wrong("the shuffled layout exists only in files, not in memory");
  const Layout layout = named.value_or(Layout::linear);
  BTF_ASSIGN(StridedLayout storage, storage_of(array, layout, dtype));
  const std::uint64_t bytes = storage_bytes(storage, dtype);
  if (array.bytes < bytes)
    return wrong(concat("the array has ", array.bytes, " bytes, but its dims need ", bytes));
  if (array.data == nullptr && bytes > 0) return wrong("the array has no data");
  if (reinterpret_cast<std::uintptr_t>(array.data) % info(dtype).buffer_bytes() != 0)
    return wrong("the data is not aligned to its elements");
  return Array{{dtype, std::move(storage), {static_cast<const std::byte*>(array.data), bytes}},
               layout};
}

namespace {

// Statuses are ErrorCode + 1.
static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == BTF_INVALID_ARGUMENT &&
              static_cast<int>(ErrorCode::malformed) + 1 == BTF_MALFORMED &&
              static_cast<int>(ErrorCode::unsupported) + 1 == BTF_UNSUPPORTED &&
              static_cast<int>(ErrorCode::io) + 1 == BTF_IO &&
              static_cast<int>(ErrorCode::closed_pipe) + 1 == BTF_CLOSED_PIPE &&
              static_cast<int>(ErrorCode::no_space) + 1 == BTF_NO_SPACE &&
              static_cast<int>(ErrorCode::refused) + 1 == BTF_REFUSED &&
              static_cast<int>(ErrorCode::cancelled) + 1 == BTF_CANCELLED);

btf_error error_details(btf_status status, int system) noexcept {
  return {.size = 0,
          .status = status,
          .system = system,
          .message = "",
          .file = "",
          .finding = "",
          .tensor = BTF_NONE,
          .offset = 0};
}

// The last error of this thread.
struct LastError {
  ErrorText text;
  ErrorText file;
  ErrorText finding;
  btf_error details = error_details(BTF_OK, 0);
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

}  // namespace

void ErrorText::set(const char* text) noexcept {
  literal_ = nullptr;
  try {
    text_ = text;
  } catch (...) {
    literal_ = "out of memory";
  }
}

btf_status note(ErrorText* handle, btf_status status, const char* text, int system) noexcept {
  LastError& last = last_error();
  last.text.set(text);
  last.file.set("");
  last.finding.set("");
  last.details = error_details(status, system);
  if (handle != nullptr) handle->set(text);
  return status;
}

btf_status note(ErrorText* handle, const Error& error) noexcept {
  try {
    const btf_status status =
        note(handle, static_cast<btf_status>(error.code) + 1, error.text().c_str(), error.system);
    LastError& last = last_error();
    last.file.set(error.file.c_str());
    last.finding.set(std::string(error.finding).c_str());
    last.details.tensor = error.tensor.value_or(BTF_NONE);
    last.details.offset = error.offset;
    return status;
  } catch (...) {
    return note(handle, BTF_NO_SPACE, "out of memory", ENOMEM);
  }
}

btf_status copy_last_error(btf_error* error) {
  LastError& last = last_error();
  last.details.message = last.text.c_str();
  last.details.file = last.file.c_str();
  last.details.finding = last.finding.c_str();
  // If the caller's size is wrong, the error itself must not be lost.
  if (error == nullptr || !copy_out(error, last.details)) return BTF_INVALID_ARGUMENT;
  return BTF_OK;
}

const char* last_error_text() noexcept { return last_error().text.c_str(); }

Result<std::optional<GivenScale>> scale_of(const btf_scale* from) {
  if (from == nullptr) return std::nullopt;
  BTF_ASSIGN(const btf_scale scale, copy_in(from));
  if (scale.count == 0 || scale.scales == nullptr) return wrong("the scale has no numbers");
  GivenScale all;
  if (scale.count > 1) {
    if (scale.axis > UINT32_MAX) return wrong(concat("there is no dim ", scale.axis));
    all.axis = static_cast<std::uint32_t>(scale.axis);
  }
  all.scales.assign(scale.scales, scale.scales + scale.count);
  all.zero_points.assign(scale.count, 0);
  if (scale.zero_points != nullptr)
    all.zero_points.assign(scale.zero_points, scale.zero_points + scale.count);
  return all;
}

Result<NameMap> name_map_of(const char* text) {
  if (text == nullptr) return NameMap{};
  return parse_name_map(text);
}

Result<std::optional<DType>> dtype_named(const char* name) {
  if (name == nullptr) return std::nullopt;
  return parse_dtype(name);
}

Result<std::optional<Layout>> layout_named(const char* name) {
  if (name == nullptr) return std::nullopt;
  return parse_layout(name);
}

Result<CastPolicy> policy_of(const char* overflow, const char* rounding, bool lossless) {
  CastPolicy policy;
  BTF_ASSIGN(policy.overflow, parse_enum("overflow", overflow_names(), overflow, policy.overflow));
  BTF_ASSIGN(policy.rounding, parse_enum("rounding", rounding_names(), rounding, policy.rounding));
  policy.lossless = lossless;
  return policy;
}

Result<Duplicates> duplicates_named(const char* name) {
  return parse_enum("duplicates", duplicates_names(), name, Duplicates::error);
}

const char* name_of(const std::optional<DType>& dtype) {
  return dtype ? info(*dtype).name.data() : nullptr;
}

const char* name_of(const std::optional<Layout>& layout) {
  return layout ? spec(*layout).name.data() : nullptr;
}

Status copy_loss(btf_loss* to, const LossAccount& loss) {
  return copy_out(to, {.size = 0,
                       .elements = loss.elements,
                       .overflowed = loss.overflowed,
                       .nan_lost = loss.nan_lost,
                       .to_zero = loss.to_zero,
                       .inexact = loss.inexact,
                       .max_abs = loss.max_abs,
                       .max_rel = loss.max_rel});
}

}  // namespace btf::capi

extern "C" {

const char* btf_version(void) { return BTF_VERSION; }

const char* btf_status_name(btf_status status) {
  if (status == BTF_OK) return "ok";
  if (status == BTF_INTERNAL) return "internal";
  if (status < BTF_OK || status > BTF_INTERNAL) return "unknown";
  // Literals, which end with a NUL.
  return btf::error_name(static_cast<btf::ErrorCode>(status - 1)).data();
}

const char* btf_last_error(void) { return btf::capi::last_error_text(); }

btf_status btf_last_error_info(btf_error* error) { return btf::capi::copy_last_error(error); }
}
