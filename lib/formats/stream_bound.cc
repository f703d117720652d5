#include "formats/stream_bound.h"

#include <string>

#include "btf/file.h"
#include "btf/try.h"
#include "core/errors.h"
#include "formats/format_table.h"
#include "formats/io/output.h"

namespace btf {

Result<BoundedSpool> BoundedSpool::create(std::optional<std::uint64_t> expected) {
  return BoundedSpool(Spool::in_memory(), expected, Spool::room());
}

Status BoundedSpool::append(std::span<const std::byte> bytes) {
  if (bytes.size() > room_ - spool_.size())
    return fail(ErrorCode::no_space, "a stream takes more than the ", room_,
                " bytes of temporary space in ", temporary_directory());
  return spool_.append(bytes);
}

Result<std::uint64_t> BoundedSpool::most() {
  if (spool_.size() < most_) return most_;
  BTF_ASSIGN(most_, bound_.most(spool_));
  return most_;
}

Status BoundedSpool::check_room() const {
  if (bound_.beyond_room() == 0) return {};
  return fail(ErrorCode::no_space, "its tensors need ", bound_.beyond_room(),
              " bytes of temporary space, at most ", room_, " are available in ",
              temporary_directory());
}

namespace {

// The number of first bytes that FormatRow::begins can rely on.
constexpr std::uint64_t kBeginning = 64;

class SpoolView final : public ByteSource {
 public:
  explicit SpoolView(const Spool& spool) : spool_(spool) {}
  std::uint64_t size() const override { return spool_.size(); }
  Status check_unchanged() const override { return {}; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size())) return fail(ErrorCode::malformed, "past the end");
    return spool_.read_at(offset, out);
  }

 private:
  const Spool& spool_;
};

}  // namespace

ContentBound::ContentBound(std::optional<std::uint64_t> expected, std::uint64_t room)
    : extent_(room), known_(expected.has_value()) {
  if (expected == kUnlimited)
    extent_.allow(kUnlimited);
  else if (expected)
    extent_.need(*expected);
}

Status ContentBound::begin(const ByteSource& content) {
  known_ = true;
  const OpenOptions nothing_said;
  for (const FormatRow& row : formats()) {
    const auto begins =
        row.begins != nullptr ? row.begins(content) : row.recognizes(content, {"-", nothing_said});
    // Errors in it are reported by the reader.
    if (!begins && begins.error().finding.empty()) return std::unexpected(begins.error());
    if (!begins || !*begins) continue;
    if (row.bound == nullptr)
      extent_.allow(kUnlimited);
    else
      bound_ = row.bound();
    return {};
  }
  foreign_ = true;
  return {};
}

Status ContentBound::take(const ByteSource& content) {
  return bound_ ? bound_->take(content, extent_) : Status();
}

Result<std::uint64_t> ContentBound::most(const Spool& content) {
  const SpoolView source(content);
  if (!known_ && content.size() >= kBeginning) BTF_TRY(begin(source));
  BTF_TRY(take(source));
  return extent_.most();
}

Result<std::uint64_t> ContentBound::least(const Spool& content, std::uint64_t frames) {
  const SpoolView source(content);
  if (!known_) BTF_TRY(begin(source));
  BTF_TRY(take(source));
  return bound_ ? bound_->least(extent_, source, frames) : 0;
}

}  // namespace btf
