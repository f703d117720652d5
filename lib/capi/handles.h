// The objects behind the handles.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "btf/file.h"
#include "btf/tensor_set.h"
#include "btf/write.h"
#include "capi/support.h"

struct btf_file {
  explicit btf_file(std::shared_ptr<const btf::TensorFile> opened)
      : shared(std::move(opened)), file(*shared) {}

  // Kept until the file is closed, so that pointers into it can be handed out.
  btf::Result<const btf::TensorInfo*> tensor(std::uint64_t index) {
    const auto known = tensors.find(index);
    if (known != tensors.end()) return &known->second;
    auto info = file.tensor(index);
    if (!info) return std::unexpected(std::move(info).error());
    return &tensors.emplace(index, *std::move(info)).first->second;
  }

  std::shared_ptr<const btf::TensorFile> shared;  // with a set
  const btf::TensorFile& file;
  std::map<std::uint64_t, btf::TensorInfo> tensors;
  std::map<std::uint64_t, std::string> names;
  std::optional<std::multimap<std::string, std::uint64_t>> numbers;  // of all names
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

// Runs `body` with a handle, which must not be NULL. The error goes to the handle.
template <typename Handle, typename Body>
btf_status with_handle(Handle* handle, Body&& body) noexcept {
  if (handle == nullptr) return note(nullptr, BTF_INVALID_ARGUMENT, "no handle");
  return guarded(&handle->error, std::forward<Body>(body));
}

}  // namespace btf::capi
