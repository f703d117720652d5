// Recognises files of other programs by magic numbers or by sizes, checksums and fields that agree,
// and explains what to do with them.
#include "formats/unsupported_formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "btf/layout.h"
#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/format_table.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/readers.h"
#include "formats/tensor_file.h"

namespace btf {
namespace {

bool is_tfrecord(const FileStart& start);

using std::string_view_literals::operator""sv;

std::uint8_t byte_or_zero(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
}

// Returns 0 if the word is cut off.
std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  if (!fits(at, sizeof(std::uint32_t), bytes.size())) return 0;
  return load_little<std::uint32_t>(std::as_bytes(std::span(bytes)).data() + at);
}

std::uint64_t big_endian_word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | byte_or_zero(bytes, at + i);
  return word;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// True for complete vectors of elements of this width, each after a length equal to the first
// one's.
bool is_vectors(const FileStart& start, std::uint64_t element_bytes) {
  constexpr std::uint64_t kMaxDims = 1U << 20;
  const std::uint64_t dims = word_at(start.bytes, 0);
  return dims > 0 && dims <= kMaxDims && start.size % (4 + dims * element_bytes) == 0;
}

// Castagnoli's CRC with TensorFlow's masking.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;
  constexpr std::uint32_t kMask = 0xa282ead8;
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
  }
  crc = ~crc;
  return (crc >> 15 | crc << 17) + kMask;
}

// A length-delimited field of a protocol buffer with few bytes.
std::optional<std::string_view> short_field(std::string_view bytes, std::size_t at,
                                            std::uint8_t tag) {
  const std::size_t length = byte_or_zero(bytes, at + 1);
  if (byte_or_zero(bytes, at) != tag || length >= 0x80 || !fits(at + 2, length, bytes.size()))
    return std::nullopt;
  return bytes.substr(at + 2, length);
}

// Five words: type (MOPT in decimal), rows, columns, whether complex, length of the following name.
bool is_matlab_4(const FileStart& start) {
  constexpr std::size_t kHeader = 20;
  constexpr std::uint32_t kLongestName = 64;
  const std::string_view bytes = start.bytes;
  const std::uint32_t type = word_at(bytes, 0);
  const std::uint32_t name = word_at(bytes, 16);
  if (bytes.size() <= kHeader || type > 52 || type / 10 > 5 || type % 10 > 2) return false;
  if (word_at(bytes, 4) == 0 || word_at(bytes, 8) == 0 || word_at(bytes, 12) > 1) return false;
  if (name < 2 || name > kLongestName || bytes.size() < kHeader + name) return false;
  const std::string_view text = bytes.substr(kHeader, name);
  return text.back() == '\0' && printable(text.substr(0, name - 1));
}

bool is_idx(const FileStart& start) {
  constexpr std::uint8_t kMaxDims = 8;
  struct Type {
    std::uint8_t code;
    std::uint64_t bytes;
  };
  constexpr std::array<Type, 6> kTypes{{{8, 1}, {9, 1}, {0xb, 2}, {0xc, 4}, {0xd, 4}, {0xe, 8}}};
  const std::uint8_t dims = byte_or_zero(start.bytes, 3);
  const auto* const type = std::ranges::find(kTypes, byte_or_zero(start.bytes, 2), &Type::code);
  if (byte_or_zero(start.bytes, 0) != 0 || byte_or_zero(start.bytes, 1) != 0 ||
      type == kTypes.end() || dims == 0 || dims > kMaxDims)
    return false;
  const std::uint64_t header = 4 + std::uint64_t{4} * dims;
  Checked bytes = type->bytes;
  for (std::size_t d = 0; d < dims; ++d)
    bytes = checked_mul(bytes, big_endian_word_at(start.bytes, 4 + 4 * d));
  return checked_add(bytes, header) == start.size;
}

// each preceded by its length
bool is_vectors_of_words(const FileStart& start) { return is_vectors(start, 4); }

bool is_vectors_of_bytes(const FileStart& start) { return is_vectors(start, 1); }

bool is_tensorboard_log(const FileStart& start) {
  return base_name(start.name).contains(".tfevents.") && is_tfrecord(start);
}

// A length and its checksum.
bool is_tfrecord(const FileStart& start) {
  constexpr std::size_t kLength = 8;
  return start.bytes.size() >= kLength + 4 &&
         word_at(start.bytes, kLength) == masked_crc32c(start.bytes.substr(0, kLength));
}

