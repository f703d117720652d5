// Streams that do not end: of each no more is read than can be wanted, and what ends is read as a
// file is.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "btf/read.h"
#include "btf/tensor_spec.h"
#include "btf/validate.h"
#include "support/btf_bytes.h"
#include "support/said.h"
#include "support/scratch_dir.h"

namespace fs = std::filesystem;

using bytes::Bytes;

namespace {

constexpr std::uint64_t kSlack = 1U << 20;
constexpr std::uint64_t kPipe = 128U << 10;  // what a pipe holds, and a write in the middle

Bytes filled(std::uint64_t size, std::byte value) {
  Bytes all(size);
  for (std::byte& byte : all) byte = value;
  return all;
}

// Some bytes and then, if it is endless, more of the last of them, until nobody reads.
class Producer {
 public:
  Producer(Bytes start, bool endless) : start_(std::move(start)), endless_(endless) {
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    reader_ = ends[0];
    path_ = "/dev/fd/" + std::to_string(reader_);
    thread_ = std::thread([this, fd = ends[1]] {
      put(fd, start_);
      const Bytes more = filled(kPipe / 2, start_.empty() ? std::byte{} : start_.back());
      while (endless_ && put(fd, more)) continue;
      ::close(fd);
    });
  }
  ~Producer() { finish(); }

  const std::string& path() const { return path_; }

  // Bytes that were taken or are in the pipe.
  std::uint64_t finish() {
    if (thread_.joinable()) {
      ::close(reader_);
      thread_.join();
    }
    return written_;
  }

 private:
  bool put(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t done = ::write(fd, bytes.data(), bytes.size());
      if (done <= 0) return false;
      written_ += static_cast<std::uint64_t>(done);
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }

  Bytes start_;
  bool endless_;
  int reader_ = -1;
  std::string path_;
  std::atomic<std::uint64_t> written_ = 0;
  std::thread thread_;
};

// `wanted`: what may be read, but for the slack.
btf::Result<btf::TensorFile> open_endless(const Bytes& start, std::uint64_t wanted,
                                          const btf::OpenOptions& options = {}) {
  Producer producer(start, true);
  auto file = btf::TensorFile::open(producer.path(), options);
  CHECK(producer.finish() <= wanted + kSlack + kPipe);
  return file;
}

btf::OpenOptions told(const std::string& spec) {
  return {.spec = btf::parse_tensor_spec(spec).value()};
}

// What is called BTF is a bad one; of a stream, which has no name, other words are used.
bool alike(const std::vector<std::string>& stream, const std::vector<std::string>& file) {
  constexpr std::string_view kUnknown = "offset-table-too-long 0 ";
  const bool unknown = stream.size() == 1 && stream[0].starts_with(kUnknown);
  return unknown ? file.size() == 1 && file[0].starts_with(kUnknown) : stream == file;
}

// Two tensors: [3] of uint8 and `large` bytes.
Bytes two_tensors(std::uint64_t large) {
  using namespace bytes;
  return file(
      {dense(btf::DType::uint8, btf::Layout::linear, {3}, hex("01 02 03")),
       dense(btf::DType::uint8, btf::Layout::linear, {large}, filled(large, std::byte{5}))});
}

std::vector<std::string> findings(const std::string& path) {
  std::vector<std::string> all;
  const btf::Status status = btf::validate(path, [&](const btf::Finding& finding) {
    all.push_back(std::string(finding.code) + " " + std::to_string(finding.offset) + " " +
                  finding.message);
  });
  if (!status) all.push_back(said(status.error()));
  return all;
}

}  // namespace

TEST_CASE("pipe: endless raw bytes are more than their spec says") {
  const auto file = open_endless({}, 16, told("u8:16"));
  REQUIRE_FALSE(file);
  CHECK(file.error().finding == "raw-size");
  CHECK(said(file.error()) ==
        "uint8 [16] in kLINEAR takes 16 bytes, the file has more than 1048592");
  const auto large = open_endless({}, 3 * kSlack, told("u8:3145728"));
  REQUIRE_FALSE(large);
  CHECK(large.error().finding == "raw-size");
  const auto strided = open_endless({}, 4096, told("u8:4x16:strides=1024,1"));
  REQUIRE_FALSE(strided);
  CHECK(strided.error().finding == "raw-size");
}

TEST_CASE("pipe: an endless .npy file has more than its header says") {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (262144,), }";
  header.resize(117, ' ');
  Bytes start = bytes::hex("93 4e 55 4d 50 59 01 00 76 00");
  for (const char c : header + "\n") start.push_back(static_cast<std::byte>(c));
  const auto file = open_endless(start, start.size() + 262144 * 8);
  REQUIRE_FALSE(file);
  CHECK(file.error().finding == "bytes-after-data");
  CHECK(said(file.error()) ==
        "the shape needs 2097152 bytes of data, the file has more than 3145728");
}

