// The parts of a file format: reader, check, writer, and how it is recognized.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/attributes.h"
#include "btf/file.h"
#include "btf/validate.h"
#include "core/finding_table.h"
#include "formats/interface/stream_bound.h"
#include "formats/interface/tensor_writer.h"
#include "formats/io/byte_source.h"

namespace btf {

// The one neutral form in which every format hands out its tensors.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual std::uint64_t tensor_count() const = 0;
  virtual Result<TensorInfo> tensor(std::uint64_t index) const = 0;
  // The tensor's name in the file; nothing: it has none. An error: the name cannot be read;
  // the tensor may be sound.
  virtual Result<std::optional<std::string>> name(std::uint64_t) const { return std::nullopt; }
  // Other attributes of the tensors. An error: they cannot be read.
  virtual Result<FileAttributes> attributes() const { return FileAttributes(); }
  // Where a record begins; not checked against the file. Nothing if that is not known beforehand.
  virtual std::optional<std::uint64_t> record_offset(std::uint64_t) const { return std::nullopt; }
  // Did open() see to it that tensors share no bytes, or may they? Else that is looked for.
  virtual bool overlap_is_settled() const { return false; }
  // The source of a tensor's elements, if not the file's source as it is; the offsets in its
  // TensorInfo are offsets in it. It may be made at the first call.
  virtual Result<const ByteSource*> elements(std::uint64_t) const { return nullptr; }
  // In a format with scales among the codes: the tensor as decoded numbers, which elements()
  // then gives; a tensor without scales is unchanged. Nothing: in any other format.
  virtual Result<std::optional<TensorInfo>> dequantized(std::uint64_t) const {
    return std::nullopt;
  }
  // An error if the file holds numbers besides the tensors that it lists: where. Its finding is a
  // warning.
  virtual Status check_complete() const { return {}; }
  // Paths of the other files that it has opened for the tensors that were asked for.
  virtual std::vector<std::string> other_files() const { return {}; }
  // An error if other files than the source, which it reads too, were changed meanwhile.
  virtual Status check_unchanged() const { return {}; }
};

struct OpenRequest {
  std::string_view path;
  const OpenOptions& options;
};

struct WriteRequest {
  std::string_view path;
  const TensorSpec* spec = nullptr;  // of raw bytes
  bool as_uint = false;
  std::string_view format = {};  // its name, if it was said
  bool compressed = false;
};

// The extensions of such files.
struct NameEnding {
  std::string_view ending;
  std::string_view title;  // of what has such a name, with an article
  bool written = true;     // an output with such a name becomes this format
};

struct FormatRow {
  std::string_view name;
  std::string_view title;  // as people write it
  unsigned traits = 0;     // FormatTrait
  // The first that is written is the one that outputs get.
  std::array<NameEnding, 3> endings{};
  Result<bool> (*recognizes)(const ByteSource& source, const OpenRequest& request);
  // The source outlives the reader.
  Result<std::unique_ptr<TensorReader>> (*open)(const ByteSource& source,
                                                const OpenRequest& request);
  // Reports what is wrong or odd with the structure of the file and of its records.
  Status (*check)(const TensorFile& file, const FindingSink& report);
  // nullptr: it is read only.
  std::unique_ptr<TensorWriter> (*writer)(const WriteRequest& request) = nullptr;
  // Do the first bytes of a stream, up to 64, say that it is of this format? nullptr:
  // as `recognizes` says of them.
  Result<bool> (*begins)(const ByteSource& beginning) = nullptr;
  // How much of such a stream is needed; nullptr: all of it.
  std::unique_ptr<StreamBound> (*bound)() = nullptr;
  // Bytes that the file has if the spec or the name is right; nullptr: the file says it itself.
  std::optional<std::uint64_t> (*expected_bytes)(const OpenRequest& request) = nullptr;
  // The finding of a file that has such a name and begins as no known format.
  std::optional<FindingCode> misnamed{};

  bool has(FormatTrait trait) const { return (traits & trait) != 0; }
  bool writes_under(const NameEnding& name) const { return writer != nullptr && name.written; }
  // The extension of its outputs; empty: it has none of its own.
  std::string_view ending() const {
    const auto* const own =
        std::ranges::find_if(endings, [&](const NameEnding& name) { return writes_under(name); });
    return own == endings.end() ? std::string_view() : own->ending;
  }
};

}  // namespace btf
