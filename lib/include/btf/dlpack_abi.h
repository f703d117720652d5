// The structures and numbers of DLPack 1.1, under DLPack's own names but in a namespace, so that
// any version of dlpack.h can be included beside this. Binary forms are the same: see as_dlpack().
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf::dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
inline constexpr std::uint32_t kMinorVersion = 1;

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

using DLDeviceType = std::int32_t;
inline constexpr DLDeviceType kDLCPU = 1;
inline constexpr DLDeviceType kDLCUDA = 2;
inline constexpr DLDeviceType kDLCUDAHost = 3;
inline constexpr DLDeviceType kDLROCMHost = 11;

// Up to version 0.3 the same under the name DLContext.
struct DLDevice {
  DLDeviceType device_type;
  std::int32_t device_id;
};

using DLDataTypeCode = std::uint8_t;
inline constexpr DLDataTypeCode kDLInt = 0;
inline constexpr DLDataTypeCode kDLUInt = 1;
inline constexpr DLDataTypeCode kDLFloat = 2;
inline constexpr DLDataTypeCode kDLOpaqueHandle = 3;
inline constexpr DLDataTypeCode kDLBfloat = 4;
inline constexpr DLDataTypeCode kDLComplex = 5;
inline constexpr DLDataTypeCode kDLBool = 6;
// From here on since 1.1.
inline constexpr DLDataTypeCode kDLFloat8_e3m4 = 7;
inline constexpr DLDataTypeCode kDLFloat8_e4m3 = 8;
inline constexpr DLDataTypeCode kDLFloat8_e4m3b11fnuz = 9;
inline constexpr DLDataTypeCode kDLFloat8_e4m3fn = 10;
inline constexpr DLDataTypeCode kDLFloat8_e4m3fnuz = 11;
inline constexpr DLDataTypeCode kDLFloat8_e5m2 = 12;
inline constexpr DLDataTypeCode kDLFloat8_e5m2fnuz = 13;
inline constexpr DLDataTypeCode kDLFloat8_e8m0fnu = 14;
inline constexpr DLDataTypeCode kDLFloat6_e2m3fn = 15;
inline constexpr DLDataTypeCode kDLFloat6_e3m2fn = 16;
inline constexpr DLDataTypeCode kDLFloat4_e2m1fn = 17;

struct DLDataType {
  DLDataTypeCode code;
  std::uint8_t bits;    // of one lane
  std::uint16_t lanes;  // 1: not a vector
};

// Strides in elements, of all lanes; nullptr: compact row-major. Elements of less than 8 bits are
// packed, the first one in the lowest bits.
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

using DLPackFlags = std::uint64_t;
inline constexpr DLPackFlags kFlagReadOnly = 1;
inline constexpr DLPackFlags kFlagIsCopied = 2;
inline constexpr DLPackFlags kFlagSubbytePadded = 4;  // an element of less than 8 bits in each byte

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  DLPackFlags flags;
  DLTensor dl_tensor;
};

static_assert(sizeof(void*) == 8, "the offsets below are those of 64-bit systems");
static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, device) == 8 &&
              offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20 &&
              offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32 &&
              offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, manager_ctx) == 48 &&
              offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLManagedTensorVersioned) == 80 &&
              offsetof(DLManagedTensorVersioned, manager_ctx) == 8 &&
              offsetof(DLManagedTensorVersioned, deleter) == 16 &&
              offsetof(DLManagedTensorVersioned, flags) == 24 &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

// A DLTensor of another header as the one here. The two have one binary form in all versions.
template <typename Tensor>
const DLTensor& as_dlpack(const Tensor& tensor) {
  static_assert(sizeof(Tensor) == sizeof(DLTensor) && alignof(Tensor) == alignof(DLTensor) &&
                offsetof(Tensor, data) == 0 && offsetof(Tensor, ndim) == 16 &&
                offsetof(Tensor, dtype) == 20 && offsetof(Tensor, shape) == 24 &&
                offsetof(Tensor, strides) == 32 && offsetof(Tensor, byte_offset) == 40);
  return reinterpret_cast<const DLTensor&>(tensor);
}

}  // namespace btf::dlpack