// dtype, then the shape, then values; in ONNX, field 2 is never a message.
bool is_tensorflow_tensor(const FileStart& start) {
  constexpr std::uint8_t kMaxTypes = 40;
  constexpr std::string_view kValues = "\x18\x22\x28\x2a\x32\x38\x3a\x42\x4a\x52\x5a\x6a\x82\x8a"sv;
  const std::string_view bytes = start.bytes;
  const std::uint8_t dtype = byte_or_zero(bytes, 1);
  const auto shape = short_field(bytes, 2, 0x12);
  if (byte_or_zero(bytes, 0) != 0x08 || dtype == 0 || dtype > kMaxTypes || !shape) return false;
  if (!shape->empty() && !short_field(*shape, 0, 0x12)) return false;
  const std::size_t values = 4 + shape->size();
  return values == bytes.size() ? values == start.size : kValues.contains(bytes[values]);
}

// The version 1, then graphs.
bool is_saved_model(const FileStart& start) { return start.bytes.starts_with("\x08\x01\x12"); }

// A node: its name and its operation.
bool is_graph_def(const FileStart& start) {
  const std::string_view bytes = start.bytes;
  if (byte_or_zero(bytes, 0) != 0x0a) return false;
  std::size_t at = 1;
  while ((byte_or_zero(bytes, at) & 0x80) != 0) ++at;
  const auto name = short_field(bytes, at + 1, 0x0a);
  if (!name || !printable(*name)) return false;
  const auto operation = short_field(bytes, at + 3 + name->size(), 0x12);
  return operation && printable(*operation) && (*operation)[0] >= 'A' && (*operation)[0] <= 'Z';
}

// "x.data-00000-of-00001"
bool is_checkpoint_shard(const FileStart& start) {
  constexpr std::string_view kPattern = ".data-#####-of-#####";
  const std::string_view name = base_name(start.name);
  if (name.size() <= kPattern.size()) return false;
  return std::ranges::equal(
      name.substr(name.size() - kPattern.size()), kPattern,
      [](char c, char p) { return p == '#' ? c >= '0' && c <= '9' : c == p; });
}

// Version 0, no levels, version 0 again; a short message with the type, then the dims.
bool is_paddle_parameters(const FileStart& start) {
  constexpr std::size_t kZeros = 16;
  const std::string_view bytes = start.bytes;
  const std::uint32_t message = word_at(bytes, kZeros);
  return bytes.find_first_not_of('\0') == kZeros && message >= 2 && message <= 1024 &&
         byte_or_zero(bytes, kZeros + 4) == 0x08 && byte_or_zero(bytes, kZeros + 5) <= 64 &&
         (message == 2 || byte_or_zero(bytes, kZeros + 6) == 0x10);
}

// Version 2 of the blob storage: the number of blobs and the version; the metadata of the first
// blob, whose magic number is in the table, follow after 64 bytes.
bool is_core_ml_weights(const FileStart& start) {
  return word_at(start.bytes, 4) == 2 && word_at(start.bytes, 0) > 0;
}

// A small map whose first entry has a name and a map or an array (extension 1).
bool is_flax_msgpack(const FileStart& start) {
  const std::uint8_t map = byte_or_zero(start.bytes, 0);
  const std::uint8_t text = byte_or_zero(start.bytes, 1);
  if (map <= 0x80 || map > 0x8f || text <= 0xa0 || text > 0xbf) return false;
  const std::size_t length = text & 0x1fU;
  if (!fits(2, length, start.bytes.size()) || !printable(start.bytes.substr(2, length)))
    return false;
  const std::uint8_t value = byte_or_zero(start.bytes, 2 + length);
  const std::size_t extension =
      value >= 0xc7 && value <= 0xc9
          ? byte_or_zero(start.bytes, 2 + length + 1 + (1U << (value - 0xc7U)))
          : 0;
  return (value > 0x80 && value <= 0x8f) || value == 0xde || extension == 1;
}

bool is_joblib(const FileStart& start) {
  return byte_or_zero(start.bytes, 0) == 0x80 && start.bytes.contains("joblib.numpy_pickle");
}

bool is_pickle_of_numpy(const FileStart& start) {
  return byte_or_zero(start.bytes, 0) == 0x80 && (start.bytes.contains("numpy.core.multiarray") ||
                                                  start.bytes.contains("numpy._core.multiarray") ||
                                                  start.bytes.contains("numpy._core.numeric") ||
                                                  start.bytes.contains("numpy.core.numeric"));
}

constexpr std::array<std::string_view, 4> kPacked{".gz", ".bz2", ".xz", ".lz4"};

// "x.npy", also "x.npy.gz".
bool named_as_tensors(std::string_view name) {
  for (const std::string_view packed : kPacked)
    if (ends_in(name, packed)) name.remove_suffix(packed.size());
  const auto ending = find_ending(name);
  return (ending && !ending->tensorless) || ends_in(name, ".bin");
}

}  // namespace

