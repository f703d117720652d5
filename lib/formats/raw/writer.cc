#include "btf/try.h"
#include "formats/io/compressed_name.h"
#include "formats/raw/raw.h"

namespace btf {
namespace {

class RawWriter final : public TensorWriter {
 public:
  explicit RawWriter(const WriteRequest& request)
      : name_(request.spec == nullptr ? parse_dump_name(content_name(request.path))
                                      : std::nullopt) {}

  Status announce(const RecordShape& record) override {
    if (bytes_)
      return fail(ErrorCode::unsupported,
                  "raw bytes hold one tensor, the result has more: select one");
    const LayoutSpec* layout = find_layout(record.layout_code);
    if (layout == nullptr || !layout->dense())
      return fail(ErrorCode::unsupported,
                  "raw bytes hold no COO; a layout such as kLINEAR is needed");
    if (name_ && (name_->dtype != record.dtype || name_->dims != record.dims))
      return fail(ErrorCode::refused,
                  "the name of the output says " + std::string(info(name_->dtype).name) + " " +
                      dims_text(name_->dims) + ", the result is " +
                      std::string(info(record.dtype).name) + " " + dims_text(record.dims));
    bytes_ = record.payload;
    return {};
  }

  Result<std::uint64_t> total_bytes() const override {
    if (!bytes_) return fail(ErrorCode::unsupported, "raw bytes hold one tensor, there is none");
    return *bytes_;
  }

  Status begin(ByteSink&) override { return {}; }
  Result<std::uint64_t> begin_record(ByteSink&, const RecordShape&) override { return 0; }
  Status end_record(ByteSink&) override { return {}; }

 private:
  std::optional<DumpName> name_;
  std::optional<std::uint64_t> bytes_;
};

}  // namespace

std::unique_ptr<TensorWriter> raw_writer(const WriteRequest& request) {
  return std::make_unique<RawWriter>(request);
}

}  // namespace btf
