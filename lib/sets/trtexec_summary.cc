#include "sets/trtexec_summary.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/json/json_string.h"
#include "formats/json/reader.h"
#include "sets/described_files.h"

namespace btf {
namespace {

constexpr std::uint64_t kLongestSummary = 100'000'000;

struct TypeName {
  std::string_view theirs;
  DType dtype;
};

constexpr auto kTypes = std::to_array<TypeName>({
    {"FLOAT", DType::float32},
    {"HALF", DType::float16},
    {"BF16", DType::bfloat16},
    {"FP8", DType::float8_e4m3fn},
    {"E8M0", DType::float8_e8m0fnu},
    {"FP4", DType::float4_e2m1fn},
    {"INT64", DType::int64},
    {"INT32", DType::int32},
    {"INT8", DType::int8},
    {"INT4", DType::int4},
    {"UINT8", DType::uint8},
    {"BOOL", DType::boolean},
});

// The dtype of a type of trtexec; an unknown type keeps its name, and is refused when its bytes are
// read.
std::string spec_of(const std::string& type, const Dims& dims) {
  const auto* row = std::ranges::find(kTypes, type, &TypeName::theirs);
  if (row != kTypes.end()) return spec_text(row->dtype, Layout::linear, dims);
  return type + ":" + (dims.empty() ? "scalar" : dims_text(dims));
}

// The forms in which a tensor was written: exact ones first.
struct Files {
  std::string raw;
  std::string assigned;  // raw bytes too, under a name that the user gave
  std::string numpy;
  std::string text;
};

class SummaryReader {
 public:
  SummaryReader(const ByteSource& source, const std::string& path)
      : source_(source),
        path_(path),
        reader_(source, {0, source.size()},
                {.finding = "trtexec-summary", .whole = "the summary"}) {}

  Result<std::unique_ptr<SetIndex>> read() {
    const Status status = take_all();
    if (!status && !cut_off()) return std::unexpected(status.error());
    if (!listed_) return reader_.wrong(0, "it has no 'tensors'");
    if (!status) {
      constexpr FindingCode kCode("trtexec-summary-cut-off");
      files_->add_odd({.severity = kCode.severity(),
                       .code = kCode,
                       .tensor = {},
                       .offset = source_.size(),
                       .message = path_ + " is cut off after " + std::to_string(count_) +
                                  " tensors; the tensors computed after them are not known"});
    }
    return std::move(files_);
  }

 private:
  // Whatever is wrong is where the text ends.
  bool cut_off() const { return listed_ && reader_.offset() >= source_.size(); }

