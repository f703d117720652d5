#include <array>
#include <span>
#include <string_view>

#include "btf/try.h"
#include "capi/support.h"
#include "core/names.h"

namespace btf::capi {
namespace {

// The order of ErrorCode, from 1 on.
static_assert(static_cast<int>(ErrorCode::invalid_argument) + 1 == BTF_INVALID_ARGUMENT &&
              static_cast<int>(ErrorCode::malformed) + 1 == BTF_MALFORMED &&
              static_cast<int>(ErrorCode::unsupported) + 1 == BTF_UNSUPPORTED &&
              static_cast<int>(ErrorCode::io) + 1 == BTF_IO &&
              static_cast<int>(ErrorCode::closed_pipe) + 1 == BTF_CLOSED_PIPE &&
              static_cast<int>(ErrorCode::no_space) + 1 == BTF_NO_SPACE &&
              static_cast<int>(ErrorCode::refused) + 1 == BTF_REFUSED &&
              static_cast<int>(ErrorCode::cancelled) + 1 == BTF_CANCELLED);

template <typename Value>
Result<Value> choose(const char* what, std::span<const Named<Value>> rows, const char* name,
                     Value usual) {
  if (name == nullptr) return usual;
  for (const auto& row : rows)
    if (same_name(row.name, name)) return row.value;
  return wrong("unknown " + std::string(what) + " '" + name + "'; there are " + name_list(rows));
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

ErrorText& last_error() noexcept {
  thread_local ErrorText text;
  return text;
}

btf_status note(ErrorText* handle, btf_status status, const char* text) noexcept {
  last_error().set(text);
  if (handle != nullptr) handle->set(text);
  return status;
}

btf_status note(ErrorText* handle, const Error& error) {
  return note(handle, static_cast<btf_status>(error.code) + 1, error.text().c_str());
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
  BTF_ASSIGN(policy.overflow, choose("overflow", overflow_names(), overflow, policy.overflow));
  BTF_ASSIGN(policy.rounding, choose("rounding", rounding_names(), rounding, policy.rounding));
  policy.lossless = lossless;
  return policy;
}

Result<Duplicates> duplicates_named(const char* name) {
  return choose("duplicates", duplicates_names(), name, Duplicates::error);
}

// The names in the tables are literals, which end with a NUL.
const char* name_of(const std::optional<DType>& dtype) {
  return dtype ? info(*dtype).name.data() : nullptr;
}

const char* name_of(const std::optional<Layout>& layout) {
  return layout ? spec(*layout).name.data() : nullptr;
}

Status give_loss(btf_loss* to, const LossAccount& loss) {
  return give(to, {.size = 0,
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

const char* btf_last_error(void) { return btf::capi::last_error().c_str(); }
}
