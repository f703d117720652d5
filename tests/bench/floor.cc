// What moving the bytes alone costs: the limit that file-to-file work is measured against.
//   floor make FILE            a BTF file with one float32 tensor [128, 256, 56, 56] (411 MB)
//   floor copy IN OUT BYTES    reads all of IN by pread and writes BYTES bytes by pwrite, in 1 MiB
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kBlock = 1U << 20;

int fail(const char* what) {
  std::perror(what);
  return 2;
}

int copy(const char* in, const char* out, std::uint64_t bytes) {
  const int source = ::open(in, O_RDONLY);
  const int target = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (source < 0 || target < 0) return fail("open");
  std::vector<char> block(kBlock);
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  for (bool more = true; more;) {
    const ssize_t got = ::pread(source, block.data(), kBlock, static_cast<off_t>(read));
    if (got < 0) return fail("read");
    read += static_cast<std::uint64_t>(got);
    const std::size_t put = std::min<std::uint64_t>(kBlock, bytes - written);
    if (::pwrite(target, block.data(), put, static_cast<off_t>(written)) < 0) return fail("write");
    written += put;
    more = got > 0 || written < bytes;
  }
  return ::close(target) == 0 ? 0 : fail("close");
}

int make(const char* path) {
  const std::uint64_t header[] = {1, 16, 4, 4, 128, 256, 56, 56};
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return fail("open");
  std::fwrite(header, sizeof(header), 1, file);
  std::vector<float> row(256 * 56 * 56);
  std::uint32_t state = 1;
  for (int image = 0; image < 128; ++image) {
    for (float& value : row) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<std::int32_t>(state)) / 1e9F;
    }
    std::fwrite(row.data(), sizeof(float), row.size(), file);
  }
  return std::fclose(file) == 0 ? 0 : fail("write");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "make" && argc == 3) return make(argv[2]);
  if (command == "copy" && argc == 5)
    return copy(argv[2], argv[3], std::strtoull(argv[4], nullptr, 10));
  std::fputs("usage: floor make FILE | floor copy IN OUT BYTES\n", stderr);
  return 2;
}
