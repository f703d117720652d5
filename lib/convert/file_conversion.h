// One output made of tensors of a set: first everything is decided and measured, then the output is
// created and written. Scales, attributes and limits of losses on the way.
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
#include "convert/convert_file.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scales.h"
#include "convert/tensor/target.h"
#include "formats/format.h"
#include "sets/pairs/pairs.h"

namespace btf {

// Tensors of a file that are scales and zero points of others there, as it says or as their names
// do (docs/convert.md, section 3). An error: what it says cannot be read.
Result<std::set<std::uint64_t>> scale_tensors(const TensorFile& file);

// Scales and zero points that are files of their own in a set: a.npy, a_scale.npy (docs/convert.md,
// section 3).
class SetScales {
 public:
  // By the names of members; codes are opened where there is a scale of that name.
  static SetScales of(const TensorSet& set);

  bool empty() const { return scales_.empty(); }
  // Does the member hold scales or zero points of another, so that it is nothing by itself?
  bool is_companion(std::uint64_t member) const { return companions_.contains(member); }
  // Does every member of the pair, so that there is nothing to compare?
  static bool only_scales(const MemberPair& pair, const SetScales& actual, const SetScales& golden);

  // Those of the member's only tensor; nothing: it has none in the set.
  Result<std::optional<GivenScale>> given(const TensorSet& set, std::uint64_t member,
                                          const Execution& execution) const;

 private:
  std::map<std::uint64_t, QuantizedBy> scales_;  // by the member of the codes: members, not tensors
  std::map<std::uint64_t, std::uint64_t> rivals_;  // likewise: another of as good a name
  std::set<std::uint64_t> companions_;
};

// One output out of tensors of a set: first everything is decided and measured, then the output is
// created and written.

// One output out of tensors of a set: first everything is decided and measured, then the output is
// created and written.

// Attributes of the file; none if they are not well-formed, which does not hinder the use of its
// tensors by their numbers. An error: they cannot be read.
Result<FileAttributes> usable_attributes(const TensorFile& file);

class FileConversion {
 public:
  // `tensors` are numbers of the set. The options are complete, see complete_options().
  // `set_scales` outlives it.
  FileConversion(const TensorSet& input, std::vector<std::uint64_t> tensors,
                 const SetScales& set_scales, ConvertOptions options,
                 std::unique_ptr<TensorWriter> writer);

  // The size of every record, so that nothing is written that cannot be finished.
  Status measure();
  // After that: those of the options' new names that a tensor had the old name for.
  const std::set<std::string>& renamed() const { return renamed_; }
  // Likewise: tensors that were used up as scales and zero points.
  std::vector<SetTensor> consumed() const;
  // Likewise. The size of the output in bytes.
  Result<std::uint64_t> write_to(const MakeSink& make_sink, const TensorReportSink& report);

 private:
  // A tensor of the input that becomes one record, or several when scales are written.
  struct Work {
    std::uint64_t number = 0;  // in the set
    SetTensor place;
    std::string name;
    bool named = false;     // a file that need not name it does
    EntryCounts entries{};  // sparse targets
    bool scaled = false;    // by the file's reader
    // Only where something is scaled; to find the scales the tensor was read.
    std::unique_ptr<QuantizePlan> quantization;
  };

  // A record of the output, in the order of announcement to the writer.
  struct Record {
    std::size_t work = 0;
    const ScaleRecord* scales = nullptr;  // of its plan; else it is the tensor's own
  };

  Result<TensorInfo> record_of(const TensorFile& file, Work& work) const;
  bool is_no_codes(const TensorInfo& record, const SetTensor& place) const;
  const ConvertOptions& options_of(const Work& work) const;
  Status name(const TensorInfo& record, Work& work);
  Status read_attributes();
  void describe_tensors();
  Result<RecordShape> shape_of(const Work& work, const ConvertTarget& target) const;
  Status measure_tensor(const TensorFile& file, const TensorInfo& record, Work& work);
  // A record that the recipient, if there is one, does not take is refused.
  Status announce(const RecordShape& shape);
  Status write(ByteSink& sink, const TensorReportSink& report);
  Status write_record(std::size_t number, ByteSink& sink, const TensorReportSink& report);
  Status write_parts(const TensorFile& file, const TensorInfo& tensor, std::size_t number,
                     ByteSink& sink, const TensorReportSink& report);
  Result<Losses> write_data(const Work& work, const TensorConversion& conversion,
                            const ByteSource* block_scales, const RecordShape& shape,
                            ByteSink& sink);
  Status write_scales(const TensorConversion& conversion, const QuantizePlan& plan,
                      const ScaleRecord& scales, const RecordShape& data, ByteSink& sink);
  TensorReport describe(const Work& work, const TensorInfo& record, const ConvertTarget& target,
                        const RecordShape& shape) const;

  const TensorSet& input_;
  std::vector<std::uint64_t> tensors_;
  const SetScales& set_scales_;
  ConvertOptions options_;
  ConvertOptions unscaled_;  // without what is about scales
  std::vector<Work> work_;
  std::vector<Record> records_;
  std::vector<std::uint64_t> places_;  // of the records in the output
  std::unique_ptr<TensorWriter> writer_;
  std::map<std::uint64_t, FileAttributes> attributes_;  // by member
  std::map<std::uint64_t, ScaleLinks> links_;           // by member, where scales are to be found
  std::set<std::uint64_t> unlinked_;                    // records of the output
  std::set<std::string> renamed_;
  bool shuffled_ = false;  // one of the records at least
};

}  // namespace btf
