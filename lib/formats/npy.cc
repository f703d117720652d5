#include "formats/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/npy_writer.h"

namespace btf {
namespace {

Result<NpyType> overridden_type(const TensorSpec& spec, const NpyHeader& header) {
  if (spec.as_text)
    return fail(ErrorCode::invalid_argument, "is a NumPy array, its spec describes text");
  if (spec.storage && (spec.strided || spec.layout != Layout::linear))
    return fail(ErrorCode::invalid_argument,
                "is a NumPy array; a spec may give its dtype and dims only");
  if (spec.storage && spec.storage->dims != header.shape)
    return fail(ErrorCode::invalid_argument, "the file says the shape " + dims_text(header.shape) +
                                                 ", the spec " + dims_text(spec.storage->dims));
  return npy_type(header.descr, spec);
}

// The spec as text, for one that was not given as text.
std::string spec_text(const TensorSpec& spec) {
  return spec.text.empty() ? std::string(info(spec.dtype).name) : spec.text;
}

}  // namespace

DtypeOverrides::DtypeOverrides(const OpenOptions& options)
    : of_all_(options.spec), named_(options.named_specs) {}

const TensorSpec* DtypeOverrides::of(const std::string& name) const {
  return spec_by_name(named_, name);
}

Result<NpyType> DtypeOverrides::type_of(const std::string& name, const NpyHeader& header) const {
  if (const TensorSpec* const named = of(name)) return overridden_type(*named, header);
  if (of_all_)
    if (const auto type = overridden_type(*of_all_, header)) return type;
  return npy_type(header.descr, std::nullopt);
}

Status DtypeOverrides::fits(const NpyHeader& header) const {
  BTF_TRY(overridden_type(*of_all_, header));
  return {};
}

Status DtypeOverrides::check(std::uint64_t arrays,
                             const std::function<Status(std::uint64_t)>& fits) const {
  if (!of_all_) return {};
  std::string why;
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const Status status = fits(i);
    if (status) return {};
    if (why.empty()) why = ": of the first, " + status.error().message;
  }
  return fail(ErrorCode::invalid_argument, "the spec '", spec_text(*of_all_), "' fits none of its ",
              arrays, arrays == 1 ? " array" : " arrays", why);
}

namespace {

// More than the description of any array.
constexpr std::uint64_t kLongestHeader = 64U << 10;

// Parses the part of Python's syntax that a header may use: a dict of a string or list, a bool and
// a tuple.
class Parser {
 public:
  Parser(std::string_view text, std::uint64_t offset) : text_(text), offset_(offset) {}

  Result<NpyHeader> parse() {
    BTF_TRY(expect('{'));
    while (!take('}')) {
      if (at_ == text_.size()) return wrong("it ends without a '}'");
      BTF_ASSIGN(const std::string_view key, quoted());
      BTF_TRY(expect(':'));
      BTF_TRY(value_of(key));
      if (!take(',') && !at('}')) return wrong("',' or '}' was expected");
    }
    skip_spaces();
    if (at_ != text_.size()) return wrong("unexpected text after the '}'");
    if (!descr_ || !order_ || !shape_)
      return malformed("npy-header", offset_,
                       std::string("the header has no '") +
                           (!descr_   ? "descr"
                            : !order_ ? "fortran_order"
                                      : "shape") +
                           "'");
    return NpyHeader{*std::move(descr_), *order_, *std::move(shape_), 0};
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return malformed("npy-header", offset_ + at_,
                     "the header is not a description of an array: ", what, " at byte ",
                     offset_ + at_);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }

  bool at(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }

  bool take(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Status expect(char c) {
    if (take(c)) return {};
    return wrong(std::string("'") + c + "' was expected");
  }

  Result<std::string_view> quoted() {
    for (const char quote : {'\'', '"'}) {
      if (!take(quote)) continue;
      const std::size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) return wrong("a string has no end");
      const std::string_view text = text_.substr(at_, end - at_);
      if (text.find('\\') != std::string_view::npos) return wrong("a string has an escape");
      at_ = end + 1;
      return text;
    }
    return wrong("a string was expected");
  }

