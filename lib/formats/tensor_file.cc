// Opening a file: its bytes, its format, and its tensors, possibly as an entry of a manifest
// describes them.
#include "formats/tensor_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "btf/did_you_mean.h"
#include "btf/file.h"
#include "btf/output.h"
#include "btf/try.h"
#include "core/finding_table.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/btf_reader.h"
#include "formats/format.h"
#include "formats/format_table.h"
#include "formats/io/byte_source.h"
#include "formats/io/file_names.h"
#include "formats/stream_bound.h"
#include "formats/unsupported_formats.h"
#include "formats/zstd.h"
#include "formats/zstd_source.h"

namespace btf {
namespace {

class EntryReader final : public TensorReader {
 public:
  EntryReader(std::unique_ptr<TensorReader> reader, FileEntry entry,
              std::optional<std::uint64_t> only)
      : reader_(std::move(reader)), entry_(std::move(entry)), only_(only) {}

  std::uint64_t tensor_count() const override { return only_ ? 1 : reader_->tensor_count(); }

  Result<TensorInfo> tensor(std::uint64_t index) const override {
    BTF_ASSIGN(TensorInfo info, reader_->tensor(own(index)));
    info.index = index;
    return info;
  }

  Result<std::optional<std::string>> name(std::uint64_t index) const override {
    if (entry_.name) return entry_.name;
    return reader_->name(own(index));
  }

  Result<FileAttributes> attributes() const override {
    BTF_ASSIGN(FileAttributes all, reader_->attributes());
    if (only_) {
      auto of_it = all.tensors.extract(*only_);
      all.tensors.clear();
      // Its scales are other tensors of the file.
      if (of_it) of_it.mapped().quantized.reset();
      if (of_it) all.tensors.emplace(0, std::move(of_it.mapped()));
    }
    if (entry_.order) all.tensors[0].order = entry_.order;
    if (!entry_.role.empty()) all.tensors[0].role = entry_.role;
    return all;
  }

  std::optional<std::uint64_t> record_offset(std::uint64_t index) const override {
    return reader_->record_offset(own(index));
  }
  bool overlap_is_settled() const override { return only_ || reader_->overlap_is_settled(); }
  Result<const ByteSource*> elements(std::uint64_t index) const override {
    return reader_->elements(own(index));
  }
  Result<const ByteSource*> stored(std::uint64_t index) const override {
    return reader_->stored(own(index));
  }
  Result<std::optional<TensorInfo>> dequantized(std::uint64_t index) const override {
    BTF_ASSIGN(std::optional<TensorInfo> info, reader_->dequantized(own(index)));
    if (info) info->index = index;
    return info;
  }
  // A manifest's entry may be part of a file, so the rest need not be complete.
  Status check_complete() const override { return only_ ? Status() : reader_->check_complete(); }
  Status check_unchanged() const override { return reader_->check_unchanged(); }

 private:
  std::uint64_t own(std::uint64_t index) const { return only_.value_or(index); }

  std::unique_ptr<TensorReader> reader_;
  FileEntry entry_;
  std::optional<std::uint64_t> only_;
};

Result<std::uint64_t> find_tensor(const TensorReader& reader, const std::string& wanted) {
  for (std::uint64_t i = 0; i < reader.tensor_count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, reader.name(i));
    if (name == wanted) return i;
  }
  return fail(ErrorCode::invalid_argument, "has no tensor '" + wanted + "'");
}

std::string count_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " tensor" : " tensors");
}

// The source limited to the entry's bytes; the source itself if the entry has no offset.
Result<std::unique_ptr<ByteSource>> entry_source(std::unique_ptr<ByteSource> source,
                                                 const OpenRequest& request) {
  const auto& entry = request.options.entry;
  if (!entry || !entry->offset) return source;
  const std::uint64_t begin = *entry->offset;
  const std::uint64_t wanted = expected_bytes(request).value_or(0);
  if (!fits(begin, wanted, source->size()))
    return malformed("raw-size", std::min(begin, source->size()),
                     std::to_string(wanted) + " bytes were expected from byte " +
                         std::to_string(begin) + " on, the file has " +
                         std::to_string(source->size()));
  std::vector<Piece> pieces;
  if (wanted > 0)
    pieces.push_back({.begin = 0, .length = wanted, .source = std::move(source), .offset = begin});
  return piecewise_source(std::move(pieces));
}

