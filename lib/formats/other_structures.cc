#include "formats/other_structures.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "core/checked_math.h"
#include "core/little_endian.h"

namespace btf {
namespace {

using std::string_view_literals::operator""sv;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
}

// 0 where it is cut off.
std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  if (!fits(at, sizeof(std::uint32_t), bytes.size())) return 0;
  return load_little<std::uint32_t>(std::as_bytes(std::span(bytes)).data() + at);
}

std::uint64_t big_endian_word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | byte_at(bytes, at + i);
  return word;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Whole vectors of elements of this width, each after a length that equals the first one's.
bool is_vectors(const FileStart& start, std::uint64_t element_bytes) {
  constexpr std::uint64_t kMostDims = 1U << 20;
  const std::uint64_t dims = word_at(start.bytes, 0);
  return dims > 0 && dims <= kMostDims && start.size % (4 + dims * element_bytes) == 0;
}

// Castagnoli's CRC, as TensorFlow masks it.
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

// A field of a protocol buffer that has a length, which must be one of few bytes.
std::optional<std::string_view> short_field(std::string_view bytes, std::size_t at,
                                            std::uint8_t tag) {
  const std::size_t length = byte_at(bytes, at + 1);
  if (byte_at(bytes, at) != tag || length >= 0x80 || !fits(at + 2, length, bytes.size()))
    return std::nullopt;
  return bytes.substr(at + 2, length);
}

}  // namespace

// Five words: type (MOPT in decimal), rows, columns, whether complex, length of the name behind
// them.
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
  constexpr std::uint8_t kMostDims = 8;
  struct Type {
    std::uint8_t code;
    std::uint64_t bytes;
  };
  constexpr std::array<Type, 6> kTypes{{{8, 1}, {9, 1}, {0xb, 2}, {0xc, 4}, {0xd, 4}, {0xe, 8}}};
  const std::uint8_t dims = byte_at(start.bytes, 3);
  const auto* const type = std::ranges::find(kTypes, byte_at(start.bytes, 2), &Type::code);
  if (byte_at(start.bytes, 0) != 0 || byte_at(start.bytes, 1) != 0 || type == kTypes.end() ||
      dims == 0 || dims > kMostDims)
    return false;
  const std::uint64_t header = 4 + std::uint64_t{4} * dims;
  Checked bytes = type->bytes;
  for (std::size_t d = 0; d < dims; ++d)
    bytes = checked_mul(bytes, big_endian_word_at(start.bytes, 4 + 4 * d));
  return checked_add(bytes, header) == start.size;
}

bool is_vectors_of_words(const FileStart& start) { return is_vectors(start, 4); }
bool is_vectors_of_bytes(const FileStart& start) { return is_vectors(start, 1); }

bool is_tensorboard_log(const FileStart& start) {
  return base_name(start.name).contains(".tfevents.") && is_tfrecord(start);
}

// A length, and its checksum.
bool is_tfrecord(const FileStart& start) {
  constexpr std::size_t kLength = 8;
  return start.bytes.size() >= kLength + 4 &&
         word_at(start.bytes, kLength) == masked_crc32c(start.bytes.substr(0, kLength));
}

// dtype, then the shape, then values; ONNX has no message in field 2.
bool is_tensorflow_tensor(const FileStart& start) {
  constexpr std::uint8_t kMostTypes = 40;
  constexpr std::string_view kValues = "\x18\x22\x28\x2a\x32\x38\x3a\x42\x4a\x52\x5a\x6a\x82\x8a"sv;
  const std::string_view bytes = start.bytes;
  const std::uint8_t dtype = byte_at(bytes, 1);
  const auto shape = short_field(bytes, 2, 0x12);
  if (byte_at(bytes, 0) != 0x08 || dtype == 0 || dtype > kMostTypes || !shape) return false;
  if (!shape->empty() && !short_field(*shape, 0, 0x12)) return false;
  const std::size_t values = 4 + shape->size();
  return values == bytes.size() ? values == start.size : kValues.contains(bytes[values]);
}

// The version 1, then graphs.
bool is_saved_model(const FileStart& start) { return start.bytes.starts_with("\x08\x01\x12"); }

// A node: its name, and what it does.
bool is_graph_def(const FileStart& start) {
  const std::string_view bytes = start.bytes;
  if (byte_at(bytes, 0) != 0x0a) return false;
  std::size_t at = 1;
  while ((byte_at(bytes, at) & 0x80) != 0) ++at;
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

// Version 0, no levels, version 0 again; a message of a few bytes: type, then dims.
bool is_paddle_parameters(const FileStart& start) {
  constexpr std::size_t kZeros = 16;
  const std::string_view bytes = start.bytes;
  const std::uint32_t message = word_at(bytes, kZeros);
  return bytes.find_first_not_of('\0') == kZeros && message >= 2 && message <= 1024 &&
         byte_at(bytes, kZeros + 4) == 0x08 && byte_at(bytes, kZeros + 5) <= 64 &&
         (message == 2 || byte_at(bytes, kZeros + 6) == 0x10);
}

// Version 2 of its blob storage: the number of blobs, the version; the first blob's metadata, whose
// mark the table has, stand behind 64 bytes.
bool is_core_ml_weights(const FileStart& start) {
  return word_at(start.bytes, 4) == 2 && word_at(start.bytes, 0) > 0;
}

// A map of few members, of which the first has a name and holds a map or an array (extension 1).
bool is_flax_msgpack(const FileStart& start) {
  const std::uint8_t map = byte_at(start.bytes, 0);
  const std::uint8_t text = byte_at(start.bytes, 1);
  if (map <= 0x80 || map > 0x8f || text <= 0xa0 || text > 0xbf) return false;
  const std::size_t length = text & 0x1fU;
  if (!fits(2, length, start.bytes.size()) || !printable(start.bytes.substr(2, length)))
    return false;
  const std::uint8_t value = byte_at(start.bytes, 2 + length);
  const std::size_t extension = value >= 0xc7 && value <= 0xc9
                                    ? byte_at(start.bytes, 2 + length + 1 + (1U << (value - 0xc7U)))
                                    : 0;
  return (value > 0x80 && value <= 0x8f) || value == 0xde || extension == 1;
}

bool is_joblib(const FileStart& start) {
  return byte_at(start.bytes, 0) == 0x80 && start.bytes.contains("joblib.numpy_pickle");
}

bool is_pickle_of_numpy(const FileStart& start) {
  return byte_at(start.bytes, 0) == 0x80 && (start.bytes.contains("numpy.core.multiarray") ||
                                             start.bytes.contains("numpy._core.multiarray") ||
                                             start.bytes.contains("numpy._core.numeric") ||
                                             start.bytes.contains("numpy.core.numeric"));
}

}  // namespace btf
