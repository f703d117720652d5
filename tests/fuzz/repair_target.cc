// Damaged BTF files, compressed or not: what repair() writes is well-formed, holds whole records of
// the input and no others, and there is nothing to repair in it. One byte of options comes first;
// if it is odd, what a compressed file is built from follows, else the file itself.
#include <algorithm>
#include <atomic>
#include <optional>

#include "btf/repair.h"
#include "packed_file.h"
#include "repair/repair.h"
#include "well_formed.h"

namespace fuzz {
namespace {

struct Repaired {
  btf::Result<btf::RepairSummary> summary;
  Bytes bytes;
  bool written = false;
  std::uint64_t lost = 0;
  std::uint64_t told = 0;  // tensors of which something was said
};

Repaired repaired(BytesView damaged, const btf::RepairOptions& options) {
  constexpr std::uint64_t kMax = 1U << 20;
  // Of a damaged compressed file of a few bytes any number of tensors can be lost.
  constexpr std::uint64_t kMaxTold = 1000;
  Repaired result;
  std::atomic<bool> enough = false;
  btf::RepairOptions asked = options;
  asked.execution.cancel = &enough;
  std::optional<std::uint64_t> last;
  const auto make =
      [&](const btf::SinkOptions& sink) -> btf::Result<std::unique_ptr<btf::ByteSink>> {
    if (sink.size > kMax) return btf::fail(btf::ErrorCode::no_space, "too large for a fuzzer");
    result.written = true;
    return std::make_unique<GrowingSink>(result.bytes, true);
  };
  const btf::RepairReport report{
      .file =
          [](const btf::Finding& finding) {
            require(!finding.code.empty() && !finding.message.empty(), "a finding says nothing");
          },
      .tensor =
          [&](const btf::RepairedTensor& tensor) {
            require(!tensor.finding.code.empty() && !tensor.finding.message.empty(),
                    "a finding says nothing");
            require(!last || *last < tensor.source, "tensors are told of out of order");
            last = tensor.source;
            if (!tensor.target) ++result.lost;
            if (++result.told == kMaxTold) enough = true;
          }};
  result.summary =
      btf::repair_into(std::make_unique<btf::MemorySource>(damaged), "input", make, asked, report);
  return result;
}

void check_counts(const Repaired& result) {
  const btf::RepairSummary& summary = *result.summary;
  require(result.lost == summary.lost(), "other tensors are lost than were told of");
  require(summary.saved <= summary.tensors && summary.in_doubt <= summary.saved &&
              summary.followed <= summary.saved && summary.lost_frames <= summary.frames,
          "the summary does not add up");
  require(result.written == (summary.bytes > 0) && summary.bytes == result.bytes.size(),
          "the summary tells another size than was written");
  require(result.written || summary.saved == 0, "what was saved is not written");
}

// The dims and elements of the output lie somewhere in the content of the input, whole; but for
// padding, and for the order of sparse entries, which become canonical.
void check_records(const btf::TensorFile& output, BytesView bytes, BytesView content) {
  for (std::uint64_t i = 0; i < std::min(output.tensor_count(), kTensors); ++i) {
    const auto record = output.tensor(i);
    if (!record) broken("a repaired record cannot be read: " + record.error().message);
    if (record->coo || record->layout != btf::Layout::linear || record->data_bytes == 0) continue;
    const bool half = btf::info(*record->dtype).bits < 8;
    const std::uint64_t begin = record->data_offset - 8 * record->dims.size();
    const BytesView stored = bytes.subspan(begin, record->end() - begin - half);
    require(std::ranges::search(content, stored).begin() != content.end(),
            "a record was saved that the input has not");
  }
}

void check(const Repaired& result, const btf::RepairOptions& options) {
  const auto output = open(result.bytes);
  const Findings found = findings(output);
  require(!found.trouble && found.errors == 0 && found.warnings == found.bool_bytes,
          "what repair() wrote is not well-formed: " + found.text);
  require(output->tensor_count() == result.summary->saved, "not what was saved was written");
  const Repaired again = repaired(result.bytes, options);
  if (!again.summary) broken("what was repaired cannot be: " + again.summary.error().message);
  require(again.told == 0 && again.summary->saved == result.summary->saved,
          "in what was repaired is something to repair");
  require(again.bytes == result.bytes, "what was repaired is repaired to another");
}

}  // namespace
}  // namespace fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fuzz;
  Input input(view(data, size));
  const std::uint64_t how = input.byte();
  const bool build = (how & 1) != 0;
  btf::RepairOptions options{.strict = (how & 2) != 0,
                             .unchecked = (how & 4) != 0,
                             .duplicates = static_cast<btf::Duplicates>((how >> 3) & 3),
                             .execution = alone()};
  const Bytes made = build ? packed_file(input) : Bytes{};
  const BytesView damaged = build ? BytesView(made) : input.rest();
  const Repaired result = repaired(damaged, options);
  if (!result.summary) {
    require(!result.summary.error().message.empty(), "an error says nothing");
    return 0;
  }
  check_counts(result);
  if (!result.written) return 0;
  check(result, options);
  // Of a damaged compressed file nobody else knows the content.
  const auto plain = content(damaged);
  if (plain) check_records(*open(result.bytes), result.bytes, *plain);
  if ((how & 0xE0) != 0xE0) return 0;
  options.compression = btf::kMinCompression;
  const Repaired packed = repaired(damaged, options);
  if (!packed.summary) broken("it cannot be compressed: " + packed.summary.error().message);
  const auto unpacked = content(packed.bytes);
  require(unpacked && *unpacked == result.bytes, "compressed it has other content");
  return 0;
}