  // Returns the text of a list unparsed.
  Result<std::string_view> list() {
    const std::size_t begin = at_;
    for (std::size_t depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '\'' || c == '"') {
        BTF_TRY(quoted());
        continue;
      }
      ++at_;
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (depth == 0) return text_.substr(begin, at_ - begin);
    }
    return wrong("a list has no end");
  }

  Status value_of(std::string_view key) {
    const bool twice = (key == "descr" && descr_) || (key == "fortran_order" && order_) ||
                       (key == "shape" && shape_);
    if (twice) return wrong("'" + std::string(key) + "' occurs twice");
    if (key == "descr") return parse_descr();
    if (key == "fortran_order") {
      order_ = take("True");
      if (!*order_ && !take("False")) return wrong("True or False was expected");
      return {};
    }
    if (key == "shape") return parse_shape();
    return wrong("unknown key '" + std::string(key) + "'");
  }

  Status parse_descr() {
    BTF_ASSIGN(descr_, at('[') ? list() : quoted());
    return {};
  }

  Status parse_shape() {
    Dims shape;
    BTF_TRY(expect('('));
    bool comma = true;
    while (!take(')')) {
      if (!comma) return wrong("',' or ')' was expected");
      skip_spaces();
      if (at('-')) return malformed("npy-shape", offset_ + at_, "a dim of the shape is negative");
      std::uint64_t dim = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error == std::errc::result_out_of_range)
        return malformed("npy-shape", offset_ + at_, "a dim of the shape does not fit 64 bits");
      if (error != std::errc{}) return wrong("a number was expected");
      at_ += static_cast<std::size_t>(end - begin);
      take('L');  // Python 2 wrote long integers like this
      if (shape.size() == kMaxRank)
        return malformed("npy-shape", offset_ + at_, "the shape has more than ", kMaxRank, " dims");
      shape.push_back(dim);
      comma = take(',');
    }
    // (3) is a number and not a tuple.
    if (shape.size() == 1 && !comma) return wrong("a tuple of one number needs a ','");
    shape_ = std::move(shape);
    return {};
  }

  std::string_view text_;
  std::uint64_t offset_;  // offset of the text in the file
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> order_;
  std::optional<Dims> shape_;
};

}  // namespace

Result<NpyHeader> read_npy_header(const ByteSource& source, const NpyPlace& place) {
  std::array<std::byte, 12> start{};
  const std::string holder(place.holder);
  const std::uint64_t size = place.end - place.begin;
  const std::size_t some = std::min<std::uint64_t>(size, start.size());
  BTF_TRY(source.read_at(place.begin, std::span(start).first(some)));
  const auto byte = [&](std::size_t i) { return std::to_integer<std::uint64_t>(start[i]); };
  if (size < 10)
    return malformed("npy-header", place.begin, "a .npy ", holder,
                     " has at least 10 bytes, this one has ", size);
  if (std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) != 0)
    return malformed("npy-header", place.begin,
                     "the " + holder + " does not begin as a .npy file does");
  const std::uint64_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    return malformed("npy-version", place.begin + 6, "version ", major, ".", byte(7),
                     " of .npy is unknown; there are 1.0, 2.0 and 3.0");
  const std::uint64_t before = major == 1 ? 10 : 12;
  const std::uint64_t length = major == 1
                                   ? byte(8) | byte(9) << 8
                                   : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (size < before || size - before < length)
    return malformed("npy-header", place.begin + 8, "the header should have ", length,
                     " bytes, the ", holder, " has ", size - std::min(size, before), " left");
  if (length > kLongestHeader)
    return malformed("npy-header", place.begin + 8, "a header of ", length, " bytes is too long");
  const std::uint64_t text_offset = place.begin + before;
  std::string copy;
  std::string_view text;
  if (const auto held = source.held(); fits(text_offset, length, held.size())) {
    text = {reinterpret_cast<const char*>(held.data()) + text_offset, length};
  } else {
    copy.resize(length);
    BTF_TRY(source.read_at(text_offset, std::as_writable_bytes(std::span(copy))));
    text = copy;
  }
  BTF_ASSIGN(NpyHeader header, Parser(text, text_offset).parse());
  header.data_offset = text_offset + length;
  return header;
}