// Returns `reader` itself if there is no entry.
Result<std::unique_ptr<TensorReader>> entry_reader(std::unique_ptr<TensorReader> reader,
                                                   const OpenRequest& request) {
  const auto& entry = request.options.entry;
  if (!entry) return reader;
  const std::uint64_t count = reader->tensor_count();
  std::optional<std::uint64_t> only = entry->tensor_number;
  if (entry->tensor_name) {
    BTF_ASSIGN(only, find_tensor(*reader, *entry->tensor_name));
  }
  if (only && *only >= count)
    return fail(ErrorCode::invalid_argument, "there is no tensor " + std::to_string(*only) +
                                                 ", the file has " + std::to_string(count));
  if (!only && count != 1 && (entry->name || entry->order))
    return fail(ErrorCode::invalid_argument,
                "has " + count_text(count) + ", and the manifest does not say which one it names");
  return std::make_unique<EntryReader>(std::move(reader), *entry, only);
}

// The subject of "not written": "PyTorch files are", "a file of vectors is".
std::string files_called(std::string_view title) {
  for (const std::string_view word : {" file", " model", " engine", " checkpoint"})
    if (title.ends_with(word)) return std::string(title.substr(title.find(' ') + 1)) + "s are";
  return std::string(title) + " is";
}

std::string written_names() {
  return name_list(formats() | std::views::filter(&FormatRow::writer));
}

// Other tools and people rely on extensions, so a wrong one is refused.
Status check_name(const WriteRequest& request, const std::optional<FileEnding>& ending,
                  const FormatRow& row) {
  const auto refuse = [&](std::string_view named, const std::string& written) -> Status {
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              "the extension says " + std::string(named) + ", the format is " + written}
            .in_file(request.path));
  };
  const std::string title(row.title);
  if (ending && ending->format.empty())
    return std::unexpected(
        Error{ErrorCode::invalid_argument,
              files_called(ending->title) + " not written; these are: " + written_names()}
            .in_file(request.path));
  const bool named_so = ends_as_compressed(request.path);
  if (ending && ending->format != row.name)
    return refuse(ending->title, request.compressed ? "compressed " + title : title);
  if (named_so && !request.compressed) return refuse("a compressed file", "uncompressed " + title);
  // BTF is recognized by its first bytes, compressed or not.
  if (request.compressed && !named_so && ending && &row != &default_format())
    return refuse(ending->title, "compressed " + title);
  return {};
}

// Refuses empty files and placeholders.
Status refuse_placeholders(const ByteSource& source) {
  if (source.size() == 0 && !source.more_follows())
    return malformed("file-too-short", 0, "is empty: 0 bytes");
  BTF_ASSIGN(const auto kind, find_placeholder(source));
  return kind ? fail(ErrorCode::unsupported, kind->text) : Status();
}

FindingCode finding_of_unknown(std::string_view path, bool table_fits) {
  if (const auto ending = find_ending(content_name(path)); ending && !ending->format.empty())
    if (const FormatRow& row = format_named(ending->format); row.misnamed) return *row.misnamed;
  return table_fits ? FindingCode("not-btf") : FindingCode("offset-table-too-long");
}

// A file that no other row recognizes is BTF if its bytes or its name say so; a stream has no name.
Status check_btf_at_all(const ByteSource& source, const OpenRequest& request) {
  const std::string_view name = content_name(request.path);
  const bool called = name.ends_with(".btf");
  const bool unnamed = name == "-" || name.starts_with("/dev/");
  BTF_ASSIGN(const bool table_fits, offset_table_fits(source));
  if (called && table_fits) return {};
  BTF_ASSIGN(const BtfLook look, look_of_btf(source));
  if (look == BtfLook::sound) return {};
  BTF_ASSIGN(const auto kind, find_unsupported_format(source, request.path));
  if (kind) return fail(ErrorCode::unsupported, kind->text);
  // The reader compares the spec with the content.
  const bool no_count = source.size() < sizeof(std::uint64_t);
  if (called || no_count || request.options.spec || (unnamed && look == BtfLook::no_record))
    return {};
  return malformed(finding_of_unknown(request.path, table_fits), 0,
                   unknown_kind(source, request.path));
}

}  // namespace

