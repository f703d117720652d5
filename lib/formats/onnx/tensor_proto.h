// A TensorProto: what it says of itself, and where its values are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/error.h"
#include "btf/layout.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/types.h"
#include "formats/protobuf/reader.h"

namespace btf {

// Values in a file of their own.
struct OnnxExternal {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};  // nothing: to the end of the file
  std::string unknown_key{};              // the first that this tool does not know
};

struct OnnxTensor {
  ProtoRange place;
  const ProtoMessage* message = &onnx::kTensor;  // what stands there
  Dims dims;
  std::uint64_t data_type = 0;
  const OnnxType* type = nullptr;  // nullptr: none that is known
  std::uint64_t field = 0;         // that holds the values; 0: none does
  bool varints = false;            // they are written as such
  std::uint64_t values = 0;        // fields that hold them, packed or one by one
  ProtoRange first{};              // the content of the first of them
  std::uint64_t value_bytes = 0;   // of all of them
  std::optional<OnnxExternal> external{};

  // Where a dtype stands for it: elements by its dims, and the bytes that they take here.
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;

  // Do the values stand in one place as they are used?
  bool in_place() const;
};

// Checked against itself, and not against files of external data. Several may share the window.
Result<OnnxTensor> read_onnx_tensor(Window& window, const ProtoRange& place);

// Where the name is; empty if there is none.
Result<ProtoRange> find_onnx_name(Window& window, const ProtoRange& place);

// Adds those of a field, packed or not.
Status take_onnx_dims(Window& window, const ProtoField& field, Dims& dims);

// "raw_data", by its number in a TensorProto.
std::string_view onnx_field_name(std::uint64_t field);

}  // namespace btf
