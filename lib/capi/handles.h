// What is behind the handles.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "btf/file.h"
#include "btf/write.h"
#include "capi/support.h"

struct btf_file {
  explicit btf_file(btf::TensorFile opened) : file(std::move(opened)) {}

  // Kept until the file is closed, so that pointers into it can be handed out.
  btf::Result<const btf::TensorInfo*> tensor(std::uint64_t index) {
    const auto known = tensors.find(index);
    if (known != tensors.end()) return &known->second;
    auto info = file.tensor(index);
    if (!info) return std::unexpected(std::move(info).error());
    return &tensors.emplace(index, *std::move(info)).first->second;
  }

  btf::TensorFile file;
  std::map<std::uint64_t, btf::TensorInfo> tensors;
  std::string reason;  // of the last difference
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