std::optional<std::uint64_t> expected_bytes(const OpenRequest& request) {
  for (const FormatRow& row : formats())
    if (row.expected_bytes != nullptr)
      if (const auto bytes = row.expected_bytes(request)) return bytes;
  return std::nullopt;
}

Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request) {
  // A file of exactly the expected size is what the spec says, whatever it looks like.
  const std::optional<std::uint64_t> expected = expected_bytes(request);
  if (!source.more_follows() && expected == source.size()) return &format_with(kUndescribed);
  if (!expected || source.size() > 0) BTF_TRY(refuse_placeholders(source));
  for (const FormatRow& row : formats()) {
    if (&row == &default_format()) BTF_TRY(check_btf_at_all(source, request));
    BTF_ASSIGN(const bool recognized, row.recognizes(source, request));
    if (recognized) return &row;
  }
  return &default_format();
}

std::vector<std::string_view> output_formats() {
  std::vector<std::string_view> names;
  for (const FormatRow& row : formats())
    if (row.writer != nullptr) names.emplace_back(row.name);
  return names;
}

// Suggests formats for a mistyped `word`.
std::string formats_meant(std::string_view word) {
  return did_you_mean(word, output_formats()) + "; there are " +
         name_list(formats() | std::views::filter(&FormatRow::writer));
}

Result<const FormatRow*> format_to_write(const WriteRequest& request) {
  const auto ending = find_ending(content_name(request.path));
  const bool ours = ending && !ending->format.empty();
  const std::string_view name = !request.format.empty()   ? request.format
                                : request.spec != nullptr ? format_with(kUndescribed).name
                                : ours                    ? ending->format
                                                          : default_format().name;
  const auto row = std::ranges::find_if(
      formats(), [&](const FormatRow& candidate) { return same_name(candidate.name, name); });
  if (row == formats().end())
    return fail(ErrorCode::invalid_argument, "unknown format '" + std::string(request.format) +
                                                 "'" + formats_meant(request.format));
  if (request.spec != nullptr && !row->has(kUndescribed))
    return fail(ErrorCode::invalid_argument,
                "the spec of an output is for raw bytes, not for " + std::string(row->title));
  if (row->writer == nullptr)
    return fail(
        ErrorCode::unsupported,
        std::string(row->title) + " is read and not written; these are: " + written_names());
  if (request.format.empty()) BTF_TRY(check_name(request, ending, *row));
  return &*row;
}

namespace {

// Copies an input that cannot seek, as far as it can be needed.
Result<std::unique_ptr<ByteSource>> spool(const std::string& name, const zstd::Pull& pull,
                                          std::optional<std::uint64_t> expected) {
  BTF_ASSIGN(BoundedSpool copy, BoundedSpool::create(expected));
  std::vector<std::byte> buffer(1U << 18);
  for (;;) {
    BTF_ASSIGN(const std::uint64_t most, copy.most());
    const std::uint64_t wanted = most - copy.size();
    // Reading one more byte shows whether there are more.
    const std::uint64_t some = std::clamp<std::uint64_t>(wanted, 1, buffer.size());
    BTF_ASSIGN(const std::size_t got, pull(std::span(buffer).first(some)));
    const bool more_follows = got > 0 && wanted == 0;
    if (more_follows) BTF_TRY(copy.check_room());
    if (got == 0 || more_follows)
      return copied_source(name, std::move(copy).release(), {.more_follows = more_follows});
    BTF_TRY(copy.append(std::span(buffer).first(got)));
  }
}

// Reads a stream front to back, and can look at the first bytes before consuming them.
class Stream {
 public:
  explicit Stream(Descriptor fd) : fd_(std::move(fd)) {}

  Result<bool> begins_as_zstd() {
    while (end_ < start_.size()) {
      BTF_ASSIGN(const std::size_t got, read(std::span(start_).subspan(end_)));
      if (got == 0) return false;
      end_ += got;
    }
    return zstd::recognizes(start_);
  }

  Result<std::size_t> pull(std::span<std::byte> out) {
    if (taken_ == end_) return read(out);
    const std::size_t some = std::min(out.size(), end_ - taken_);
    std::copy_n(start_.begin() + static_cast<std::ptrdiff_t>(taken_), some, out.begin());
    taken_ += some;
    return some;
  }

 private:
  Result<std::size_t> read(std::span<std::byte> out) {
    for (;;) {
      const ssize_t got = ::read(fd_.get(), out.data(), out.size());
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return system_failure("read");
    }
  }