Result<bool> accompanies_tensors(const std::string& path, const OpenOptions& options) {
  const std::string_view name = content_name(path);
  if (named_as_tensors(name)) return false;
  const auto ending = find_ending(name);
  const bool tensorless = ending && ending->tensorless;
  const std::optional<std::uint64_t> expected = expected_bytes({path, options});
  // Errors of the system say nothing about the contents; all others do.
  const auto of_contents = [&](const Error& error, bool otherwise) -> Result<bool> {
    if (is_system_error(error) && !is_not_there(error)) return std::unexpected(error.in_file(path));
    return otherwise;
  };
  const auto source = open_source(path, expected);
  if (!source) return of_contents(source.error(), tensorless);
  if (expected == (*source)->size()) return false;
  if (options.spec && options.spec->as_text && begins_with_number(**source)) return false;
  // A file that the set's spec does not fit is opened without it.
  const OpenOptions plain;
  const OpenRequest request{path, plain};
  if (const auto format = recognize_format(**source, request)) {
    // A zip file, in which only the directory tells the arrays.
    const auto reader = tensorless ? (*format)->open(**source, request) : nullptr;
    if (reader) return false;
    return of_contents(reader.error(), reader.error().code == ErrorCode::unsupported);
  } else if (is_system_error(format.error())) {
    return of_contents(format.error(), false);
  }
  if (tensorless) return true;
  const auto stand_in = find_placeholder(**source);
  if (!stand_in) return of_contents(stand_in.error(), false);
  if (*stand_in) return false;
  const auto kind = find_unsupported_format(**source, path);
  if (!kind) return of_contents(kind.error(), false);
  return *kind && (*kind)->tensorless;
}

