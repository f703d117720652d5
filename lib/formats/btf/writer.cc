#include "formats/btf/writer.h"

#include <array>
#include <span>
#include <vector>

#include "btf/layout.h"
#include "btf/try.h"
#include "formats/btf/attributes.h"
#include "formats/btf/name_writer.h"
#include "formats/btf/wire.h"

namespace btf {
namespace {

using wire::kWord;

std::unexpected<Error> too_large() {
  return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
}

class BtfWriter final : public TensorWriter {
 public:
  Status announce(const RecordShape& record) override {
    const Checked bytes = round_up(
        checked_add(record.payload, wire::kRecordHeader + record.dims.size() * kWord), kWord);
    if (!bytes) return too_large();
    BTF_TRY(names_.add(record.named ? record.name : std::string()));
    records_.push_back(*bytes);
    return {};
  }

  void describe(const FileAttributes& attributes) override {
    names_.set_attributes(attributes_text(attributes));
  }

  Result<std::uint64_t> total_bytes() const override {
    Checked total = table_bytes();
    for (const std::uint64_t record : records_) total = checked_add(total, record);
    if (!total) return too_large();
    const Checked names = names_.bytes();
    if (!names)
      return fail(ErrorCode::unsupported, "the names of " + std::to_string(records_.size()) +
                                              " tensors are too long for one file");
    total = checked_add(total, names);
    if (!total) return too_large();
    return *total;
  }

  Status begin(ByteSink& sink) override {
    std::vector<std::byte> table(table_bytes());
    wire::store_u64(table.data(), records_.size());
    offset_ = table.size();
    std::uint64_t offset = offset_;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      wire::store_u64(table.data() + (i + 1) * kWord, offset);
      offset += records_[i];
    }
    BTF_TRY(sink.begin_piece(table.size()));
    return sink.write_at(0, table);
  }

  Result<std::uint64_t> begin_record(ByteSink& sink, const RecordShape& record) override {
    std::vector<std::byte> header(wire::kRecordHeader + record.dims.size() * kWord);
    wire::store_u64(header.data(), record.dims.size());
    header[wire::kDTypeAt] = std::byte{info(record.dtype).code()};
    header[wire::kLayoutAt] = std::byte{record.layout_code};
    for (std::size_t d = 0; d < record.dims.size(); ++d)
      wire::store_u64(header.data() + wire::kRecordHeader + d * kWord, record.dims[d]);
    BTF_TRY(sink.begin_piece(header.size()));
    BTF_TRY(sink.write_at(offset_, header));
    // The parts of a sparse payload are pieces of their own, as who writes them tells.
    if (find_layout(record.layout_code)->dense()) BTF_TRY(sink.begin_piece(record.payload));
    payload_end_ = offset_ + header.size() + record.payload;
    return offset_ + header.size();
  }

  Status end_record(ByteSink& sink) override {
    constexpr std::array<std::byte, kWord> kZeros{};
    offset_ += records_[written_++];
    if (offset_ == payload_end_) return {};
    return sink.write_at(payload_end_, std::span(kZeros).first(offset_ - payload_end_));
  }

  Status end(ByteSink& sink) override { return names_.write(sink, offset_); }

 private:
  std::uint64_t table_bytes() const { return (records_.size() + 1) * kWord; }

  std::vector<std::uint64_t> records_;  // bytes of each, with its padding
  std::size_t written_ = 0;             // of them
  NameWriter names_;
  std::uint64_t offset_ = 0;            // where the next one begins
  std::uint64_t payload_end_ = 0;
};

}  // namespace

Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits) {
  const Checked indices = checked_mul(nnz, rank * kWord);
  return checked_add(checked_add(indices, stream_bytes(nnz, bits)), 3 * kWord);
}

std::unique_ptr<TensorWriter> btf_writer() { return std::make_unique<BtfWriter>(); }

}  // namespace btf