  Descriptor fd_;
  std::array<std::byte, zstd::kMagicBytes> start_{};
  std::size_t end_ = 0;    // filled bytes of start_
  std::size_t taken_ = 0;  // bytes of start_ that were pulled
};

// Copies the bytes unchanged, also if they are compressed.
Result<std::unique_ptr<ByteSource>> spool_stream(const std::string& name, Descriptor fd) {
  Stream stream(std::move(fd));
  return spool(name, [&](std::span<std::byte> out) { return stream.pull(out); }, kUnlimited);
}

Result<std::unique_ptr<ByteSource>> open_zstd(const std::string& name,
                                              std::unique_ptr<ByteSource> file,
                                              std::optional<std::uint64_t> expected) {
  BTF_ASSIGN(const bool seekable, zstd::has_seek_table(*file));
  if (seekable) {
    BTF_ASSIGN(zstd::SeekTable table, zstd::SeekTable::read(*file));
    if (table.largest_content() <= zstd::kLargestFrame)
      return zstd::seekable_source(name, std::move(file), std::move(table));
  }
  const auto pull =
      [&, at = std::uint64_t{0}](std::span<std::byte> out) mutable -> Result<std::size_t> {
    out = out.first(std::min<std::uint64_t>(out.size(), file->size() - at));
    BTF_TRY(file->read_at(at, out));
    at += out.size();
    return out.size();
  };
  BTF_ASSIGN(zstd::Unpacked unpacked,
             zstd::unpack(pull, expected, [&] { return zstd::most_content(*file); }));
  BTF_TRY(file->check_unchanged());
  return copied_source(name, std::move(unpacked.content),
                       {.compressed = true, .more_follows = unpacked.more_follows});
}

// Raw bytes may begin like zstd. If the size is the expected one, they are raw, unless they are a
// complete zstd file whose content has the expected size.
Result<std::unique_ptr<ByteSource>> open_zstd_or_raw(const std::string& name,
                                                     std::unique_ptr<ByteSource> file,
                                                     std::optional<std::uint64_t> expected) {
  if (file->size() != expected) return open_zstd(name, std::move(file), expected);
  const std::shared_ptr<const ByteSource> shared = std::move(file);
  auto content = open_zstd(name, shared_source(shared), expected);
  const bool zstd = content ? (*content)->size() == *expected : content.error().finding.empty();
  if (zstd) return content;
  return shared_source(shared);
}

// Reads at most this many first bytes.
Result<Spool> beginning(const zstd::Pull& pull, std::uint64_t most) {
  BTF_ASSIGN(BoundedSpool copy, BoundedSpool::create(most));
  std::vector<std::byte> buffer(1U << 18);
  while (copy.size() < most) {
    const std::uint64_t some = std::min<std::uint64_t>(most - copy.size(), buffer.size());
    BTF_ASSIGN(const std::size_t got, pull(std::span(buffer).first(some)));
    if (got == 0) break;
    BTF_TRY(copy.append(std::span(buffer).first(got)));
  }
  return std::move(copy).release();
}

Result<std::unique_ptr<ByteSource>> open_zstd_stream(const std::string& name,
                                                     const zstd::Pull& pull,
                                                     std::optional<std::uint64_t> expected) {
  BTF_ASSIGN(zstd::Unpacked unpacked, zstd::unpack(pull, expected));
  return copied_source(name, std::move(unpacked.content),
                       {.compressed = true, .more_follows = unpacked.more_follows});
}

Result<std::unique_ptr<ByteSource>> open_stream(const std::string& name, Descriptor fd,
                                                std::optional<std::uint64_t> expected) {
  Stream stream(std::move(fd));
  const zstd::Pull pull = [&](std::span<std::byte> out) { return stream.pull(out); };
  BTF_ASSIGN(const bool compressed, stream.begins_as_zstd());
  if (!compressed) return spool(name, pull, expected);
  if (expected.value_or(kUnlimited) == kUnlimited) return open_zstd_stream(name, pull, expected);
  // Check whether it ends where raw bytes would.
  BTF_ASSIGN(Spool start, beginning(pull, *expected + 1));
  if (start.size() <= *expected) {
    return open_zstd_or_raw(name, copied_source(name, std::move(start), {}), expected);
  }
  const auto from_start =
      [&, at = std::uint64_t{0}](std::span<std::byte> out) mutable -> Result<std::size_t> {
    const std::uint64_t some = std::min<std::uint64_t>(out.size(), start.size() - at);
    if (some == 0) return pull(out);
    BTF_TRY(start.read_at(at, out.first(some)));
    at += some;
    return some;
  };
  return open_zstd_stream(name, from_start, expected);
}

// The position at which another process may have left standard input.
Result<std::uint64_t> position_of(const Descriptor& fd) {
  const off_t position = ::lseek(fd.get(), 0, SEEK_CUR);
  if (position < 0) return system_failure("find the position in the file");
  return static_cast<std::uint64_t>(position);
}

enum class Compressed : std::uint8_t { unpack, keep };

Result<std::unique_ptr<ByteSource>> open_path(const std::string& path, Compressed compressed,
                                              std::optional<std::uint64_t> expected) {
  const bool unpack = compressed == Compressed::unpack;
  Descriptor fd(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.open()) return system_failure("open");
  struct stat state{};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (S_ISDIR(state.st_mode))
    return system_failure(ErrorCode::io, EISDIR, "is a directory, a file was expected");
  const std::string name = path == "-" ? "standard input" : path;
  if (!S_ISREG(state.st_mode))
    return unpack ? open_stream(name, std::move(fd), expected) : spool_stream(name, std::move(fd));
  std::uint64_t begin = 0;
  if (path == "-") {
    BTF_ASSIGN(begin, position_of(fd));
  }
  auto file = file_source(name, std::move(fd), state, begin);
  if (!unpack) return file;
  return unpacked_source(name, std::move(file), expected);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                std::optional<std::uint64_t> expected) {
  return open_path(path, Compressed::unpack, expected);
}

Result<std::unique_ptr<ByteSource>> unpacked_source(const std::string& name,
                                                    std::unique_ptr<ByteSource> bytes,
                                                    std::optional<std::uint64_t> expected) {
  std::array<std::byte, zstd::kMagicBytes> start{};
  if (bytes->size() < start.size()) return bytes;
  BTF_TRY(bytes->read_at(0, start));
  if (!zstd::recognizes(start)) return bytes;
  return open_zstd_or_raw(name, std::move(bytes), expected);
}

Result<std::unique_ptr<ByteSource>> open_if_there(const std::string& path) {
  auto source = open_source(path, {});
  if (!source && is_not_there(source.error())) return nullptr;
  if (!source) return std::unexpected(source.error().in_file(path));
  return source;
}

Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path) {
  return open_path(path, Compressed::keep, std::nullopt);
}