  Status take_all() {
    BTF_TRY(reader_.expect(JsonKind::object_begin, "it"));
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "tensors") return take_tensors();
      BTF_TRY(reader_.skip_value());
      return {};
    }));
    BTF_TRY(reader_.next());
    return {};
  }

  Status take_tensors() {
    BTF_TRY(reader_.expect(JsonKind::array_begin, "its 'tensors'"));
    listed_ = true;
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      const std::string what = "tensor " + std::to_string(count_);
      if (token.kind != JsonKind::object_begin)
        return reader_.wrong(token.extent.offset, what + " is " +
                                                      std::string(json_kind_name(token.kind)) +
                                                      " and not an object");
      BTF_TRY(take_tensor(what, token.extent.offset));
      ++count_;
    }
  }

  Status take_tensor(const std::string& what, std::uint64_t at) {
    FileEntry tensor{.order = count_};
    std::optional<std::string> type;
    std::optional<Dims> dims;
    Files files;
    BTF_TRY(reader_.members([&](const JsonToken& name) -> Status {
      if (name.text == "name") return take_text("'name' of " + what, tensor.name.emplace());
      if (name.text == "type") return take_text("'type' of " + what, type.emplace());
      if (name.text == "shape") return take_shape("'shape' of " + what, dims.emplace());
      if (name.text == "files") return take_files("'files' of " + what, files);
      BTF_TRY(reader_.skip_value());
      return {};
    }));
    for (const auto& [there, member] :
         {std::pair(tensor.name.has_value(), "name"), std::pair(type.has_value(), "type"),
          std::pair(dims.has_value(), "shape")})
      if (!there) return reader_.wrong(at, what + " has no '" + member + "'");
    add(std::move(tensor), spec_of(*type, *dims), std::move(files));
    return {};
  }

  // A tensor without a file has nothing but its name.
  void add(FileEntry tensor, std::string spec, Files files) {
    IndexEntry entry;
    for (std::string* const file : {&files.raw, &files.assigned, &files.numpy}) {
      if (file->empty()) continue;
      if (!entry.file.empty()) {
        if (*file != entry.file) files_->add_other(std::move(*file));
        continue;
      }
      // An array says itself what it holds, also where it was widened for NumPy.
      if (file != &files.numpy) entry.spec = std::move(spec);
      entry.file = std::move(*file);
    }
    if (!files.text.empty()) files_->add_other(std::move(files.text));
    if (entry.file.empty()) return;
    entry.tensor = std::move(tensor);
    files_->add(std::move(entry));
  }

  Status take_text(const std::string& what, std::string& text) {
    BTF_ASSIGN(const JsonToken token, reader_.expect(JsonKind::string, what));
    if (!token.kept) return reader_.wrong(token.extent.offset, what + " is too long");
    text = token.text;
    return {};
  }

  Status take_shape(const std::string& what, Dims& dims) {
    BTF_TRY(reader_.expect(JsonKind::array_begin, what));
    for (;;) {
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (token.kind == JsonKind::array_end) return {};
      BTF_ASSIGN(const std::uint64_t dim, reader_.size_of(token, "a dim in " + what));
      if (dims.size() == kMaxRank)
        return reader_.wrong(token.extent.offset,
                             what + " has more than " + std::to_string(kMaxRank) + " dims");
      dims.push_back(dim);
    }
  }

  Status take_files(const std::string& what, Files& files) {
    BTF_TRY(reader_.expect(JsonKind::object_begin, what));
    return reader_.members([&](const JsonToken& name) -> Status {
      std::string* const file = name.text == "raw"        ? &files.raw
                                : name.text == "assigned" ? &files.assigned
                                : name.text == "numpy"    ? &files.numpy
                                : name.text == "string"   ? &files.text
                                                          : nullptr;
      const std::string of = "'" + json_shown(name.text) + "' in " + what;
      BTF_ASSIGN(const JsonToken token, reader_.next());
      if (file == nullptr || token.kind == JsonKind::null) return reader_.skip(token);
      if (token.kind != JsonKind::string || !token.kept)
        return reader_.wrong(token.extent.offset, of + " is not a file name");
      return take_file(token, of, *file);
    });
  }

  // They lie beside the summary, wherever they were when it was written.
  Status take_file(const JsonToken& token, const std::string& what, std::string& file) const {
    const std::string_view base = token.text.substr(token.text.rfind('/') + 1);
    if (token.text.empty()) return {};
    if (base.empty() || base == "." || base == ".." || base.contains('\0'))
      return reader_.wrong(token.extent.offset,
                           what + ", '" + json_shown(token.text) + "', is not a file name");
    file = base;
    return {};
  }

  const ByteSource& source_;
  std::string path_;
  JsonReader reader_;
  bool listed_ = false;
  std::uint64_t count_ = 0;
  std::unique_ptr<DescribedFiles> files_ = std::make_unique<DescribedFiles>();
};

}  // namespace

Result<std::unique_ptr<SetIndex>> read_trtexec_summary(const ByteSource& source,
                                                       const std::string& path) {
  if (source.size() > kLongestSummary)
    return malformed("trtexec-summary", 0,
                     "the summary has " + std::to_string(source.size()) + " bytes; at most " +
                         std::to_string(kLongestSummary) + " are read");
  return SummaryReader(source, path).read();
}

}  // namespace btf