namespace {

// The stored array of Fortran order has the dims reversed.
Result<StridedLayout> resolve_order(const Dims& shape, bool fortran_order, DType dtype) {
  if (!fortran_order) return resolve(Layout::linear, shape, dtype);
  const Dims reversed(shape.rbegin(), shape.rend());
  BTF_ASSIGN(const StridedLayout stored, resolve(Layout::linear, reversed, dtype));
  std::vector<std::uint32_t> order(shape.size());
  for (std::uint32_t d = 0; d < order.size(); ++d)
    order[d] = static_cast<std::uint32_t>(order.size()) - 1 - d;
  return permuted(stored, order);
}

std::unexpected<Error> unsupported(const std::string& descr, const std::string& why) {
  return fail(ErrorCode::unsupported, "dtype '" + descr + "' " + why);
}

// A spec may give the dtype of void and unsigned integers.
Result<NpyType> overridden_type(const std::string& descr, bool big_endian, std::uint64_t width,
                                DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.buffer_bytes() != width)
    return fail(ErrorCode::invalid_argument, "elements of dtype '", descr, "' have ", width,
                " bytes, those of ", row.name, " have ", row.buffer_bytes());
  return NpyType{dtype, big_endian, row.half_byte()};
}

// The elements of a type that only has a width.
Result<NpyType> type_from_spec(const std::string& descr, std::uint64_t width,
                               std::string_view kinds, const std::optional<TensorSpec>& spec) {
  if (!spec)
    return unsupported(descr, "does not say what its bytes mean: " + std::string(kinds) +
                                  "; give the dtype with `spec` TYPE, such as " +
                                  (width == 2 ? "bf16" : "fp8"));
  return overridden_type(descr, false, width, spec->dtype);
}

Result<NpyType> parse_void(const std::string& descr, char order, std::string_view digits,
                           const std::optional<TensorSpec>& spec) {
  const auto width = parse_number<std::uint64_t>(digits);
  const bool stands = std::ranges::any_of(
      dtypes(), [&](const DTypeInfo& row) { return row.buffer_bytes() == width; });
  if (order == '>' || !stands) return unsupported(descr, "is bytes that match no dtype");
  return type_from_spec(descr, *width, "bfloat16, float8 and the 4-bit types are stored like this",
                        spec);
}

// Only float8_e5m2 of ml_dtypes has this name, but this is not documented.
Result<NpyType> parse_small_float(const std::string& descr, const std::optional<TensorSpec>& spec) {
  if (spec && !info(spec->dtype).floating())
    return fail(ErrorCode::invalid_argument, "the file says a float of one byte, the spec says " +
                                                 std::string(info(spec->dtype).name));
  return type_from_spec(descr, 1, "float8_e5m2 of ml_dtypes is stored like this", spec);
}

// Types of NumPy and ml_dtypes that have no dtype, and what to do instead.
struct UnreadType {
  std::string_view descr;
  std::string_view why;
};

constexpr std::string_view kSmallIntegers =
    "is an integer of fewer than four bits, for which btftool has no dtype; np.save of "
    "x.astype(np.int8) writes one that it reads";
constexpr std::string_view kSmallFloats =
    "is a float of six bits, for which btftool has no dtype; np.save of x.astype(np.float16) "
    "writes one that it reads, with the same values";
constexpr std::string_view kComplex =
    "is complex numbers, for which btftool has no dtype; np.savez(OUT, re=x.real, im=x.imag) "
    "writes arrays that it reads";