namespace {

struct TensorExtent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t tensor = 0;
};

// Tensors that share bytes, each with one other tensor.
using Overlaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

std::uint64_t extent_end(const TensorInfo& tensor) {
  return std::max(tensor.end(), tensor.data_offset);
}

// The bytes needed, up to the end of the manifest's entry.
std::optional<std::uint64_t> wanted_bytes(const OpenRequest& request) {
  // Text is read to its end.
  if (request.options.spec && request.options.spec->as_text) return kUnlimited;
  const auto bytes = expected_bytes(request);
  const auto& entry = request.options.entry;
  if (!bytes || !entry || !entry->offset) return bytes;
  return checked_add(*bytes, *entry->offset).value_or(kUnlimited);
}

}  // namespace

struct TensorFile::State {
  std::string path;
  std::string name;  // base for the names of tensors
  const FormatRow* format = nullptr;
  std::unique_ptr<ByteSource> source;
  std::unique_ptr<TensorReader> reader;
  mutable std::optional<Overlaps> overlaps;  // computed when first needed

  // Number of tensors, requested in order so far, that overlap no later one.
  mutable std::uint64_t apart = 0;
  mutable std::optional<bool> ascending;  // whether record offsets are ascending

  Status for_extents(const std::function<void(const TensorExtent&)>& take) const;
  Result<Overlaps> find_overlaps() const;
  bool find_ascending() const;
  bool next_without_overlap(const TensorInfo& tensor) const;
};

bool TensorFile::State::find_ascending() const {
  std::optional<std::uint64_t> last;
  for (std::uint64_t i = 0; i < reader->tensor_count(); ++i) {
    const auto begin = reader->record_offset(i);
    if (!begin || (last && *begin <= *last)) return false;
    last = begin;
  }
  return true;
}

