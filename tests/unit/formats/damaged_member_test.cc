// Zip members whose content is another than their crc says: noticed by whoever reads all of one, in
// whatever pieces, and by nobody who reads less.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/inspect.h"
#include "formats/io/byte_source.h"
#include "formats/zip_crc.h"
#include "formats/zip_writer.h"
#include "support/btf_bytes.h"
#include "support/random_bytes.h"
#include "support/scratch_dir.h"

using bytes::Bytes;

namespace {

// Bit by bit, as the crc is defined.
std::uint32_t plain_crc(std::span<const std::byte> data) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : data) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

// A member in the middle of a file of random bytes.
struct Placed {
  static constexpr std::uint64_t kBegin = 100;

  explicit Placed(std::size_t bytes) : file(btf::test::random_bytes(bytes + 150)) {
    member.size = member.packed = bytes;
    member.crc = plain_crc(std::span(file).subspan(kBegin, bytes));
  }

  std::uint64_t end() const { return kBegin + member.size; }
  btf::ZipPlace place() const { return {source, directory, member, kBegin}; }
  btf::Status read(const btf::CrcCheckedSource& checked, std::uint64_t begin,
                   std::uint64_t end) const {
    Bytes out(end - begin);
    const btf::Status status = checked.read_at(begin, out);
    if (status) CHECK(std::ranges::equal(out, std::span(file).subspan(begin, out.size())));
    return status;
  }

  Bytes file;
  btf::MemorySource source{file};
  btf::ZipDirectory directory;
  btf::ZipMember member;
};

struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::uint64_t number_at(const Bytes& file, std::uint64_t at, unsigned count) {
  std::uint64_t number = 0;
  for (unsigned i = count; i-- > 0;) number = number << 8 | std::to_integer<unsigned>(file[at + i]);
  return number;
}

struct Member {
  std::string name;
  Piece place;  // of its packed bytes
  bool deflated = false;
};

// By the directory of a file that is small and plain.
std::vector<Member> members_of(const Bytes& file) {
  std::vector<Member> members;
  std::uint64_t end = file.size() - 22;
  while (number_at(file, end, 4) != 0x06054b50) --end;
  std::uint64_t at = number_at(file, end + 16, 4);
  for (std::uint64_t left = number_at(file, end + 10, 2); left > 0; --left) {
    const std::uint64_t name = number_at(file, at + 28, 2);
    const std::uint64_t local = number_at(file, at + 42, 4);
    const auto* const text = reinterpret_cast<const char*>(file.data() + at + 46);
    const std::uint64_t begin =
        local + 30 + number_at(file, local + 26, 2) + number_at(file, local + 28, 2);
    members.push_back({std::string(text, name),
                       {begin, begin + number_at(file, at + 20, 4)},
                       number_at(file, at + 10, 2) == 8});
    at += 46 + name + number_at(file, at + 30, 2) + number_at(file, at + 32, 2);
  }
  return members;
}

btf::Result<btf::TensorFile> opened(const Bytes& file) {
  return btf::TensorFile::open(std::make_unique<btf::MemorySource>(file), "x");
}

// What reads all of every tensor.
btf::Status stats_of_all(const Bytes& bytes) {
  const auto file = opened(bytes);
  if (!file) return std::unexpected(file.error());
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto tensor = file->tensor(i);
    if (!tensor) return std::unexpected(tensor.error());
    const auto found = btf::stats(*file, *tensor, {});
    if (!found) return std::unexpected(found.error());
  }
  return {};
}

btf::Status convert_all(const Bytes& bytes, const std::string& output) {
  const auto file = opened(bytes);
  if (!file) return std::unexpected(file.error());
  const auto written = btf::convert(*file, output, {});
  return written ? btf::Status{} : std::unexpected(written.error());
}

btf::Status diff_all(const Bytes& actual, const Bytes& golden) {
  const auto left = opened(actual);
  if (!left) return std::unexpected(left.error());
  const auto right = opened(golden);
  if (!right) return std::unexpected(right.error());
  const auto same = btf::diff(*left, *right, {}, {});
  if (!same) return std::unexpected(same.error());
  CHECK(*same);
  return {};
}

}  // namespace

TEST_CASE("zip: crcs of contents, and of two as one") {
  const Bytes content = btf::test::random_bytes(3000);
  for (const std::size_t size : {0U, 1U, 15U, 16U, 255U, 256U, 1000U, 3000U}) {
    const std::span all = std::span(content).first(size);
    CHECK(btf::crc_of(all) == plain_crc(all));
    btf::CrcJoin join;
    for (const std::size_t second : {std::size_t{0}, size / 3, size / 3, size}) {
      const std::span front = all.first(size - second);
      const std::span back = all.last(second);
      CHECK(btf::crc_of(back, btf::crc_of(front)) == plain_crc(all));
      CHECK(join(btf::crc_of(front), btf::crc_of(back), second) == plain_crc(all));
    }
  }
}

