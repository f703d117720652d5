// Makes one output of tensors of a set: everything is decided and measured first, then the output
// is created and written. Handles scales, attributes and limits of losses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "btf/attributes.h"
#include "btf/convert.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "convert/convert_set.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scales.h"
#include "convert/tensor/target.h"
#include "formats/format.h"
#include "sets/pairs/pairs.h"

namespace btf {

// The tensors of a file that are scales and zero points of others, according to the file's links or
// to their names (docs/convert.md, section 3). An error if the links cannot be read.
Result<std::set<std::uint64_t>> scale_tensors(const TensorFile& file);

// Scales and zero points that are files of their own in a set: a.npy, a_scale.npy (docs/convert.md,
// section 3).
class SetScales {
 public:
  // Matches names of members; the file of the codes is opened if there are scales named after it.
  static SetScales of(const TensorSet& set);

  bool empty() const { return scales_.empty(); }
  // Returns true if the member only holds scales or zero points of another one.
  bool is_companion(std::uint64_t member) const { return companions_.contains(member); }
  // Returns true if every member of the pair only holds scales, so that there is nothing to
  // compare.
  static bool only_scales(const MemberPair& pair, const SetScales& actual, const SetScales& golden);

  // The scales and zero points of the member's only tensor; unset if the set has none for it.
  Result<std::optional<GivenScale>> given(const TensorSet& set, std::uint64_t member,
                                          const Execution& execution) const;

 private:
  // By the member of the codes; they refer to members instead of tensors.
  std::map<std::uint64_t, QuantizedBy> scales_;
  // By the member of the codes: another member whose name matches equally well.
  std::map<std::uint64_t, std::uint64_t> rivals_;
  std::set<std::uint64_t> companions_;
};

// The file's attributes. If they are malformed, the result is empty, since the tensors can still be
// used by their numbers. An error if they cannot be read.
Result<FileAttributes> usable_attributes(const TensorFile& file);

class FileConversion {
 public:
  // `tensors` are numbers in the set. The options must have been completed by complete().
  // `set_scales` must outlive this object.
  FileConversion(const TensorSet& input, std::vector<std::uint64_t> tensors,
                 const SetScales& set_scales, ConvertOptions options,
                 std::unique_ptr<TensorWriter> writer);

  // Determines the size of every record before anything is written. The functions below require it.
  Status measure();
  // The old names in ConvertOptions::rename that a tensor had.
  const std::set<std::string>& renamed() const { return renamed_; }
  // The tensors that were used as scales and zero points.
  std::vector<SetTensor> consumed() const;
  // Returns the size of the output in bytes.
  Result<std::uint64_t> write_to(const MakeSink& make_sink, const TensorReportSink& report);

 private:
  // A tensor of the input that becomes one record, or several if scales are written.
  struct PlannedTensor {
    std::uint64_t number = 0;  // in the set
    SetTensor place;
    std::string name;
    bool named = false;     // the record stores the name
    EntryCounts entries{};  // for sparse targets
    // Nothing is left to scale: the file's reader returns numbers, or the tensor is no codes.
    bool scaled = false;
    // Set only if something is scaled. Finding the scales can mean reading the tensor.
    std::unique_ptr<QuantizePlan> quantization;
  };

  // A record of the output, in the order in which they are announced to the writer.
  struct Record {
    std::size_t work = 0;
    const ScaleRecord* scales = nullptr;  // in the tensor's plan; nullptr for the tensor itself
  };

  Result<TensorInfo> record_of(const TensorFile& file, PlannedTensor& work) const;
  bool is_not_codes(const TensorInfo& record, const SetTensor& place) const;
  const ConvertOptions& options_of(const PlannedTensor& work) const;
  Status name(const TensorInfo& record, PlannedTensor& work);
  Status read_attributes();
  void describe_tensors();
  Result<RecordShape> shape_of(const PlannedTensor& work, const ConvertTarget& target) const;
  Status measure_tensor(const TensorFile& file, const TensorInfo& record, PlannedTensor& work);
  // Announces a record to the writer. Refuses one that the recipient, if any, cannot read.
  Status announce(const RecordShape& shape);
  Status write(ByteSink& sink, const TensorReportSink& report);
  Status write_record(std::size_t number, ByteSink& sink, const TensorReportSink& report);
  Status write_parts(const TensorFile& file, const TensorInfo& tensor, std::size_t number,
                     ByteSink& sink, const TensorReportSink& report);
  Result<Losses> write_data(const PlannedTensor& work, const TensorConversion& conversion,
                            const ByteSource* block_scales, const RecordShape& shape,
                            ByteSink& sink);
  Status write_scales(const TensorConversion& conversion, const QuantizePlan& plan,
                      const ScaleRecord& scales, const RecordShape& data, ByteSink& sink);
  TensorReport describe(const PlannedTensor& work, const TensorInfo& record,
                        const ConvertTarget& target, const RecordShape& shape) const;

  const TensorSet& input_;
  std::vector<std::uint64_t> tensors_;
  const SetScales& set_scales_;
  ConvertOptions options_;
  ConvertOptions unscaled_;  // options_ without quantization
  std::vector<PlannedTensor> work_;
  std::vector<Record> records_;
  std::vector<std::uint64_t> places_;  // offsets of the records in the output
  std::unique_ptr<TensorWriter> writer_;
  std::map<std::uint64_t, FileAttributes> attributes_;  // by member
  std::map<std::uint64_t, ScaleLinks> links_;           // by member, if scales are looked for
  std::set<std::uint64_t> unlinked_;  // numbers of output records whose link was dropped
  std::set<std::string> renamed_;
  bool shuffled_ = false;  // at least one record is shuffled
};

}  // namespace btf
