// What the system alone costs: the limits that file-to-file work is measured against.
//   floor make FILE [IMAGES]   a BTF file with one float32 tensor [IMAGES, 256, 56, 56], 3.2 MB an
//   image floor records FILE COUNT   a BTF file of COUNT records of two float32 floor copy IN OUT
//   BYTES [THREADS]
//                              reads all of IN by pread and writes BYTES bytes by pwrite, in 1 MiB
//   floor headers FILE         reads the offset table and then every record header, by a pread each
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kBlock = 1U << 20;

struct Files {
  int in;
  int out;
};

struct Part {
  std::uint64_t begin;
  std::uint64_t end;
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

// A share of both files.
void copy_part(const Files& files, Part in, Part out) {
  std::vector<char> block(kBlock);
  while (in.begin < in.end || out.begin < out.end) {
    const std::uint64_t get = std::min(kBlock, in.end - in.begin);
    if (::pread(files.in, block.data(), get, static_cast<off_t>(in.begin)) < 0) fail("read");
    in.begin += get;
    const std::uint64_t put = std::min(kBlock, out.end - out.begin);
    if (::pwrite(files.out, block.data(), put, static_cast<off_t>(out.begin)) < 0) fail("write");
    out.begin += put;
  }
}

int copy(const char* in, const char* out, std::uint64_t bytes, std::uint64_t threads) {
  const Files files{::open(in, O_RDONLY), ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666)};
  if (files.in < 0 || files.out < 0) fail("open");
  const auto size = static_cast<std::uint64_t>(::lseek(files.in, 0, SEEK_END));
  const auto share = [threads](std::uint64_t whole, std::uint64_t i) {
    return Part{whole / threads * i, i + 1 == threads ? whole : whole / threads * (i + 1)};
  };
  {
    std::vector<std::jthread> others;
    for (std::uint64_t i = 1; i < threads; ++i)
      others.emplace_back(copy_part, files, share(size, i), share(bytes, i));
    copy_part(files, share(size, 0), share(bytes, 0));
  }
  if (::close(files.out) != 0) fail("close");
  return 0;
}

int make(const char* path, std::uint64_t images) {
  const std::array<std::uint64_t, 8> header{1, 16, 4, 4, images, 256, 56, 56};
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) fail("open");
  std::fwrite(header.data(), sizeof(header), 1, file);
  std::vector<float> image(256 * 56 * 56);
  std::uint32_t state = 1;
  for (std::uint64_t i = 0; i < images; ++i) {
    for (float& value : image) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<std::int32_t>(state)) / 1e9F;
    }
    std::fwrite(image.data(), sizeof(float), image.size(), file);
  }
  if (std::fclose(file) != 0) fail("write");
  return 0;
}

int records(const char* path, std::uint64_t count) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) fail("open");
  const auto put = [file](std::uint64_t word) { std::fwrite(&word, sizeof(word), 1, file); };
  constexpr std::uint64_t kRecord = 5 * 8;
  put(count);
  for (std::uint64_t i = 0; i < count; ++i) put(8 + 8 * count + kRecord * i);
  for (std::uint64_t i = 0; i < count; ++i)
    for (const std::uint64_t word :
         {std::uint64_t{2}, std::uint64_t{4}, std::uint64_t{1}, std::uint64_t{2}, i})
      put(word);
  if (std::fclose(file) != 0) fail("write");
  return 0;
}

int headers(const char* path) {
  const int file = ::open(path, O_RDONLY);
  std::uint64_t count = 0;
  if (file < 0 || ::pread(file, &count, sizeof(count), 0) != sizeof(count)) fail("read");
  std::vector<std::uint64_t> offsets(count);
  if (::pread(file, offsets.data(), count * 8, 8) != static_cast<ssize_t>(count * 8)) fail("read");
  std::uint64_t ranks = 0;
  for (const std::uint64_t offset : offsets) {
    std::array<std::uint64_t, 2> header;
    if (::pread(file, header.data(), sizeof(header), static_cast<off_t>(offset)) < 0) fail("read");
    ranks += header[0];
  }
  return ranks == 0 ? 2 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "make" && (argc == 3 || argc == 4))
    return make(argv[2], argc == 4 ? number(argv[3]) : 128);
  if (command == "records" && argc == 4) return records(argv[2], number(argv[3]));
  if (command == "copy" && (argc == 5 || argc == 6))
    return copy(argv[2], argv[3], number(argv[4]), argc == 6 ? number(argv[5]) : 1);
  if (command == "headers" && argc == 3) return headers(argv[2]);
  std::fputs("usage: floor make|records|copy|headers ... (see the source)\n", stderr);
  return 2;
}