TEST_CASE("pipe: the tensors of an endless BTF file can be used") {
  for (const std::uint64_t large : {std::uint64_t{8}, 3 * kSlack}) {
    const Bytes start = two_tensors(large);
    const auto file = open_endless(start, start.size());
    REQUIRE(file);
    CHECK(file->more_follows());
    CHECK(file->size() == start.size() + kSlack);
    REQUIRE(file->tensor_count() == 2);
    const btf::Dims last{large - 1};
    const auto element = btf::read_elements(*file, file->tensor(1).value(), std::span(&last, 1));
    REQUIRE(element);
    CHECK(element->front().code == 5);
    Producer producer(start, true);
    CHECK(findings(producer.path()) ==
          std::vector{"trailing-bytes " + std::to_string(start.size()) +
                      " more than 1048576 bytes after the last record"});
  }
}

TEST_CASE("pipe: as many trailing bytes as are taken are counted exactly") {
  const Bytes start = two_tensors(2 * kSlack);
  for (const std::uint64_t trailing : {std::uint64_t{0}, std::uint64_t{1}, kSlack - 1, kSlack}) {
    Bytes all = start;
    all = bytes::join({all, Bytes(trailing)});
    Producer producer(all, false);
    const auto file = btf::TensorFile::open(producer.path());
    REQUIRE(file);
    CHECK_FALSE(file->more_follows());
    CHECK(file->size() == all.size());
  }
}

TEST_CASE("pipe: what cannot be BTF is known soon") {
  for (const auto& [c, finding] :
       {std::pair('\0', "not-btf"), std::pair('y', ""), std::pair('\n', ""),
        std::pair('\xff', "offset-table-too-long")}) {
    const auto file = open_endless(filled(16, static_cast<std::byte>(c)), 8);
    REQUIRE_FALSE(file);
    CHECK(file.error().finding == finding);
    CHECK(file.error().message.contains("is text") == (*finding == '\0'));
  }
}

TEST_CASE("pipe: what there is no room for is not read") {
  using namespace bytes;
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  const Bytes whole = dense(btf::DType::uint8, btf::Layout::linear, {3}, hex("01 02 03"));
  const auto byte_of = [](const Words& dims) {
    return dense(btf::DType::uint8, btf::Layout::linear, dims, {});
  };
  const std::vector<Bytes> starts = {
      u64({std::uint64_t{1} << 46, 8}),                                    // an offset table
      join({u64({2, kHuge, 24}), whole}),                                  // a record
      join({u64({2, 24, 48}), byte_of({kHuge}), whole}),                   // its data
      join({u64({1, 16}), header(1, btf::DType::uint8, btf::Layout::coo),  // its entries
            u64({9, kHuge / 16, 1})}),
  };
  for (const Bytes& start : starts) {
    const auto file = open_endless(start, start.size());
    REQUIRE_FALSE(file);
    CHECK(file.error().code == btf::ErrorCode::no_space);
    // What ends is read as a file is.
    const ScratchDir dir;
    Producer producer(start, false);
    CHECK(alike(findings(producer.path()), findings(save(dir, "x.btf", start))));
  }
}

TEST_CASE("pipe: of a record of an unknown kind nothing is wanted, of those behind it all") {
  using namespace bytes;
  const Bytes data = filled(3 * kSlack, std::byte{5});
  const Bytes start = file({dense(77, btf::Layout::linear, {3}, hex("01 02 03")),
                            dense(btf::DType::uint8, btf::Layout::linear, {data.size()}, data)});
  const auto opened = open_endless(start, start.size());
  REQUIRE(opened);
  CHECK(opened->more_follows());
  CHECK_FALSE(opened->tensor(0)->known());
  CHECK(opened->tensor(1)->data_bytes == data.size());
}

TEST_CASE("pipe: every file of the test data has the same findings through one") {
  std::size_t files = 0;
  for (const std::string folder : {"good", "odd", "bad", "npy-bad"}) {
    for (const auto& entry : fs::directory_iterator(std::string(BTF_TESTDATA_DIR) + "/" + folder)) {
      const std::string path = entry.path().string();

      if (path.ends_with(".tsv")) continue;
      CAPTURE(path);
      ++files;
      Producer producer(read_file(path), false);
      CHECK(alike(findings(producer.path()), findings(path)));
    }
  }
  CHECK(files > 80);
}
