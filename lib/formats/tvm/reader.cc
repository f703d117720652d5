#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "core/little_endian.h"
#include "formats/interface/check_tensors.h"
#include "formats/npy/nibble_bytes.h"
#include "formats/tvm/header.h"
#include "formats/tvm/tvm.h"

namespace btf {
namespace {

// The separator between an operator's name, its number and the output's, by the debug executor.
constexpr std::string_view kOrderMark = "____topo-index:";
constexpr std::string_view kOutputMark = "____output-num:";

// Digits at the front of the text; they are taken from it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "NAME____topo-index:N____output-num:M" was computed as number N.
std::optional<std::uint64_t> order_in(std::string_view name) {
  const std::size_t mark = name.rfind(kOrderMark);
  if (mark == name.npos) return std::nullopt;
  name.remove_prefix(mark + kOrderMark.size());
  const auto order = take_number(name);
  if (!order || !name.starts_with(kOutputMark)) return std::nullopt;
  name.remove_prefix(kOutputMark.size());
  if (!take_number(name) || !name.empty()) return std::nullopt;
  return order;
}

class TvmReader final : public TensorReader {
 public:
  TvmReader(const ByteSource& source, TvmWalk walk) : source_(source), walk_(std::move(walk)) {}

  std::uint64_t tensor_count() const override { return walk_.tensors().size(); }
  // One stands behind the other.
  bool overlap_is_settled() const override { return true; }
  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return walk_.tensors()[index];
  }
  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    return name_at(source_, walk_.names()[index]);
  }

  Result<FileAttributes> attributes() const override {
    FileAttributes attributes;
    for (std::uint64_t i = 0; i < tensor_count(); ++i) {
      BTF_ASSIGN(const std::string name, name_at(source_, walk_.names()[i]));
      if (const auto order = order_in(name)) attributes.tensors[i].order = order;
    }
    return attributes;
  }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    Window window(source_, source_.size());
    BTF_ASSIGN(TvmTensor tensor, read_tvm_tensor(window, walk_.tensors()[index]));
    TensorInfo info;
    info.index = index;
    info.record_offset = walk_.tensors()[index];
    info.data_offset = tensor.data_offset;
    info.data_bytes = tensor.bytes;
    info.dims = std::move(tensor.dims);
    info.layout = Layout::linear;
    info.layout_code = spec(Layout::linear).code();
    const DTypeInfo* const dtype = tvm_dtype(tensor.type);
    if (dtype == nullptr) {
      info.foreign_dtype = tvm_type_name(tensor.type);
      return info;
    }
    info.dtype = dtype->dtype;
    info.dtype_code = dtype->code();
    info.unpacked = dtype->bits < 8;
    BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, dtype->dtype));
    return info;
  }

  Result<const ByteSource*> elements(std::uint64_t index) const override {
    const auto known = packed_.find(index);
    if (known != packed_.end()) return known->second.get();
    BTF_ASSIGN(const TensorInfo info, tensor(index));
    if (!info.unpacked) return nullptr;
    auto packed = packed_source(source_, info.data_offset, info.data_bytes, *info.dtype);
    return packed_.emplace(index, std::move(packed)).first->second.get();
  }

 private:
  const ByteSource& source_;
  TvmWalk walk_;
  mutable std::map<std::uint64_t, std::unique_ptr<ByteSource>> packed_;  // of 4-bit types
};

Status check_end(const ByteSource& source, std::uint64_t end) {
  if (source.size() == end && !source.more_follows()) return {};
  const std::uint64_t more = source.size() - end;
  return malformed("bytes-after-data", end,
                   (source.more_follows() ? "more than " : "") + std::to_string(more) +
                       (more == 1 ? " byte follows" : " bytes follow") +
                       " after the last tensor, which ends at byte " + std::to_string(end));
}

}  // namespace

Result<bool> recognizes_tvm(const ByteSource& source, const OpenRequest&) {
  std::array<std::byte, sizeof(kTvmMagic)> start;
  if (source.size() < start.size()) return false;
  BTF_TRY(source.read_at(0, start));
  return load_little<std::uint64_t>(start.data()) == kTvmMagic;
}

Result<std::unique_ptr<TensorReader>> open_tvm(const ByteSource& source,
                                               const OpenRequest& request) {
  if (request.options.spec)
    return fail(
        ErrorCode::invalid_argument,
        "is a file of TVM's parameters and describes its tensors itself; no spec applies to "
        "it");
  Window window(source, source.size());
  TvmWalk walk;
  while (walk.needs() <= source.size() && !walk.finished()) BTF_TRY(walk.step(window));
  if (walk.needs() > source.size())
    return malformed("data-past-end", source.size(),
                     "the file is cut off: has " + std::to_string(source.size()) + " bytes, and " +
                         walk.next() + " ends at byte " + std::to_string(walk.needs()));
  BTF_TRY(check_end(source, walk.needs()));
  BTF_ASSIGN(const auto same, find_same_names(source, walk.names()));
  if (same)
    return malformed("tvm-names", walk.names()[same->second].at,
                     "tensors " + std::to_string(same->first) + " and " +
                         std::to_string(same->second) + " have the same name");
  return std::make_unique<TvmReader>(source, std::move(walk));
}

// All other errors keep the file from being opened.
Status check_tvm(const TensorFile& file, const FindingSink& report) {
  return check_tensors(file, "foreign-dtype", report);
}

}  // namespace btf