constexpr auto kUnread = std::to_array<UnreadType>({
    {"int1", kSmallIntegers},
    {"int2", kSmallIntegers},
    {"uint1", kSmallIntegers},
    {"uint2", kSmallIntegers},
    {"float6_e2m3fn", kSmallFloats},
    {"float6_e3m2fn", kSmallFloats},
    {"c8", kComplex},
    {"c16", kComplex},
    {"c32", kComplex},
});

}  // namespace

Result<NpyType> npy_type(const std::string& descr, const std::optional<TensorSpec>& spec) {
  if (descr.starts_with('['))
    return fail(ErrorCode::unsupported, "the array has a structured dtype, which is not a number");
  const char order = descr.empty() ? '\0' : descr.front();
  const bool ordered = order == '<' || order == '>' || order == '|' || order == '=';
  const std::string_view type = std::string_view(descr).substr(ordered ? 1 : 0);
  for (const DTypeInfo& row : dtypes()) {
    const bool by_name = !ordered && row.name == type;
    const bool by_code = !row.npy.empty() && row.npy == type;
    if (!by_name && !by_code) continue;
    const bool big_endian = order == '>' && row.bits > 8;
    if (!spec || spec->dtype == row.dtype) return NpyType{row.dtype, big_endian, row.half_byte()};
    if (by_code && row.kind == NumberKind::unsigned_integer && info(spec->dtype).npy.empty())
      return overridden_type(descr, big_endian, row.bits / 8, spec->dtype);
    return fail(ErrorCode::invalid_argument, "the file says " + std::string(row.name) +
                                                 ", the spec says " +
                                                 std::string(info(spec->dtype).name));
  }
  if (type.starts_with('O')) return unsupported(descr, "is Python objects, which are never loaded");
  if (type == "f1") return parse_small_float(descr, spec);
  // The bfloat16 package of GreenWaves; NumPy itself refuses it.
  if (type == "g2") {
    if (spec && spec->dtype != DType::bfloat16)
      return fail(ErrorCode::invalid_argument, "the file says bfloat16 ('" + descr +
                                                   "'), the spec says " +
                                                   std::string(info(spec->dtype).name));
    return NpyType{DType::bfloat16, order == '>', false};
  }
  for (const UnreadType& row : kUnread)
    if (row.descr == type) return unsupported(descr, std::string(row.why));
  if (type.starts_with('V')) return parse_void(descr, order, type.substr(1), spec);
  return unsupported(descr, "is not supported");
}

Result<TensorInfo> npy_tensor(const ByteSource& source, const NpyPlace& place,
                              const NpyHeader& header, const NpyType& type) {
  TensorInfo info;
  info.dtype = type.dtype;
  info.dtype_code = btf::info(type.dtype).code();
  info.layout = Layout::linear;
  info.layout_code = btf::spec(Layout::linear).code();
  info.dims = header.shape;
  auto storage = resolve_order(header.shape, header.fortran_order, type.dtype);
  if (!storage) {
    Error error = std::move(storage).error();
    return malformed("npy-shape", place.begin, std::move(error.message));
  }
  info.storage = *std::move(storage);
  info.data_offset = header.data_offset;
  info.unpacked = type.spread;
  info.data_bytes =
      type.spread ? info.storage->elements() : storage_bytes(*info.storage, type.dtype);
  const std::uint64_t found = place.end - header.data_offset;
  if (found == info.data_bytes) return info;
  const std::string needs =
      concat("the shape needs ", info.data_bytes, " bytes of data, the ", place.holder, " has ");
  if (found < info.data_bytes)
    return malformed("data-past-end", header.data_offset, needs, found, " left");
  return malformed("bytes-after-data", info.end(), needs, source.more_follows() ? "more than " : "",
                   found);
}

std::unique_ptr<ByteSource> npy_elements(const ByteSource& source, const TensorInfo& tensor,
                                         const NpyType& type) {
  if (type.spread) return packed_source(source, tensor.data_offset, tensor.data_bytes, type.dtype);
  if (type.big_endian)
    return swapped_source(source, tensor.data_offset, info(type.dtype).buffer_bytes());
  return nullptr;
}