TEST_CASE("zip: who reads the last of a member learns that it is damaged, and nobody before") {
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t most) { return random() % most; };
  for (int round = 0; round < 300; ++round) {
    Placed placed(1 + below(300));
    const bool damaged = round % 2 == 0;
    if (damaged)
      placed.file[Placed::kBegin + below(placed.member.size)] ^= std::byte{1} << below(8);
    const btf::CrcCheckedSource checked(placed.place());
    std::vector<bool> read(placed.member.size);
    const std::uint64_t longest = 1 + below(round % 3 == 0 ? placed.member.size : 9);
    for (int step = 0; step < 4000 && std::ranges::count(read, false) > 0; ++step) {
      const std::uint64_t begin = below(placed.member.size);
      const std::uint64_t end = std::min(begin + 1 + below(longest), placed.member.size);
      std::fill(read.begin() + static_cast<std::ptrdiff_t>(begin),
                read.begin() + static_cast<std::ptrdiff_t>(end), true);
      const bool all = std::ranges::count(read, false) == 0;
      const btf::Status status = placed.read(checked, Placed::kBegin + begin, Placed::kBegin + end);
      REQUIRE(status.has_value() == !(damaged && all));
      if (!status) CHECK(status.error().finding == "zip-crc");
    }
    if (!damaged) CHECK(placed.read(checked, Placed::kBegin, placed.end()));
    if (std::ranges::count(read, false) > 0) continue;
    for (const std::uint64_t at : {Placed::kBegin, placed.end() - 1})
      CHECK(placed.read(checked, at, at + 1).has_value() == !damaged);
  }
}

TEST_CASE("zip: what stands beside a member is read and not counted") {
  Placed placed(64);
  placed.file[120] ^= std::byte{4};
  const btf::CrcCheckedSource checked(placed.place());
  CHECK(placed.read(checked, 0, 100));
  CHECK(placed.read(checked, 90, 170));
  CHECK(placed.read(checked, 164, 200));
  CHECK(placed.read(checked, 101, 164));
  CHECK(placed.read(checked, 100, 100));
  const btf::Status last = checked.read_up_to(101);
  REQUIRE_FALSE(last);
  CHECK_FALSE(placed.read(checked, 100, 101));
}

TEST_CASE("zip: a member in more pieces than are kept is read once more, when it may be complete") {
  for (const bool damaged : {false, true}) {
    Placed placed(20000);
    if (damaged) placed.file[Placed::kBegin + 19999] ^= std::byte{128};
    const btf::CrcCheckedSource checked(placed.place());
    for (const unsigned turn : {0U, 1U})
      for (std::uint64_t at = turn; at < 20000 - 2; at += 2)
        REQUIRE(placed.read(checked, Placed::kBegin + at, Placed::kBegin + at + 1));
    CHECK(placed.read(checked, Placed::kBegin + 19998, placed.end()).has_value() == !damaged);
  }
  // Of a part of it nothing is said, however often that is read.
  Placed placed(20000);
  placed.file[Placed::kBegin] ^= std::byte{1};
  const btf::CrcCheckedSource checked(placed.place());
  for (std::uint64_t at = 1; at < 20000; at += 2)
    REQUIRE(placed.read(checked, Placed::kBegin + at, Placed::kBegin + at + 1));
}

TEST_CASE("zip: several threads read one member, and one of them learns of the damage") {
  for (const std::size_t threads : {1U, 2U, 7U})
    for (const bool damaged : {false, true}) {
      Placed placed(3U << 20);
      if (damaged) placed.file[Placed::kBegin + (1U << 20) + 5] ^= std::byte{2};
      const btf::CrcCheckedSource checked(placed.place());
      std::vector<Piece> pieces;
      constexpr std::uint64_t kPiece = 50000;
      for (std::uint64_t at = 0; at < placed.member.size; at += kPiece)  // with a seam in common
        pieces.push_back({at, std::min(at + kPiece + 16, placed.member.size)});
      std::atomic<std::size_t> next = 0;
      std::atomic<int> told = 0;
      const auto work = [&] {
        for (std::size_t i; (i = next++) < pieces.size();) {
          Bytes out(pieces[i].end - pieces[i].begin);
          if (!checked.read_at(Placed::kBegin + pieces[i].begin, out)) ++told;
        }
      };
      {
        std::vector<std::jthread> running;
        for (std::size_t i = 0; i < threads; ++i) running.emplace_back(work);
      }
      CHECK((told > 0) == damaged);
    }
}

TEST_CASE("a damaged byte of any member is noticed by whatever reads all elements") {
  const std::string folder = BTF_TESTDATA_DIR;
  const ScratchDir scratch;
  for (const std::string name : {"npz/arrays.mixed.npz", "torch/nested.bin", "torch/views.pt"}) {
    CAPTURE(name);
    const Bytes sound = read_file(folder + "/" + name);
    const std::string output = scratch / "output.btf";
    CHECK(stats_of_all(sound));
    CHECK(convert_all(sound, output));
    CHECK(diff_all(sound, sound));
    const Bytes old = read_file(output);
    std::size_t tried = 0;
    for (const auto& [member, place, deflated] : members_of(sound)) {
      const bool tensors = member.ends_with(".npy") || member.ends_with(".pkl") ||
                           member.ends_with("/byteorder") || member.contains("/data/");
      if (!tensors) continue;
      for (std::uint64_t at = place.begin; at < place.end; ++at) {
        Bytes damaged = sound;
        damaged[at] ^= std::byte{1} << at % 8;
        CAPTURE(member, at - place.begin);
        ++tried;
        // Deflated data may say the same in another way: a run of zeros copied from further back.
        const bool noticed = !stats_of_all(damaged);
        REQUIRE((noticed || deflated));
        if (!noticed) {
          CHECK(diff_all(damaged, sound));
          continue;
        }
        // These take all ways of reading in turn.
        if (at % 3 == 0) REQUIRE_FALSE(convert_all(damaged, output));
        if (at % 3 == 1) REQUIRE_FALSE(diff_all(damaged, sound));
        if (at % 3 == 2) REQUIRE_FALSE(diff_all(sound, damaged));
      }
    }
    CHECK(tried > 100);
    CHECK(read_file(output) == old);
  }
}
