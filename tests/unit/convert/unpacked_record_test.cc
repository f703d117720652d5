// Records that are unpacked before their elements are put in another order.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "convert/tensor/target.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"

using btf::DType;
using btf::Layout;
using bytes::Bytes;
using bytes::Words;

namespace {

// A file that says it is made of frames, and notes how often each byte is read.
class FramedSource final : public btf::ByteSource {
 public:
  explicit FramedSource(Bytes content) : content_(std::move(content)), reads_(content_.size()) {}

  std::uint64_t size() const override { return content_.size(); }
  btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    REQUIRE(offset + out.size() <= content_.size());
    std::memcpy(out.data(), content_.data() + offset, out.size());
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t i = 0; i < out.size(); ++i) ++reads_[offset + i];
    return {};
  }
  std::uint64_t frame_count() const override { return 9; }
  btf::Status check_unchanged() const override { return {}; }

  const std::vector<unsigned char>& reads() const { return reads_; }

 private:
  Bytes content_;
  mutable std::mutex mutex_;
  mutable std::vector<unsigned char> reads_;
};

// dims and order of three; row-major in, row-major out.
Bytes permuted(const Bytes& data, const Words& dims, const std::array<std::uint32_t, 3>& order,
               std::uint64_t width) {
  Bytes result(data.size());
  std::array<std::uint64_t, 3> index{};
  std::uint64_t at = 0;
  for (index[order[0]] = 0; index[order[0]] < dims[order[0]]; ++index[order[0]])
    for (index[order[1]] = 0; index[order[1]] < dims[order[1]]; ++index[order[1]])
      for (index[order[2]] = 0; index[order[2]] < dims[order[2]]; ++index[order[2]], ++at) {
        const std::uint64_t from = (index[0] * dims[1] + index[1]) * dims[2] + index[2];
        std::memcpy(result.data() + at * width, data.data() + from * width, width);
      }
  return result;
}

btf::ConvertOptions permute(const std::array<std::uint32_t, 3>& order) {
  btf::ConvertOptions options;
  options.edits.push_back(btf::Edit{btf::Permute{{order.begin(), order.end()}}});
  return options;
}

}  // namespace

TEST_CASE("unpacked record: what boxes would read in pieces is read once and is the same") {
  const Words dims{3, 1500, 700};
  const ScratchDir scratch;
  for (const DType dtype : {DType::float32, DType::int8, DType::int4}) {
    const unsigned bits = btf::info(dtype).bits;
    const Bytes data = random_bytes(Words::value_type{3} * 1500 * 700 * bits / 8, 1);
    const Bytes whole = bytes::file({bytes::dense(dtype, Layout::linear, dims, data)});
    const auto file = bytes::open(bytes::save(scratch, "f.btf", whole));
    const btf::TensorInfo record = file.tensor(0).value();
    for (const unsigned jobs : {1U, 3U}) {
      for (const std::array<std::uint32_t, 3> order : {std::array{2U, 1U, 0U}, {0U, 1U, 2U}}) {
        btf::ConvertOptions options = permute(order);
        options.execution.jobs = jobs;
        const btf::ConvertTarget target = btf::choose_target(record, options).value();
        const FramedSource source(whole);
        const auto made = btf::UnpackedRecord::make({source, record, target, options}, false);
        REQUIRE(made);
        const bool pieces = order[0] == 2 && dtype == DType::float32;
        REQUIRE(made->has_value() == pieces);
        if (!pieces) continue;
        std::uint64_t others = 0;
        for (std::uint64_t i = 0; i < whole.size(); ++i)
          others += source.reads()[i] != (i >= record.data_offset && i < record.end() ? 1 : 0);
        CHECK(others == 0);
        Bytes unpacked((*made)->source().size());
        REQUIRE((*made)->source().read_at(0, unpacked));
        CHECK(unpacked == data);
      }
    }
  }
}

TEST_CASE("unpacked record: conversions are the same with and without room for it") {
  const Words dims{5, 1100, 601};
  const ScratchDir scratch;
  const Bytes data = random_bytes(Words::value_type{5} * 1100 * 601 * 4, 2);
  const Bytes whole = bytes::file({bytes::dense(DType::float32, Layout::linear, dims, data)});
  const auto plain = bytes::open(bytes::save(scratch, "plain.btf", whole));
  const std::array<std::uint32_t, 3> order{2, 1, 0};
  const Bytes expected = bytes::file({bytes::dense(DType::float32, Layout::linear, {601, 1100, 5},
                                                   permuted(data, dims, order, 4))});
  for (const bool shuffle : {false, true}) {
    for (const bool compress : {false, true}) {
      btf::ConvertOptions pack;
      pack.shuffle = shuffle;
      if (compress) pack.compression = 1;
      const std::string packed = scratch / "packed.btf";
      REQUIRE(btf::convert(plain, packed, pack));
      const auto file = bytes::open(packed);
      for (const bool room : {true, false}) {
        const char* const before = std::getenv("TMPDIR");
        const std::string kept = before != nullptr ? before : "";
        ::setenv("TMPDIR", room ? (scratch / "").c_str() : (scratch / "no/such").c_str(), 1);
        for (const unsigned jobs : {1U, 2U}) {
          for (const std::uint64_t memory : {1U << 20, 32U << 20}) {
            CAPTURE(shuffle, compress, room, jobs, memory);
            btf::ConvertOptions options = permute(order);
            options.layout = Layout::linear;
            options.execution.jobs = jobs;
            options.execution.memory = memory;
            REQUIRE(btf::convert(file, scratch / "out.btf", options));
            CHECK((read_file(scratch / "out.btf") == expected));
          }
        }
        before != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
      }
    }
  }
}