namespace {

class NpyReader final : public TensorReader {
 public:
  NpyReader(TensorInfo info, std::unique_ptr<ByteSource> elements)
      : info_(std::move(info)), elements_(std::move(elements)) {}

  std::uint64_t tensor_count() const override { return 1; }
  Result<TensorInfo> tensor(std::uint64_t) const override { return info_; }
  Result<const ByteSource*> elements(std::uint64_t) const override { return elements_.get(); }

 private:
  TensorInfo info_;
  std::unique_ptr<ByteSource> elements_;  // for big-endian and 4-bit elements
};

}  // namespace

Result<bool> recognizes_npy(const ByteSource& source, const OpenRequest&) {
  std::array<char, kNpyMagic.size()> start{};
  if (source.size() < start.size()) return false;
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return std::string_view(start.data(), start.size()) == kNpyMagic;
}

Result<std::unique_ptr<TensorReader>> open_npy(const ByteSource& source,
                                               const OpenRequest& request) {
  const std::optional<TensorSpec>& spec = request.options.spec;
  if (spec && spec->storage)
    return fail(ErrorCode::invalid_argument,
                "is a .npy file and describes itself; a spec may give the dtype only");
  const NpyPlace place{.begin = 0, .end = source.size()};
  BTF_ASSIGN(const NpyHeader header, read_npy_header(source, place));
  BTF_ASSIGN(const NpyType type, npy_type(header.descr, spec));
  BTF_ASSIGN(TensorInfo tensor, npy_tensor(source, place, header, type));
  auto elements = npy_elements(source, tensor, type);
  return std::make_unique<NpyReader>(std::move(tensor), std::move(elements));
}

// Errors in a header prevent the file from being opened. The codes of 4-bit elements are checked
// with the elements.
Status check_npy(const TensorFile&, const FindingSink&) { return {}; }

namespace {

// Returns true if a number in the type gives the element size, as in "<f4" but not in "bfloat16".
bool says_bytes(std::string_view descr) {
  if (!descr.empty() && std::string_view("<>|=").contains(descr.front())) descr.remove_prefix(1);
  return descr.size() == 2 && std::string_view("biuf").contains(descr[0]) && descr[1] >= '1' &&
         descr[1] <= '9';
}

// The element size of "<f4" or "float32"; for other types the largest possible size, that of
// complex256.
std::uint64_t element_bytes(std::string_view descr) {
  for (const DTypeInfo& row : dtypes())
    if (row.name == descr) return row.buffer_bytes();
  const std::size_t digits = descr.find_first_of("0123456789");
  std::uint64_t bytes = 0;
  if (digits == std::string_view::npos) return 32;
  const auto [end, error] =
      std::from_chars(descr.data() + digits, descr.data() + descr.size(), bytes);
  return error == std::errc{} && bytes < 32 ? bytes : 32;
}

class NpyBound final : public StreamBound {
 public:
  // The first bytes contain the whole header, or it is too long to be valid.
  Status take(const ByteSource& content, ContentExtent& extent) override {
    if (taken_) return {};
    taken_ = true;
    BTF_ASSIGN(const NpyHeader header, read_npy_header(content, {0, content.size()}));
    guessed_ = !says_bytes(header.descr);
    const Checked bytes = checked_mul(element_count(header.shape), element_bytes(header.descr));
    if (const Checked end = checked_add(header.data_offset, bytes)) extent.need(*end);
    return {};
  }
  std::uint64_t needed(const ContentExtent& extent) const override {
    return guessed_ ? 0 : extent.least();
  }
  std::string_view subject() const override { return "the array in its .npy header"; }

 private:
  bool taken_ = false;
  bool guessed_ = false;  // the element size was guessed
};

}  // namespace

std::unique_ptr<StreamBound> npy_bound() { return std::make_unique<NpyBound>(); }

}  // namespace btf