namespace {

constexpr std::uint64_t kStart = 4096;
constexpr std::size_t kGlance = 8;
constexpr std::string_view kSpaces = " \t\r\n";

// Answers of servers that are neither HTML nor JSON.
constexpr std::array<std::string_view, 9> kAnswers{
    "Entry not found", "Repository not found",          "404: Not Found", "404 page not found",
    "Not Found",       "Invalid username or password.", "Unauthorized",   "Forbidden",
    "Access denied"};

// First members of JSON that reports an error.
constexpr std::array<std::string_view, 6> kErrorMembers{"error",  "errors", "message",
                                                        "detail", "status", "statusCode"};

Result<std::string> first_bytes(const ByteSource& source, std::uint64_t most = kStart) {
  std::string start(std::min({most, source.size(), source.read_ahead_end(0)}), '\0');
  BTF_TRY(source.read_at(0, std::as_writable_bytes(std::span(start))));
  return start;
}

std::string_view trimmed(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

bool begins_as(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && same_name(text.substr(0, lower.size()), lower);
}

bool is_text(std::string_view start, bool whole) {
  const auto control = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    // ESC is part of colour codes.
    return (byte < 0x20 && (c < '\t' || c > '\r') && byte != 0x1b) || byte == 0x7f;
  };
  if (start.empty() || std::ranges::any_of(start, control)) return false;
  // The last character may be cut off.
  for (unsigned cut = 0; cut < (whole ? 1U : 4U); ++cut)
    if (is_utf8(start.substr(0, start.size() - cut))) return true;
  return false;
}

std::string size_text(const ByteSource& source) {
  const std::uint64_t size = source.size();
  return concat(source.more_follows() ? "more than " : "", size, size == 1 ? " byte" : " bytes");
}

FoundKind unread(std::string_view what, std::string_view advice, bool tensorless) {
  return {"is " + std::string(what) + ", which btftool does not read" +
              (advice.empty() ? "" : "; " + std::string(advice)),
          tensorless};
}

bool is_kind(const FileStart& start, const UnsupportedFormat& kind) {
  if (!kind.bytes.empty() && (start.bytes.size() < kind.offset ||
                              !start.bytes.substr(kind.offset).starts_with(kind.bytes)))
    return false;
  if (!kind.ending.empty() &&
      (start.name.size() < kind.ending.size() ||
       !same_name(start.name.substr(start.name.size() - kind.ending.size()), kind.ending)))
    return false;
  return kind.fits == nullptr || kind.fits(start);
}

std::optional<FoundKind> text_kind(std::string_view start, bool whole) {
  if (!is_text(start, whole)) return std::nullopt;
  for (const TextKind& kind : text_kinds())
    if (start.contains(kind.mark)) return FoundKind{"is " + std::string(kind.what), true};
  const std::size_t first = start.find_first_not_of(kSpaces);
  if (first == start.npos || (start[first] != '{' && start[first] != '['))
    return FoundKind{"is text; to read the numbers in it, give `spec` text:fp32:DIMS", true};
  for (const TextKind& kind : json_kinds())
    if (start.contains(kind.mark)) return FoundKind{"is " + std::string(kind.what), true};
  return FoundKind{"is JSON of a kind that btftool does not read", true};
}

// Raw weights of a model that is a file of its own; nothing in them identifies them.
struct SeparateModel {
  std::string_view ending;
  std::string_view mark;  // in the model's text
  std::string_view what;
};

constexpr std::array<SeparateModel, 2> kModelsBeside{
    {{".xml", "<net name=", "a file of the weights of an OpenVINO model"},
     {".param", "7767517", "a file of the weights of an ncnn net"}}};

Result<std::optional<FoundKind>> weights_of_model(std::string_view path) {
  constexpr std::string_view kBin = ".bin";
  if (!path.ends_with(kBin)) return std::nullopt;
  for (const SeparateModel& model : kModelsBeside) {
    std::string beside(path.substr(0, path.size() - kBin.size()));
    beside += model.ending;
    BTF_ASSIGN(const bool regular, is_regular_file(beside));
    if (!regular) continue;
    const auto source = open_source(beside, {});
    if (!source && is_not_there(source.error())) continue;
    if (!source) return std::unexpected(source.error().in_file(beside));
    BTF_ASSIGN(const std::string text, first_bytes(**source));
    if (text.contains(model.mark))
      return unread(std::string(model.what) + " (" + beside + ")",
                    "export its tensors with np.savez or safetensors", false);
  }
  return std::nullopt;
}

// "version https://git-lfs..\noid sha256:..\nsize 438007537"
std::optional<FoundKind> lfs_pointer(std::string_view start, std::string_view bytes) {
  if (!start.starts_with("version https://git-lfs.github.com/spec/")) return std::nullopt;
  std::string text = "is a Git LFS pointer (" + std::string(bytes) + ") and not the file itself";
  constexpr std::string_view kSize = "\nsize ";
  if (const std::size_t at = start.find(kSize); at != start.npos) {
    const std::string_view rest = start.substr(at + kSize.size());
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    constexpr std::size_t kMaxDigits = 19;
    if (!digits.empty() && digits.size() <= kMaxDigits)
      text += ", which has " + std::string(digits) + " bytes";
  }
  return FoundKind{text + "; run git lfs pull", false};
}

// `whole`: `start` is the whole file.
std::optional<FoundKind> answer_of_server(std::string_view start, bool whole,
                                          std::string_view bytes) {
  constexpr std::string_view kAgain = " in place of the file; download it again";
  const auto is = [&](std::string_view what) {
    return FoundKind{
        "is " + std::string(what) + " (" + std::string(bytes) + ")" + std::string(kAgain), false};
  };
  if (begins_as(start, "<!doctype html") || begins_as(start, "<html")) return is("an HTML page");
  if (start.starts_with("<?xml") && start.contains("<Error>"))
    return is("the error of a server in XML");
  if (!whole) return std::nullopt;
  if (std::ranges::find(kAnswers, start) != kAnswers.end())
    return is("the answer '" + std::string(start) + "' of a server");
  if (!start.starts_with('{')) return std::nullopt;
  const std::string_view name = trimmed(start.substr(1));
  for (const std::string_view member : kErrorMembers)
    if (name.starts_with("\"" + std::string(member) + "\""))
      return is("the error of a server in JSON");
  return std::nullopt;
}

// The side of a square image of three channels with this many elements; 0 if there is none.
std::uint64_t side_of_image(std::uint64_t elements) {
  constexpr std::uint64_t kChannels = 3;
  constexpr std::uint64_t kMinSide = 8;
  const std::uint64_t area = elements / kChannels;
  const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(area)) + 0.5);
  return elements % kChannels == 0 && side >= kMinSide && side * side == area ? side : 0;
}

// For the usual dtypes: a square image if the size fits one, else a single dim.
std::vector<std::string> specs_of_bytes(std::uint64_t bytes) {
  constexpr std::array kUsual{DType::float32, DType::float16, DType::int8};
  std::vector<std::string> specs;
  for (const bool image : {true, false})
    for (const DType dtype : kUsual) {
      const std::uint64_t size = info(dtype).bits / 8;
      if (bytes == 0 || bytes % size != 0) continue;
      const std::uint64_t elements = bytes / size;
      const std::uint64_t side = image ? side_of_image(elements) : 0;
      if (image && side == 0) continue;
      const Dims dims = image ? Dims{1, 3, side, side} : Dims{elements};
      specs.push_back(spec_text(dtype, Layout::linear, dims));
    }
  return specs;
}

}  // namespace

