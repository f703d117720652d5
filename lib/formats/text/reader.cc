#include <string>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/decoded/kept_contents.h"
#include "formats/interface/check_tensors.h"
#include "formats/text/decimal.h"
#include "formats/text/printed_digits.h"
#include "formats/text/scanner.h"
#include "formats/text/text.h"
#include "formats/text/values.h"

namespace btf {
namespace {

class TextReader final : public TensorReader {
 public:
  TextReader(const ByteSource& source, TensorInfo info, std::uint64_t count)
      : info_(std::move(info)),
        elements_(
            contents_.source(0, info_.data_bytes, source, [&source, dtype = *info_.dtype, count] {
              return read_text_values(source, dtype, count);
            })) {}

  std::uint64_t tensor_count() const override { return 1; }
  // Sizes and dtypes are those of the parsed numbers, not of the text.
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }
  Result<const ByteSource*> elements(std::uint64_t) const override { return elements_.get(); }

 private:
  TensorInfo info_;
  KeptContents contents_;
  std::unique_ptr<ByteSource> elements_;
};

// Numbers whose digits are counted: the first, and one of every few after it.
constexpr std::uint64_t kSeen = 4096;

std::unexpected<Error> wrong_count(const std::string& what) {
  return malformed("text-count", 0, what);
}

}  // namespace

Result<bool> recognizes_text(const ByteSource&, const OpenRequest& request) {
  return request.options.spec && request.options.spec->as_text;
}

bool begins_with_number(const ByteSource& source) {
  TextScanner text(source);
  std::string_view word;
  return text.next(word) && is_number(word);
}

Result<std::unique_ptr<TensorReader>> open_text(const ByteSource& source,
                                                const OpenRequest& request) {
  const TensorSpec& said = *request.options.spec;
  TextScanner text(source);
  std::uint64_t count = 0;
  PrintedDigits digits;
  for (std::string_view number; text.next(number); ++count)
    if (count < kSeen || count % kSeen == 0) digits.see(number);
  BTF_TRY(text.trouble());
  std::optional<Dims> dims = text.shape();
  if (dims && said.storage && *dims != said.storage->dims)
    return wrong_count("the first line says the shape " + dims_text(*dims) + ", the spec " +
                       dims_text(said.storage->dims));
  if (!dims && said.storage) dims = said.storage->dims;
  if (!dims && count == 0) return wrong_count("the text has no numbers");
  if (!dims) dims = Dims{count};

  TensorInfo info;
  info.dtype = said.dtype;
  info.dtype_code = btf::info(said.dtype).code();
  info.layout = Layout::linear;
  info.layout_code = btf::spec(Layout::linear).code();
  info.dims = *dims;
  info.text_digits = digits.count(btf::info(said.dtype).fp.mantissa_bits);
  info.text_fixed = digits.fixed();
  BTF_ASSIGN(info.storage, resolve(Layout::linear, info.dims, said.dtype));
  info.data_bytes = storage_bytes(*info.storage, said.dtype);
  if (info.storage->elements() != count)
    return wrong_count(dims_text(info.dims) + " has " + std::to_string(info.storage->elements()) +
                       " numbers, the text has " + std::to_string(count));
  return std::make_unique<TextReader>(source, std::move(info), count);
}

Status check_text(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  return check_elements(file, report);
}

}  // namespace btf
