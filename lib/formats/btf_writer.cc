#include "formats/btf_writer.h"

#include <array>
#include <vector>

#include "core/try.h"
#include "formats/btf_wire.h"

namespace btf {

using wire::kWord;

Checked record_bytes(std::size_t rank, Checked payload_bytes) {
  return round_up(checked_add(payload_bytes, wire::kRecordHeader + rank * kWord), kWord);
}

Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits) {
  const Checked indices = checked_mul(nnz, rank * kWord);
  return checked_add(checked_add(indices, stream_bytes(nnz, bits)), 3 * kWord);
}

Status write_offset_table(ByteSink& sink, std::span<const std::uint64_t> records) {
  std::vector<std::byte> table((records.size() + 1) * kWord);
  wire::store_u64(table.data(), records.size());
  std::uint64_t offset = table.size();
  for (std::size_t i = 0; i < records.size(); ++i) {
    wire::store_u64(table.data() + (i + 1) * kWord, offset);
    offset += records[i];
  }
  return sink.write_at(0, table);
}

Result<std::uint64_t> write_record_header(ByteSink& sink, std::uint64_t offset,
                                          const RecordShape& record) {
  std::vector<std::byte> header(wire::kRecordHeader + record.dims.size() * kWord);
  wire::store_u64(header.data(), record.dims.size());
  header[wire::kDTypeAt] = std::byte{record.dtype_code};
  header[wire::kLayoutAt] = std::byte{record.layout_code};
  for (std::size_t d = 0; d < record.dims.size(); ++d)
    wire::store_u64(header.data() + wire::kRecordHeader + d * kWord, record.dims[d]);
  BTF_TRY(sink.write_at(offset, header));
  return offset + header.size();
}

Status write_padding(ByteSink& sink, std::uint64_t offset) {
  constexpr std::array<std::byte, kWord> kZeros{};
  const std::uint64_t over = offset % kWord;
  if (over == 0) return {};
  return sink.write_at(offset, std::span(kZeros).first(kWord - over));
}

}  // namespace btf
