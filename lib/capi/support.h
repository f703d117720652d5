// Used by all functions of the C interface: no exception leaves them, errors become text, handles
// are checked, and structures may come from an older or a newer header.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "btf/btf.h"
#include "btf/cast.h"
#include "btf/convert.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/pair_names.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "btf/write.h"
#include "core/errors.h"
#include "core/names.h"

namespace btf::capi {

// Holds an error's text, even if there is no memory for it.
class ErrorText {
 public:
  const char* c_str() const noexcept { return literal_ != nullptr ? literal_ : text_.c_str(); }
  void set(const char* text) noexcept;

 private:
  std::string text_;
  const char* literal_ = nullptr;
};

// Stores the error for btf_last_error() and for the handle, if that is not NULL. Returns the
// status.
btf_status note(ErrorText* handle, btf_status status, const char* text, int system = 0) noexcept;
btf_status note(ErrorText* handle, const Error& error) noexcept;

// Runs `body`, which returns a Status, and turns errors and exceptions into a status.
template <typename Body>
btf_status guarded(ErrorText* handle, Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    return status ? BTF_OK : note(handle, status.error());
  } catch (const std::bad_alloc&) {
    return note(handle, BTF_NO_SPACE, "out of memory", ENOMEM);
  } catch (const std::exception& thrown) {
    return note(handle, BTF_INTERNAL, thrown.what());
  } catch (...) {
    return note(handle, BTF_INTERNAL, "an exception of unknown kind");
  }
}

inline std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

inline std::unexpected<Error> null_argument(const char* name) {
  return wrong("the argument '" + std::string(name) + "' is NULL");
}

// Stands for a missing number.
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// No structure will ever be larger. If a caller leaves `size` uninitialised, this library must not
// read or write megabytes after the structure.
inline constexpr std::size_t kLargestStruct = 1024;

// The size of a structure as set by the caller, who may have an older or a newer header.
template <typename Struct>
Result<std::size_t> size_of(const Struct& from) {
  static_assert(sizeof(Struct) <= kLargestStruct && alignof(Struct) >= alignof(std::size_t));
  const std::size_t size = from.size;
  if (size < sizeof(std::size_t)) return wrong("the size of a structure is not set");
  if (size > kLargestStruct || size % alignof(std::size_t) != 0)
    return wrong(concat("the size of a structure is ", size, ", but must be its sizeof, ", "as ",
                        sizeof(Struct), " here"));
  return size;
}

// The caller's structure; all zero if `from` is NULL. Members of a newer header must be zero, since
// this library does not know them.
template <typename Struct>
Result<Struct> copy_in(const Struct* from) {
  Struct known{};
  if (from == nullptr) return known;
  BTF_ASSIGN(const std::size_t size, size_of(*from));
  std::memcpy(&known, from, std::min(size, sizeof(Struct)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(Struct); i < size; ++i)
    if (bytes[i] != 0) return wrong("an option of a newer libbtf is set");
  return known;
}

// Must be called before the work begins, so that finished work does not end with this error.
template <typename Struct>
Status check_out(const Struct* to) {
  if (to != nullptr) BTF_TRY(size_of(*to));
  return {};
}

// Copies a structure to the caller, as much of it as the caller's header has. `to` may be NULL.
template <typename Struct>
Status copy_out(Struct* to, Struct value) {
  if (to == nullptr) return {};
  BTF_ASSIGN(const std::size_t size, size_of(*to));
  value.size = size;
  std::memcpy(to, &value, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct))
    std::memset(reinterpret_cast<char*>(to) + sizeof(Struct), 0, size - sizeof(Struct));
  return {};
}

// The value of the row with this name; `usual` if the name is NULL.
template <typename Value>
Result<Value> parse_enum(const char* what, std::span<const Named<Value>> rows, const char* name,
                         Value usual) {
  if (name == nullptr) return usual;
  for (const auto& row : rows)
    if (same_name(row.name, name)) return row.value;
  return wrong("unknown " + std::string(what) + " '" + name + "'; there are " + name_list(rows));
}

