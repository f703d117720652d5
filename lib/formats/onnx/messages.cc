#include "formats/onnx/messages.h"

#include "btf/try.h"

namespace btf {

Result<std::string> onnx_name(Window& window, const ProtoField& field) {
  return proto_text(window, field.content, onnx::kLongestName, "a name");
}

Result<OnnxProperty> read_onnx_property(Window& window, const ProtoField& field) {
  constexpr std::uint64_t kLongestValue = 1U << 20;
  OnnxProperty found;
  BTF_TRY(
      for_each_field(window, field.content, onnx::kEntry, [&](const ProtoField& part) -> Status {
        if (part.number == onnx::entry::kKey) {
          BTF_ASSIGN(found.key, onnx_name(window, part));
        } else if (part.number == onnx::entry::kValue) {
          BTF_ASSIGN(found.value, proto_text(window, part.content, kLongestValue, "a value"));
        }
        return {};
      }));
  return found;
}

}  // namespace btf
