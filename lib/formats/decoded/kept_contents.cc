#include "formats/decoded/kept_contents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "btf/try.h"
#include "core/checked_math.h"
#include "formats/io/system.h"

namespace btf {
namespace {

class KeptSource final : public ByteSource {
 public:
  KeptSource(KeptContents& contents, std::uint64_t key, std::uint64_t size, const ByteSource& from,
             KeptContents::Make make)
      : contents_(contents), key_(key), size_(size), from_(from), make_(std::move(make)) {}

  std::uint64_t size() const override { return size_; }
  Status check_unchanged() const override { return from_.check_unchanged(); }

  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!fits(offset, out.size(), size()))
      return fail(ErrorCode::malformed, "reading past the end of what was unpacked");
    BTF_ASSIGN(const auto content, contents_.of(key_, make_));
    return content->read_at(offset, out);
  }

 private:
  KeptContents& contents_;
  std::uint64_t key_;
  std::uint64_t size_;
  const ByteSource& from_;
  KeptContents::Make make_;
};

}  // namespace

std::unique_ptr<ByteSource> KeptContents::source(std::uint64_t key, std::uint64_t size,
                                                 const ByteSource& from, Make make) {
  return std::make_unique<KeptSource>(*this, key, size, from, std::move(make));
}

Result<std::shared_ptr<const Spool>> KeptContents::of(std::uint64_t key, const Make& make) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(kept_, key, &Kept::key);
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().content;
  }
  // Room is made first: what is not wanted any more must not keep it from others.
  if (kept_.size() == kKept) kept_.erase(kept_.begin());
  BTF_ASSIGN(Spool content, make());
  kept_.push_back({key, std::make_shared<const Spool>(std::move(content))});
  return kept_.back().content;
}

Status check_room_for(std::uint64_t bytes) {
  const std::uint64_t room = Spool::room();
  if (bytes <= room) return {};
  return fail(ErrorCode::no_space,
              "its content takes " + std::to_string(bytes) + " bytes of temporary space, at most " +
                  std::to_string(room) + " are available in " + temporary_directory());
}

}  // namespace btf