// Returns true if this is the next tensor in order, or an earlier one, and ends before all
// following ones begin.
bool TensorFile::State::next_without_overlap(const TensorInfo& tensor) const {
  if (tensor.index < apart) return true;
  if (tensor.index > apart) return false;
  if (!ascending) ascending = find_ascending();
  if (!*ascending) return false;
  const bool last = apart + 1 == reader->tensor_count();
  if (!last && extent_end(tensor) > reader->record_offset(apart + 1)) return false;
  ++apart;
  return true;
}

// Invalid records are skipped, since the reader reports them; an error only if the file cannot be
// read.
Status TensorFile::State::for_extents(const std::function<void(const TensorExtent&)>& take) const {
  for (std::uint64_t i = 0; i < reader->tensor_count(); ++i) {
    const auto info = reader->tensor(i);
    if (info)
      take(TensorExtent{info->record_offset, extent_end(*info), i});
    else if (info.error().finding.empty())
      return std::unexpected(info.error().of_tensor(i));
  }
  return {};
}

Result<Overlaps> TensorFile::State::find_overlaps() const {
  std::uint64_t end = 0;
  bool in_order = true;
  // Ascending records without overlap, the usual case, need no list.
  BTF_TRY(for_extents([&](const TensorExtent& extent) {
    in_order = in_order && extent.begin >= end;
    end = std::max(end, extent.end);
  }));
  Overlaps found;
  if (in_order) return found;
  std::vector<TensorExtent> extents;
  BTF_TRY(for_extents([&](const TensorExtent& extent) { extents.push_back(extent); }));
  std::ranges::sort(extents, {}, [](const TensorExtent& e) { return std::pair(e.begin, e.end); });
  TensorExtent widest{};
  for (const TensorExtent& extent : extents) {
    if (extent.begin < widest.end) {
      found.emplace_back(extent.tensor, widest.tensor);
      found.emplace_back(widest.tensor, extent.tensor);
    }
    if (extent.end > widest.end) widest = extent;
  }
  std::ranges::sort(found);
  return found;
}

std::string TensorInfo::unknown_dtype_text() const {
  if (!foreign_reason.empty()) return foreign_reason;
  if (foreign_dtype.empty()) return "unknown dtype code " + std::to_string(dtype_code);
  return "dtype " + foreign_dtype + " is not supported";
}

TensorFile::TensorFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TensorFile::TensorFile(TensorFile&&) noexcept = default;
TensorFile& TensorFile::operator=(TensorFile&&) noexcept = default;
TensorFile::~TensorFile() = default;

Result<TensorFile> TensorFile::open(const std::string& path, const OpenOptions& options) {
  return open_content(open_source(path, wanted_bytes({path, options})), path, options);
}

Result<TensorFile> TensorFile::open(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                    const OpenOptions& options) {
  return open_content(unpacked_source(name, std::move(bytes), wanted_bytes({name, options})), name,
                      options);
}

Result<TensorFile> TensorFile::open_content(Result<std::unique_ptr<ByteSource>> source,
                                            const std::string& path, const OpenOptions& options) {
  if (!source) return std::unexpected(source.error().in_file(path));
  auto state = std::make_unique<State>();
  state->path = path;
  state->name = options.name.empty()
                    ? name_in_path(std::string_view(path).substr(path.rfind('/') + 1))
                    : options.name;
  auto content = entry_source(*std::move(source), {path, options});
  if (!content) return std::unexpected(content.error().in_file(path));
  state->source = *std::move(content);
  auto format = recognize_format(*state->source, {path, options});
  if (!format) return std::unexpected(format.error().in_file(path));
  state->format = *format;
  if (options.spec && options.spec->as_text && !state->format->has(kText))
    return std::unexpected(Error{ErrorCode::invalid_argument,
                                 "is " + std::string(state->format->title) + ", its spec '" +
                                     options.spec->text + "' describes text"}
                               .in_file(path));
  auto reader = state->format->open(*state->source, {path, options});
  if (reader) reader = entry_reader(*std::move(reader), {path, options});
  if (!reader) return std::unexpected(reader.error().in_file(path));
  state->reader = *std::move(reader);
  return TensorFile(std::move(state));
}

const std::string& TensorFile::path() const { return state_->path; }
std::string_view TensorFile::format() const { return state_->format->name; }
bool TensorFile::compressed() const { return state_->source->compressed(); }
std::string_view TensorFile::format_title() const { return state_->format->title; }
bool TensorFile::has(FormatTrait trait) const { return state_->format->has(trait); }
std::uint64_t TensorFile::size() const { return state_->source->size(); }
bool TensorFile::more_follows() const { return state_->source->more_follows(); }
std::uint64_t TensorFile::tensor_count() const { return state_->reader->tensor_count(); }
const ByteSource& TensorFile::source() const { return *state_->source; }

