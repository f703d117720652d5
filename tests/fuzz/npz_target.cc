// Any bytes as a .npz, or members of any content in an archive that is sound but for single bytes.
// The first byte says which dtype was told, the second which of the two it is.
#include <zlib.h>

#include "well_formed.h"

namespace {

using fuzz::Bytes;
using fuzz::BytesView;

void put(Bytes& to, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i, value >>= 8) to.push_back(static_cast<std::byte>(value));
}

Bytes deflated(BytesView content) {
  z_stream stream{};
  fuzz::require(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 1, Z_DEFAULT_STRATEGY) == Z_OK,
                "no zlib");
  Bytes packed(deflateBound(&stream, content.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  fuzz::require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib does not deflate");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// What local headers and entries of the directory have in common.
void put_member(Bytes& to, bool packed, std::uint64_t crc, std::uint64_t stored,
                std::uint64_t size) {
  put(to, 20, 2);
  put(to, 0, 2);
  put(to, packed ? 8 : 0, 2);
  put(to, 0, 4);
  put(to, crc, 4);
  put(to, stored, 4);
  put(to, size, 4);
  put(to, 5, 2);
}

Bytes archive(fuzz::Input& input) {
  Bytes file;
  Bytes directory;
  std::uint64_t count = 0;
  for (; input.size() > 0 && count < 4; ++count) {
    const bool packed = input.flag();
    const bool last = count == 3;
    const BytesView content = last ? input.rest() : input.take(input.number(2));
    const Bytes data = packed ? deflated(content) : Bytes(content.begin(), content.end());
    const std::uint64_t crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
    const std::uint64_t begin = file.size();
    put(file, 0x04034b50, 4);
    put_member(file, packed, crc, data.size(), content.size());
    put(file, 0, 2);
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put_member(directory, packed, crc, data.size(), content.size());
    for (const unsigned bytes : {2U, 2U, 2U, 2U, 4U}) put(directory, 0, bytes);
    put(directory, begin, 4);
    for (Bytes* const name : {&file, &directory}) {
      put(*name, 'a' + count, 1);
      put(*name, 0x79706e2e, 4);  // ".npy"
    }
    file.insert(file.end(), data.begin(), data.end());
  }
  const std::uint64_t begin = file.size();
  file.insert(file.end(), directory.begin(), directory.end());
  put(file, 0x06054b50, 4);
  put(file, 0, 4);
  put(file, count, 2);
  put(file, count, 2);
  put(file, directory.size(), 4);
  put(file, begin, 4);
  put(file, 0, 2);
  return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(fuzz::view(data, size));
  btf::OpenOptions options;
  const std::uint64_t told = input.byte();
  if (told < btf::dtypes().size())
    options.spec = btf::TensorSpec{.dtype = btf::dtypes()[told].dtype, .storage = {}};
  if (!input.flag()) {
    fuzz::check_file(input.rest(), options);
    return 0;
  }
  const std::uint64_t changes = input.below(4);
  fuzz::Input change(input.take(9));
  Bytes file = archive(input);
  for (std::uint64_t i = 0; i < changes; ++i) {
    const std::uint64_t at = change.number(2) % file.size();
    file[at] = static_cast<std::byte>(change.byte());
  }
  fuzz::check_file(file, options);
  return 0;
}
