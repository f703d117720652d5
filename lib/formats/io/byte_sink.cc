#include "formats/io/byte_sink.h"

#include <fcntl.h>

#include <mutex>
#include <vector>

#include "btf/try.h"
#include "formats/io/output_place.h"
#include "formats/io/replacing_sink.h"
#include "formats/io/system.h"
#include "formats/io/text_sink.h"

namespace btf {
namespace {

std::unexpected<Error> named(const std::string& file, const std::unexpected<Error>& error) {
  return std::unexpected(error.error().in_file(file));
}

class StreamSink final : public ByteSink {
 public:
  StreamSink(std::string name, Descriptor fd) : name_(std::move(name)), fd_(std::move(fd)) {}

  bool random_access() const override { return false; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (offset != position_)
      return named(
          name_, fail(ErrorCode::unsupported, "the output cannot seek and byte " +
                                                  std::to_string(offset) + " is not the next one"));
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return named(name_, system_failure("write"));
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      position_ += static_cast<std::uint64_t>(put);
    }
    return {};
  }

  Status commit() override {
    if (!fd_.close()) return named(name_, system_failure("close"));
    return {};
  }

 private:
  std::string name_;
  Descriptor fd_;
  std::uint64_t position_ = 0;
};

class GatheringSink final : public ByteSink {
 public:
  explicit GatheringSink(ByteSink& sink) : sink_(sink) { bytes_.reserve(kMost); }

  bool random_access() const override { return sink_.random_access(); }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    // Large writes of several threads must not wait for one another.
    const bool large = bytes.size() >= kLarge;
    if (large && random_access()) return sink_.write_at(offset, bytes);
    const std::scoped_lock lock(mutex_);
    if (large || offset != begin_ + bytes_.size() || bytes_.size() + bytes.size() > kMost) {
      BTF_TRY(flush());
      begin_ = offset;
    }
    if (large) {
      begin_ = offset + bytes.size();
      return sink_.write_at(offset, bytes);
    }
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Status commit() override { return flush(); }

 private:
  static constexpr std::size_t kLarge = 64U << 10;
  static constexpr std::size_t kMost = 256U << 10;

  Status flush() {
    if (bytes_.empty()) return {};
    const Status status = sink_.write_at(begin_, bytes_);
    begin_ += bytes_.size();
    bytes_.clear();
    return status;
  }

  ByteSink& sink_;
  std::mutex mutex_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> bytes_;
};

Result<std::unique_ptr<ByteSink>> stream_sink(const std::string& name, Descriptor fd,
                                              bool text) {
  if (!fd.open()) return system_failure("open for writing");
  if (!text && ::isatty(fd.get()) != 0)
    return fail(ErrorCode::invalid_argument, "is a terminal; binary data is not written to one");
  return std::make_unique<StreamSink>(name, std::move(fd));
}

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& path, const SinkOptions& options,
                                            bool text) {
  BTF_ASSIGN(const OutputPlace place, find_output(path));
  const std::string name = output_name(path);
  if (place.descriptor)
    return stream_sink(name, Descriptor(::fcntl(*place.descriptor, F_DUPFD_CLOEXEC, 0)), text);
  if (place.in_place)
    return stream_sink(
        name, Descriptor(::open(place.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)), text);
  return replacing_sink(name, place, options);
}

Result<std::unique_ptr<ByteSink>> named_sink(const std::string& path, const SinkOptions& options,
                                             bool text) {
  auto sink = open_sink(path, options, text);
  if (!sink) return named(output_name(path), std::unexpected(sink.error()));
  return sink;
}

}  // namespace

Result<std::unique_ptr<ByteSink>> create_sink(const std::string& path, const SinkOptions& options) {
  return named_sink(path, options, false);
}

Result<std::unique_ptr<ByteSink>> create_text_sink(const std::string& path, std::uint64_t size) {
  return named_sink(path, {.size = size}, true);
}

std::unique_ptr<ByteSink> gather_small_writes(ByteSink& sink) {
  return std::make_unique<GatheringSink>(sink);
}

}  // namespace btf