Result<std::optional<FoundKind>> find_placeholder(const ByteSource& source) {
  // The first byte already excludes most files.
  BTF_ASSIGN(std::string start, first_bytes(source, kGlance));
  const std::string_view begin = trimmed(start);
  if (!begin.empty() && !std::string_view("v<{4ERNIUFA").contains(begin.front()))
    return std::nullopt;
  BTF_ASSIGN(start, first_bytes(source));
  const std::string_view text = trimmed(start);
  const bool whole = start.size() == source.size() && !source.more_follows();
  if (!is_text(start, whole)) return std::nullopt;
  const std::string bytes = size_text(source);
  if (auto pointer = lfs_pointer(text, bytes)) return pointer;
  return answer_of_server(text, whole, bytes);
}

Result<std::optional<FoundKind>> find_unsupported_format(const ByteSource& source,
                                                         std::string_view path) {
  BTF_ASSIGN(const std::string bytes, first_bytes(source));
  const FileStart start{bytes, source.size(), content_name(path)};
  for (const UnsupportedFormat& kind : unsupported_formats())
    if (is_kind(start, kind)) return unread(kind.what, kind.advice, kind.tensorless);
  // A file called .btf is a bad BTF file. So is a short file of white space unless its name says
  // that it is text, since a BTF file of 9 to 13 tensors begins with white space.
  const bool blank = bytes.size() < kGlance && bytes.find_first_not_of(" \t\r\n\v\f") == bytes.npos;
  const bool called_text = start.name.ends_with(".md") || start.name.ends_with(".txt");
  if (start.name.ends_with(".btf") || (blank && !called_text)) return std::nullopt;
  if (auto text = text_kind(bytes, bytes.size() == source.size())) return text;
  return weights_of_model(start.name);
}