// The name of a value. Tables contain literals, which end with a NUL.
template <typename Value>
const char* name_in(std::span<const Named<Value>> rows, Value value) {
  const auto row = std::ranges::find(rows, value, &Named<Value>::value);
  return row == rows.end() ? "" : row->name.data();
}

// For these, NULL means unset, or the default.
Result<std::optional<GivenScale>> scale_of(const btf_scale* scale);
Result<NameMap> name_map_of(const char* text);
Result<std::optional<DType>> dtype_named(const char* name);
Result<std::optional<Layout>> layout_named(const char* name);
Result<CastPolicy> policy_of(const char* overflow, const char* rounding, bool lossless);
Result<Duplicates> duplicates_named(const char* name);

// Converts the options that most functions have: those members of `From` that `To` has too.
template <typename To, typename From>
Result<To> common_options(const From& from) {
  To to;
  if constexpr (requires { to.dtype; }) {
    BTF_ASSIGN(to.dtype, dtype_named(from.dtype));
  }
  if constexpr (requires { to.layout; }) {
    BTF_ASSIGN(to.layout, layout_named(from.layout));
  }
  if constexpr (requires { to.duplicates; }) {
    BTF_ASSIGN(to.duplicates, duplicates_named(from.duplicates));
  }
  if constexpr (requires { to.sync; }) to.sync = from.sync != 0;
  if constexpr (requires { to.format; }) to.format = from.format == nullptr ? "" : from.format;
  BTF_ASSIGN(to.policy, policy_of(from.overflow, from.rounding, from.lossless != 0));
  to.execution.jobs = from.jobs;
  return to;
}

// NULL if unset.
const char* name_of(const std::optional<DType>& dtype);
const char* name_of(const std::optional<Layout>& layout);

Status copy_loss(btf_loss* to, const LossAccount& loss);

}  // namespace btf::capi

// The objects behind the handles.

struct btf_file {
  explicit btf_file(std::shared_ptr<const btf::TensorFile> opened)
      : shared(std::move(opened)), file(*shared) {}

  // The result stays valid until the file is closed, so callers get pointers into it.
  btf::Result<const btf::TensorInfo*> tensor(std::uint64_t index) {
    const auto known = tensors.find(index);
    if (known != tensors.end()) return &known->second;
    auto info = file.tensor(index);
    if (!info) return std::unexpected(std::move(info).error());
    return &tensors.emplace(index, *std::move(info)).first->second;
  }

  std::shared_ptr<const btf::TensorFile> shared;  // possibly with a set
  const btf::TensorFile& file;
  std::map<std::uint64_t, btf::TensorInfo> tensors;
  std::map<std::uint64_t, std::string> names;
  std::optional<std::multimap<std::string, std::uint64_t>> numbers;  // of tensors by name
  std::string reason;                                                // of the last difference
  btf::capi::ErrorText error;
};

struct btf_set {
  explicit btf_set(btf::TensorSet opened) : set(std::move(opened)) {}

  btf::TensorSet set;
  std::map<std::uint64_t, btf::SetMember> members;
  btf::capi::ErrorText error;
};

struct btf_writer {
  std::vector<btf::TensorToWrite> tensors;
  btf::capi::ErrorText error;
};

namespace btf::capi {

// Runs `body` with a handle, which must not be NULL. Errors are stored in the handle as well.
template <typename Handle, typename Body>
btf_status with_handle(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return note(nullptr, BTF_INVALID_ARGUMENT, "the handle is NULL");
  return guarded(&handle->error, std::forward<Body>(body));
}

// A tensor in the caller's memory.
struct Array {
  TensorView view;
  Layout layout{};  // kLINEAR if strides are given
};

// Checks the dims, the strides, and the size and alignment of the memory.
Result<Array> array_of(const btf_array* from);

}  // namespace btf::capi
