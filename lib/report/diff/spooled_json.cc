#include "report/diff/spooled_json.h"

#include <algorithm>
#include <string>

#include "btf/try.h"

namespace btf::report {
namespace {

constexpr std::uint64_t kInMemory = 4U << 20;

}  // namespace

void SpooledJson::settle() {
  if (document_.size() >= kInMemory && status_) status_ = keep();
}

Status SpooledJson::keep() {
  if (!kept_) {
    BTF_ASSIGN(kept_, Spool::create());
  }
  const std::string text = document_.take();
  return kept_->append(std::as_bytes(std::span(text)));
}

Status SpooledJson::write(const TextSink& sink) {
  BTF_TRY(status_);
  std::string piece;
  for (std::uint64_t at = 0; kept_ && at < kept_->size(); at += piece.size()) {
    piece.resize(std::min(kInMemory, kept_->size() - at));
    BTF_TRY(kept_->read_at(at, std::as_writable_bytes(std::span(piece))));
    BTF_TRY(sink(piece));
  }
  return sink(document_.take());
}

}  // namespace btf::report