std::string unknown_kind(const ByteSource& source, std::string_view path) {
  constexpr std::size_t kShown = 8;
  const auto ending = find_ending(content_name(path));
  std::string text =
      ending && !ending->tensorless
          ? "has the extension of " + std::string(ending->title) + ", but does not begin as one"
          : "is not BTF, nor a file of another kind that btftool knows";
  text += ": " + size_text(source);
  const auto start = first_bytes(source);
  if (start && !start->empty()) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += start->size() > kShown ? ", beginning with" : ",";
    for (const char c : start->substr(0, kShown)) {
      const auto byte = static_cast<unsigned char>(c);
      text += {' ', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  text += "; if these are raw bytes, say what they hold: ";
  const auto specs =
      source.more_follows() ? std::vector<std::string>() : specs_of_bytes(source.size());
  text += specs.empty() ? "`spec` fp16:hwc8:1x3x224x224" : "its size is that of `spec` ";
  for (std::size_t i = 0; i < specs.size(); ++i) text += (i == 0 ? "" : ", ") + specs[i];
  return text;
}

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kArrays = "np.save and np.savez write arrays that it does";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kWeights = "export its tensors with np.savez or safetensors";
constexpr std::string_view kTensorRt =
    "trtexec --exportOutput and debug tensors write what it computes";
constexpr std::string_view kHdf5 = "h5py and np.savez make one that it does";
constexpr std::string_view kMat = "scipy.io.loadmat and np.savez make one that it does";
constexpr std::string_view kNetCdf = "scipy.io.netcdf_file and np.savez make one that it does";
constexpr std::string_view kGgml =
    "llama.cpp's convert_llama_ggml_to_gguf.py makes one that it does";
constexpr std::string_view kMxnet =
    "np.savez(OUT, **{k: v.asnumpy() for k, v in mx.nd.load(FILE).items()}) makes one that it does";
constexpr std::string_view kPaddleModel =
    "np.savez(OUT, **{k: v.numpy() for k, v in paddle.jit.load(PREFIX).state_dict().items()}) "
    "makes "
    "one that it does";
constexpr std::string_view kPaddleState =
    "np.savez(OUT, **{k: np.asarray(v) for k, v in paddle.load(FILE).items()}) makes one that it "
    "does";
constexpr std::string_view kFlax =
    "flax.serialization.msgpack_restore, flax.traverse_util.flatten_dict(.., sep='.') and "
    "safetensors.flax.save_file make one that it does";
constexpr std::string_view kCheckpoint =
    "r = tf.train.load_checkpoint(PREFIX), np.savez(OUT, **{k: r.get_tensor(k) for k in "
    "r.get_variable_to_shape_map()}) makes one that it does";
constexpr std::string_view kSavedModel =
    "its tensors are in variables/ next to it: r = "
    "tf.train.load_checkpoint('variables/variables'), "
    "np.savez(OUT, **{k: r.get_tensor(k) for k in r.get_variable_to_shape_map()})";
constexpr std::string_view kTensorProto =
    "t = tensor_pb2.TensorProto.FromString(open(FILE, 'rb').read()) of tensorflow.core.framework, "
    "np.save(OUT, tf.make_ndarray(t)) makes one that it does";
constexpr std::string_view kGraphDef =
    "tf.make_ndarray(node.attr['value'].tensor) of its Const nodes, and np.savez, make one that it "
    "does";
constexpr std::string_view kRecords =
    "tf.data.TFRecordDataset and tf.train.Example.FromString read it, np.savez writes their arrays";
constexpr std::string_view kCaffe =
    "net = caffe.Net(PROTOTXT, FILE, caffe.TEST), np.savez(OUT, **{f'{k}_{i}': b.data for k, v in "
    "net.params.items() for i, b in enumerate(v)}) makes one that it does";
constexpr std::string_view kPickledArrays =
    "np.savez of what pickle.load gives, if you trust it, makes one that it does";
constexpr std::string_view kJoblib =
    "np.savez of what joblib.load gives, if you trust it, makes one that it does";
constexpr std::string_view kIdx =
    "np.save(OUT, np.fromfile(FILE, 'u1', offset=4 + 4 * RANK).reshape(DIMS)) makes one that it "
    "does; "
    "types of more bytes are big-endian ('>f4')";
constexpr std::string_view kFvecs =
    "a = np.fromfile(FILE, 'i4'), np.save(OUT, a.reshape(-1, a[0] + 1)[:, 1:].view('f4')) makes "
    "one "
    "that it does";
constexpr std::string_view kIvecs =
    "a = np.fromfile(FILE, 'i4'), np.save(OUT, a.reshape(-1, a[0] + 1)[:, 1:]) makes one that it "
    "does";
constexpr std::string_view kBvecs =
    "a = np.fromfile(FILE, 'u1'), np.save(OUT, a.reshape(-1, a[:4].view('i4')[0] + 4)[:, 4:]) "
    "makes "
    "one that it does";
constexpr std::string_view kEtdump =
    "Inspector(etdump_path=FILE, debug_buffer_path=BUFFER) of executorch.devtools gives the "
    "debug_data "
    "of its events, np.savez writes them";
constexpr std::string_view kCoreMl =
    "coremltools.optimize.coreml.get_weights_metadata(MODEL) gives its arrays, np.savez(OUT, **{k: "
    "v.val for k, v in ..}) writes them";
constexpr std::string_view kEncodings =
    "encodings of QNN or AIMET: scales and offsets in JSON, which hold no tensors; a tensor's "
    "codes "
    "become numbers with convert, `dtype` fp32, `quantization.scale` SCALE and "
    "`quantization.zero_point` Z, which is minus its offset";
constexpr std::string_view kNcnn = "np.save(OUT, np.array(mat)) writes what an extractor gives";
constexpr std::string_view kMnn =
    "np.save(OUT, tensor.getNumpyData()) writes what a session computes";
constexpr std::string_view kRknn = "np.save writes what rknn.inference(..) gives";

constexpr std::string_view kTrtexecLog =
    "a log of trtexec in text and not the outputs in JSON; trtexec --exportOutput=FILE writes a "
    "file "
    "that btftool reads";
constexpr std::string_view kTensorRtLog =
    "a log of TensorRT in text, which btftool does not read; trtexec --exportOutput=FILE writes a "
    "file that it does";

constexpr bool kHasNone = true;

// The first match wins.
// clang-format off
constexpr auto kKinds = std::to_array<UnsupportedFormat>({
    {"an HDF5 file",                        kHdf5,             0, "\x89HDF\r\n\x1a\n"sv},
    {"a PNG image",                         kArrays,           0, "\x89PNG\r\n\x1a\n"sv, {}, nullptr, kHasNone},
    {"a JPEG image",                        kArrays,           0, "\xff\xd8\xff"sv, {}, nullptr, kHasNone},
    {"a GIF image",                         kArrays,           0, "GIF8"sv, {}, nullptr, kHasNone},
    {"a TIFF image",                        kArrays,           0, "II*\0"sv, {}, nullptr, kHasNone},
    {"a TIFF image",                        kArrays,           0, "MM\0*"sv, {}, nullptr, kHasNone},
    {"a WebP image",                        kArrays,           8, "WEBP"sv, {}, nullptr, kHasNone},
    {"a BMP image",                         kArrays,           0, "BM"sv, ".bmp", nullptr, kHasNone},
    {"an audio file",                       kArrays,           8, "WAVE"sv, {}, nullptr, kHasNone},
    {"a PDF document",                      "",                0, "%PDF-"sv, {}, nullptr, kHasNone},
    {"an ELF program or library",           "",                0, "\x7f" "ELF"sv, {}, nullptr, kHasNone},
    {"a compiled Python program",           "",                2, "\r\n"sv, ".pyc", nullptr, kHasNone},
    {"an SQLite database",                  "",                0, "SQLite format 3"sv, {}, nullptr, kHasNone},
    {"a .DS_Store file of macOS",           "",                4, "Bud1"sv, {}, nullptr, kHasNone},
    {"a SentencePiece tokenizer",           "",                0, "\n\x0e\n\5<unk>"sv, {}, nullptr, kHasNone},
    {"a SentencePiece tokenizer",           "",                0, "\n\x0e\n\5<pad>"sv, {}, nullptr, kHasNone},
    {"a gzip file",                         kUnpack,           0, "\x1f\x8b"sv, {}, nullptr, kHasNone},
    {"an xz file",                          kUnpack,           0, "\xfd" "7zXZ\0"sv, {}, nullptr, kHasNone},
    {"a bzip2 file",                        kUnpack,           0, "BZh"sv, {}, nullptr, kHasNone},
    {"an lz4 file",                         kUnpack,           0, "\x04\x22\x4d\x18"sv, {}, nullptr, kHasNone},
    {"a 7z archive",                        kUnpack,           0, "7z\xbc\xaf\x27\x1c"sv, {}, nullptr, kHasNone},
    {"a RAR archive",                       kUnpack,           0, "Rar!\x1a\7"sv, {}, nullptr, kHasNone},
    {"a tar archive",                       kUnpack,         257, "ustar"sv, {}, nullptr, kHasNone},
    {"a TensorFlow Lite model",             kWeights,          4, "TFL3"sv},
    {"an ExecuTorch program",               kWeights,          4, "ET12"sv},
    {"an ETDump of ExecuTorch",             kEtdump,           4, "ED00"sv},
    {"a bundled program of ExecuTorch",     kEtdump,           4, "BP08"sv},
    {"a file of ExecuTorch's weights (.ptd)", kWeights,        4, "FT01"sv},
    {"a file of Core ML's weights (weight.bin)", kCoreMl,     64, "\xef\xbe\xad\xde"sv, {}, is_core_ml_weights},
    {"an ONNX Runtime model",               "convert it back to .onnx",   4, "ORTM"sv},
    {"a TensorRT plan",                     kTensorRt,         0, "ptrt"sv},
    {"a TensorRT plan",                     kTensorRt,         0, "ftrt"sv},
    {"a Parquet file",                      kArrays,           0, "PAR1"sv},
    {"an Arrow file",                       kArrays,           0, "ARROW1"sv},
    {"a MATLAB file",                       kMat,              0, "MATLAB 5.0"sv},
    {"a MATLAB 7.3 file (HDF5)",            kHdf5,             0, "MATLAB 7.3"sv},
    {"a MATLAB 4 file",                     kMat,              0, {}, {}, is_matlab_4},
    {"a NetCDF file",                       kNetCdf,           0, "CDF\1"sv},
    {"a NetCDF file",                       kNetCdf,           0, "CDF\2"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "lmgg"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "fmgg"sv},
    {"a GGML file from before GGUF",        kGgml,             0, "tjgg"sv},
    {"a file of MXNet's parameters",        kMxnet,            0, "\x12\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv},
    {"an IDX file, as MNIST comes in",      kIdx,              0, {}, {}, is_idx},
    {"a file of float32 vectors (.fvecs)",  kFvecs,            0, {}, ".fvecs", is_vectors_of_words},
    {"a file of int32 vectors (.ivecs)",    kIvecs,            0, {}, ".ivecs", is_vectors_of_words},
    {"a file of uint8 vectors (.bvecs)",    kBvecs,            0, {}, ".bvecs", is_vectors_of_bytes},
    {"a log of TensorBoard",                "",                0, {}, {}, is_tensorboard_log, kHasNone},
    {"a file of TensorFlow's records",      kRecords,          0, {}, {}, is_tfrecord},
    {"a TensorFlow tensor (TensorProto)",   kTensorProto,      0, {}, {}, is_tensorflow_tensor},
    {"a TensorFlow SavedModel",             kSavedModel,       0, {}, "saved_model.pb", is_saved_model},
    {"a TensorFlow graph (GraphDef)",       kGraphDef,         0, {}, ".pb", is_graph_def},
    {"a shard of a TensorFlow checkpoint",  kCheckpoint,       0, {}, {}, is_checkpoint_shard},
    {"the index of a TensorFlow checkpoint", kCheckpoint,       0, "\0\0"sv, ".index"},
    {"a file of Paddle's parameters",       kPaddleModel,      0, {}, {}, is_paddle_parameters},
    {"a file of Paddle's parameters",       kPaddleModel,      0, {}, ".pdiparams"},
    {"a Paddle model",                      kPaddleModel,      0, {}, ".pdmodel"},
    {"a Paddle state_dict",                 kPaddleState,      0, "\x80"sv, ".pdparams"},
    {"a Paddle state_dict",                 kPaddleState,      0, "\x80"sv, ".pdopt"},
    {"a file of flax's parameters",         kFlax,             0, "\x81\xa6params"sv},
    {"a MessagePack file, as flax writes",  kFlax,             0, {}, ".msgpack"},
    {"a MessagePack file, as flax writes",  kFlax,             0, {}, {}, is_flax_msgpack},
    {"an ncnn net",                         kNcnn,             0, "\xdd\x85\x76\0"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x47\x6b\x30\1"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x38\x4b\x0d\0"sv},
    {"a file of ncnn's weights",            kWeights,          0, "\x56\xc0\2\0"sv},
    {"an MNN model",                        kMnn,              0, {}, ".mnn"},
    {"an RKNN model",                       kRknn,             0, "RKNN"sv},
    {"an RKNN model",                       kRknn,             0, {}, ".rknn"},
    {"a TNN model",                         kWeights,          0, "\4\0\xbc\xfa"sv},
    {"a TNN model",                         kWeights,          0, "\2\0\xbc\xfa"sv},
    {"a TNN model",                         kWeights,          0, {}, ".tnnmodel"},
    {"a file of Darknet's weights",         kWeights,          0, {}, ".weights"},
    {"a Caffe model",                       kCaffe,            0, {}, ".caffemodel"},
    {"a joblib file",                       kJoblib,           0, {}, {}, is_joblib},
    {"a joblib file",                       kJoblib,           0, {}, ".joblib"},
    {"a PyTorch file from before 1.6", "torch.load and torch.save write it in today's form, safetensors.torch.save_file in one that it reads", 0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"sv},
    {"a Python pickle of NumPy arrays",     kPickledArrays,    0, {}, {}, is_pickle_of_numpy},
    {"a Python pickle",              kArrays,                                         0, "\x80\2"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\3"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\4"sv},
    {"a Python pickle",              kArrays,                                         0, "\x80\5"sv},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".onnx"},
    {"a protocol buffer or text of another kind than ONNX's models and tensors", "",  0, {}, ".pb"},
    {"a Core ML model",              kCoreMl,                                        0, {}, ".mlmodel"},
});

// Logs begin with '[' like JSON.
constexpr auto kTexts = std::to_array<TextKind>({
    {"&&&& RUNNING TensorRT",  kTrtexecLog},
    {"=== Model Options ===",  kTrtexecLog},
    {"[I] Output Tensors:",    kTrtexecLog},
    {"[I] RUNNING | Command",  "a log of Polygraphy in text, which btftool does not read; polygraphy run --save-outputs FILE writes a file that it does"},
    {"[TRT]",                  kTensorRtLog},
    {"7767517\n",              "an ncnn net in text (.param), which btftool does not read; np.save(OUT, np.array(mat)) writes what an extractor gives"},
    {" 4206624770 ",           "a TNN net in text (.tnnproto), which btftool does not read"},
    {" 4206624772 ",           "a TNN net in text (.tnnproto), which btftool does not read"},
    {"<net name=",             "an OpenVINO model in XML, which btftool does not read; its weights are in the .bin file next to it"},
});

// JSON of other tools without tensors, recognised by a word in its first bytes.
constexpr auto kJsonKinds = std::to_array<TextKind>({
    {"\"timeMs\"",           "a profile of layers (trtexec --exportProfile), which holds no tensors"},
    {"\"startEnqMs\"",       "a list of times (trtexec --exportTimes), which holds no tensors"},
    {"\"activation_encodings\"", kEncodings},
    {"\"param_encodings\"",    kEncodings},
    {"\"Layers\"",           "a list of layers (trtexec --exportLayerInfo), which holds no tensors"},
});

// clang-format on

}  // namespace

std::span<const UnsupportedFormat> unsupported_formats() { return kKinds; }
std::span<const TextKind> text_kinds() { return kTexts; }
std::span<const TextKind> json_kinds() { return kJsonKinds; }

}  // namespace btf
