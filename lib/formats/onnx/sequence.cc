#include "formats/onnx/sequence.h"

#include <string>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/tensor_proto.h"

namespace btf {
namespace {

namespace sequence = onnx::sequence;

class SequenceReader {
 public:
  explicit SequenceReader(const ByteSource& source) : window_(source, source.size()) {}

  Result<OnnxModel> run() {
    BTF_TRY(take({0, window_.end()}, onnx::kSequence, 0, 0));
    return std::move(model_);
  }

 private:
  // `kind`: a sequence, which numbers what it has, or an optional, which has one value.
  Status take(const ProtoRange& place, const ProtoMessage& kind, std::uint32_t scope,
              unsigned depth) {
    if (depth > onnx::kDeepestGraph)
      return malformed("onnx-graph", place.begin,
                       "values are nested more than " + std::to_string(onnx::kDeepestGraph) +
                           " deep at byte " + std::to_string(place.begin));
    const bool numbered = &kind == &onnx::kSequence;
    std::uint64_t number = 0;
    return for_each_field(window_, place, kind, [&](const ProtoField& field) -> Status {
      if (field.number == sequence::kName && depth == 0) {
        BTF_ASSIGN(std::string name, onnx_name(window_, field));
        model_.name_values(std::move(name));
      }
      if (field.number < sequence::kTensors || field.number > sequence::kOptionals) return {};
      const std::uint64_t own = numbered ? number++ : OnnxModel::kUnnumbered;
      if (field.number == sequence::kTensors || field.number == sequence::kSparseTensors)
        return add(field, scope, own);
      if (++containers_ > kMostContainers)
        return malformed("onnx-graph", field.at,
                         "there are more than " + std::to_string(kMostContainers) +
                             " sequences, maps and optionals in one another");
      const std::uint32_t inner = model_.add_scope(scope, OnnxModel::number_text(own));
      if (field.number == sequence::kMaps) return take_map(field.content, inner, depth + 1);
      return take(field.content, field.number == sequence::kSequences ? onnx::kSequence : onnx::kOptional,
                  inner, depth + 1);
    });
  }

  // Its keys are skipped.
  Status take_map(const ProtoRange& place, std::uint32_t scope, unsigned depth) {
    return for_each_field(window_, place, onnx::kMap, [&](const ProtoField& field) -> Status {
      if (field.number != onnx::map::kValues) return {};
      return take(field.content, onnx::kSequence, scope, depth);
    });
  }

  Status add(const ProtoField& field, std::uint32_t scope, std::uint64_t own) {
    OnnxEntry entry{.place = field.content, .name = {own, own}, .scope = scope};
    entry.sparse = field.number == sequence::kSparseTensors;
    if (entry.sparse)
      BTF_TRY(read_onnx_sparse(window_, entry.place));
    else
      BTF_TRY(read_onnx_tensor(window_, entry.place));
    model_.add_value(entry);
    return {};
  }

  // Their names are kept.
  static constexpr std::uint64_t kMostContainers = 1U << 20;

  Window window_;
  OnnxModel model_;
  std::uint64_t containers_ = 0;
};

}  // namespace

Result<OnnxModel> read_onnx_sequence(const ByteSource& source) {
  return SequenceReader(source).run();
}

}  // namespace btf
