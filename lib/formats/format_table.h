// The file formats. Adding one is a file with its reader and a row here (docs/adding.md).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "btf/file.h"
#include "btf/validate.h"
#include "formats/byte_source.h"

namespace btf {

// The one neutral form in which every format hands out its tensors.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual std::uint64_t tensor_count() const = 0;
  virtual Result<TensorInfo> tensor(std::uint64_t index) const = 0;
};

struct FormatRow {
  std::string_view name;
  bool (*recognizes)(const ByteSource& source, std::string_view path);
  // The source outlives the reader.
  Result<std::unique_ptr<TensorReader>> (*open)(const ByteSource& source);
  // Reports what is wrong or odd with the structure of the file and of its records.
  Status (*check)(const TensorFile& file, const FindingSink& report);
};

std::span<const FormatRow> formats();

// The first row that recognizes the source; BTF, which has no magic number, is the last.
const FormatRow& recognize_format(const ByteSource& source, std::string_view path);

const FormatRow& format_named(std::string_view name);

}  // namespace btf