bool TensorFile::says_dims() const {
  if (!has(kSaysDims) || !has(kText)) return has(kSaysDims);
  const auto tensor = state_->reader->tensor(0);
  return tensor && tensor->dims.size() != 1;
}

std::vector<std::string> TensorFile::other_files() const {
  // An unreadable tensor uses no other files.
  for (std::uint64_t i = 0; i < tensor_count(); ++i) static_cast<void>(state_->reader->tensor(i));
  return state_->reader->other_files();
}

Status TensorFile::check_unchanged() const {
  BTF_TRY(state_->source->check_unchanged());
  return state_->reader->check_unchanged();
}

Status TensorFile::check_complete() const {
  const Status complete = state_->reader->check_complete();
  return complete ? complete : std::unexpected(complete.error().in_file(path()));
}

Result<const ByteSource*> TensorFile::elements(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto own = state_->reader->elements(index);
  if (!own) return std::unexpected(about(index, own.error()));
  return *own != nullptr ? *own : state_->source.get();
}

Result<const ByteSource*> TensorFile::stored(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto own = state_->reader->stored(index);
  if (!own) return std::unexpected(about(index, own.error()));
  return *own != nullptr ? *own : state_->source.get();
}

Result<std::optional<std::string>> TensorFile::own_name(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto own = state_->reader->name(index);
  if (!own) return std::unexpected(own.error().in_file(path()));
  return own;
}

Result<FileAttributes> TensorFile::attributes() const {
  auto attributes = state_->reader->attributes();
  if (!attributes) return std::unexpected(attributes.error().in_file(path()));
  return attributes;
}

Result<std::string> TensorFile::name(std::uint64_t index) const {
  BTF_ASSIGN(std::optional<std::string> own, own_name(index));
  return own ? *std::move(own) : derived_name(index);
}

std::string TensorFile::derived_name(std::uint64_t index) const {
  return tensor_count() == 1 ? state_->name : state_->name + "#" + std::to_string(index);
}

Error TensorFile::about(std::uint64_t tensor, const Error& error) const {
  return error.of_tensor(tensor).in_file(path());
}

Status TensorFile::check_index(std::uint64_t index) const {
  if (index < tensor_count()) return {};
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "there is no tensor " + std::to_string(index) +
                                             ", the file has " + std::to_string(tensor_count())}
          .in_file(path()));
}

Status TensorFile::name(TensorInfo& tensor, std::uint64_t index) const {
  const auto own = state_->reader->name(index);
  // With damaged names, tensors remain usable by number. But if the system cannot read the names,
  // that must be reported.
  if (!own && own.error().code == ErrorCode::io) return std::unexpected(about(index, own.error()));
  tensor.named = own && *own;
  tensor.name = tensor.named ? **own : derived_name(index);
  return {};
}

Result<TensorInfo> TensorFile::tensor(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto info = state_->reader->tensor(index);
  if (!info) return std::unexpected(about(index, info.error()));
  BTF_TRY(name(*info, index));
  return info;
}

Result<std::optional<TensorInfo>> TensorFile::dequantized(std::uint64_t index) const {
  BTF_TRY(check_index(index));
  auto info = state_->reader->dequantized(index);
  if (!info) return std::unexpected(about(index, info.error()));
  if (*info) BTF_TRY(name(**info, index));
  return info;
}

Status TensorFile::check_overlap(const TensorInfo& tensor) const {
  if (state_->reader->overlap_is_settled() || tensor_count() == 1) return {};
  if (!state_->overlaps && state_->next_without_overlap(tensor)) return {};
  if (!state_->overlaps) {
    auto found = state_->find_overlaps();
    if (!found) return std::unexpected(found.error().in_file(path()));
    state_->overlaps = *std::move(found);
  }
  const auto& overlaps = *state_->overlaps;
  const auto found = std::ranges::lower_bound(overlaps, std::pair(tensor.index, std::uint64_t{0}));
  if (found == overlaps.end() || found->first != tensor.index) return {};
  const auto overlap =
      malformed("records-overlap", tensor.record_offset,
                "the record overlaps that of tensor " + std::to_string(found->second));
  return std::unexpected(about(tensor.index, overlap.error()));
}

}  // namespace btf
