// The C interface to files and sets: opened, inspected, read, written.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/dlpack.h"
#include "btf/dtype.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "btf/validate.h"
#include "capi/support.h"
#include "core/errors.h"

namespace btf::capi {
namespace {

Result<ReadOptions> read_options(const btf_read_options* from) {
  BTF_ASSIGN(const btf_read_options options, copy_in(from));
  BTF_ASSIGN(ReadOptions read, common_options<ReadOptions>(options));
  if (options.region_rank == 0 && (options.begin || options.end || options.step))
    return wrong("begin, end or step is given without region_rank");
  if (options.region_rank > kMaxRank)
    return wrong(concat("region_rank is ", options.region_rank, ", but tensors have at most ",
                        kMaxRank, " dims"));
  read.region.resize(options.region_rank);
  for (std::size_t d = 0; d < options.region_rank; ++d) {
    DimRange& range = read.region[d];
    if (options.begin != nullptr) range.begin = options.begin[d];
    if (options.end != nullptr) range.end = options.end[d];
    if (options.step != nullptr) range.step = options.step[d];
  }
  return read;
}

struct Request {
  const TensorInfo* tensor;
  ReadOptions options;
  ReadShape shape;

  std::uint64_t bytes() const { return storage_bytes(shape.storage, shape.dtype); }
};

Result<Request> request(btf_file& file, std::uint64_t index, const btf_read_options* from) {
  BTF_ASSIGN(const TensorInfo* const tensor, file.tensor(index));
  BTF_ASSIGN(ReadOptions options, read_options(from));
  auto shape = read_shape(*tensor, options);
  if (!shape) return std::unexpected(file.file.about(index, shape.error()));
  return Request{tensor, std::move(options), *std::move(shape)};
}

Status read(btf_file& file, const Request& what, void* buffer, std::uint64_t bytes,
            btf_loss* loss) {
  if (bytes < what.bytes())
    return wrong(concat("the buffer has ", bytes, " bytes, but ", what.bytes(), " are needed"));
  if (buffer == nullptr && what.bytes() > 0) return null_argument("buffer");
  if (reinterpret_cast<std::uintptr_t>(buffer) % info(what.shape.dtype).buffer_bytes() != 0)
    return wrong("the buffer is not aligned to its elements");
  const MutableTensorView target{
      what.shape.dtype, what.shape.storage, {static_cast<std::byte*>(buffer), what.bytes()}};
  BTF_ASSIGN(const LossAccount account,
             read_tensor_into(file.file, *what.tensor, target, what.options));
  return copy_loss(loss, account);
}

Status copy_strides(const StridedLayout& storage, std::uint64_t* strides, std::size_t capacity) {
  if (storage.split) return fail(ErrorCode::unsupported, "a layout with blocks has no strides");
  if (capacity < storage.strides.size())
    return wrong(
        concat("the capacity is ", capacity, " strides, but there are ", storage.strides.size()));
  if (strides == nullptr && !storage.strides.empty()) return null_argument("strides");
  std::ranges::copy(storage.strides, strides);
  return {};
}

Result<std::uint64_t> find(btf_file& file, const std::string& name) {
  if (!file.numbers) {
    std::multimap<std::string, std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < file.file.tensor_count(); ++i) {
      BTF_ASSIGN(const std::string one, file.file.name(i));
      // As btf_name() returns it: a C string ends at a NUL, and equal ones are ambiguous.
      numbers.emplace(one.c_str(), i);
    }
    file.numbers = std::move(numbers);
  }
  const auto [first, last] = file.numbers->equal_range(name);
  const auto about = [&](const std::string& what) {
    return std::unexpected(wrong(what).error().in_file(file.file.path()));
  };
  if (first == last) return about("there is no tensor '" + name + "'");
  if (std::next(first) != last)
    return about(concat("tensors ", first->second, " and ", std::next(first)->second,
                        " are called '", name, "'"));
  return first->second;
}

template <typename Managed, typename Export>
btf_status read_managed(btf_file* file, std::uint64_t index, const btf_read_options* options,
                        Managed** tensor, Export&& to_managed) noexcept {
  if (tensor != nullptr) *tensor = nullptr;
  return with_handle(file, [&]() -> Status {
    if (tensor == nullptr) return null_argument("tensor");
    BTF_ASSIGN(const Request what, request(*file, index, options));
    BTF_ASSIGN(const LoadedTensor loaded, read_tensor(file->file, *what.tensor, what.options));
    BTF_ASSIGN(auto* const managed, to_managed(loaded.tensor));
    *tensor = reinterpret_cast<Managed*>(managed);
    return {};
  });
}

Status check_member(const btf_set& set, std::uint64_t member) {
  const std::uint64_t count = set.set.member_count();
  if (member < count) return {};
  return wrong(concat("there is no member ", member, ", the set has ", count));
}

Result<ConvertOptions> convert_options(const btf_convert_options* from) {
  BTF_ASSIGN(const btf_convert_options options, copy_in(from));
  BTF_ASSIGN(ConvertOptions convert, common_options<ConvertOptions>(options));
  if (options.shuffle != 0) convert.shuffle = true;
  if (options.tensors != nullptr)
    convert.tensors.emplace(options.tensors, options.tensors + options.tensor_count);
  if (options.permute != nullptr && options.permute_count != 0)
    convert.edits.push_back(Permute{{options.permute, options.permute + options.permute_count}});
  convert.prune_zeros = options.prune_zeros != 0;
  convert.where_possible = options.where_possible != 0;
  return convert;
}

Status add(btf_writer& writer, TensorToWrite tensor, const btf_write_options* from) {
  BTF_ASSIGN(const btf_write_options options, copy_in(from));
  BTF_ASSIGN(tensor.dtype, dtype_named(options.dtype));
  BTF_ASSIGN(const auto layout, layout_named(options.layout));
  tensor.layout = layout.value_or(tensor.layout);
  const DType dtype = tensor.dtype.value_or(tensor.tensor.dtype);
  // Refuse impossible layouts here, not at the end when everything is written.
  BTF_TRY(resolve(tensor.layout, tensor.tensor.storage.dims, dtype));
  writer.tensors.push_back(std::move(tensor));
  return {};
}

Result<WriteOptions> save_options(const btf_save_options* from) {
  BTF_ASSIGN(const btf_save_options options, copy_in(from));
  return common_options<WriteOptions>(options);
}

double value_of(const TensorInfo& tensor, const std::optional<Extreme>& extreme) {
  return extreme ? value_double(*tensor.dtype, extreme->code) : kNaN;
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_file* btf_open(const char* path) {
  btf_file* opened = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    if (path == nullptr) return null_argument("path");
    BTF_ASSIGN(btf::TensorFile file, btf::TensorFile::open(path));
    opened = new btf_file(std::make_shared<const btf::TensorFile>(std::move(file)));
    return {};
  });
  return opened;
}

void btf_close(btf_file* file) { delete file; }

const char* btf_file_error(const btf_file* file) {
  return file == nullptr ? "" : file->error.c_str();
}

// The names in the format table are literals, which end with a NUL.
const char* btf_format(const btf_file* file) {
  return file == nullptr ? "" : file->file.format().data();
}

uint64_t btf_count(const btf_file* file) { return file == nullptr ? 0 : file->file.tensor_count(); }

btf_status btf_info(btf_file* file, uint64_t index, btf_tensor_info* info) {
  return with_handle(file, [&]() -> btf::Status {
    if (info == nullptr) return null_argument("info");
    BTF_ASSIGN(const btf::TensorInfo* const tensor, file->tensor(index));
    return copy_out(info, {.size = 0,
                           .name = tensor->named ? tensor->name.c_str() : "",
                           .dtype = name_of(tensor->dtype),
                           .layout = name_of(tensor->layout),
                           .rank = tensor->dims.size(),
                           .dims = tensor->dims.data(),
                           .bytes = tensor->data_bytes,
                           .nnz = tensor->coo ? tensor->coo->nnz : 0});
  });
}

const char* btf_name(btf_file* file, uint64_t index) {
  const char* name = nullptr;
  with_handle(file, [&]() -> btf::Status {
    BTF_ASSIGN(std::string found, file->file.name(index));
    name = file->names.try_emplace(index, std::move(found)).first->second.c_str();
    return {};
  });
  return name;
}

btf_status btf_find(btf_file* file, const char* name, uint64_t* index) {
  return with_handle(file, [&]() -> btf::Status {
    if (name == nullptr) return null_argument("name");
    if (index == nullptr) return null_argument("index");
    BTF_ASSIGN(*index, find(*file, name));
    return {};
  });
}

btf_status btf_read_size(btf_file* file, uint64_t index, const btf_read_options* options,
                         uint64_t* bytes) {
  return with_handle(file, [&]() -> btf::Status {
    if (bytes == nullptr) return null_argument("bytes");
    BTF_ASSIGN(const Request what, request(*file, index, options));
    *bytes = what.bytes();
    return {};
  });
}

btf_status btf_read_strides(btf_file* file, uint64_t index, const btf_read_options* options,
                            uint64_t* strides, size_t capacity) {
  return with_handle(file, [&]() -> btf::Status {
    BTF_ASSIGN(const Request what, request(*file, index, options));
    return copy_strides(what.shape.storage, strides, capacity);
  });
}

btf_status btf_read(btf_file* file, uint64_t index, const btf_read_options* options, void* buffer,
                    uint64_t bytes, btf_loss* loss) {
  return with_handle(file, [&]() -> btf::Status {
    BTF_TRY(check_out(loss));
    BTF_ASSIGN(const Request what, request(*file, index, options));
    return read(*file, what, buffer, bytes, loss);
  });
}

btf_status btf_read_dlpack(btf_file* file, uint64_t index, const btf_read_options* options,
                           DLManagedTensor** tensor) {
  return read_managed(file, index, options, tensor,
                      [](const btf::SharedTensor& loaded) { return btf::to_dlpack(loaded); });
}

btf_status btf_read_dlpack_versioned(btf_file* file, uint64_t index,
                                     const btf_read_options* options,
                                     DLManagedTensorVersioned** tensor) {
  return read_managed(file, index, options, tensor, [](const btf::SharedTensor& loaded) {
    return btf::to_dlpack_versioned(loaded, btf::LaneForm::lanes, true);
  });
}

btf_set* btf_set_open(const char* const* paths, size_t count) {
  btf_set* opened = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    if (paths == nullptr || count == 0 || std::ranges::count(paths, paths + count, nullptr) > 0)
      return wrong("there is no path, or one of the paths is NULL");
    const std::vector<std::string> all(paths, paths + count);
    auto set = count == 1 ? btf::TensorSet::open(all.front()) : btf::TensorSet::open(all);
    if (!set) return std::unexpected(std::move(set).error());
    opened = new btf_set(*std::move(set));
    return {};
  });
  return opened;
}

void btf_set_close(btf_set* set) { delete set; }

const char* btf_set_error(const btf_set* set) { return set == nullptr ? "" : set->error.c_str(); }

uint64_t btf_set_member_count(const btf_set* set) {
  return set == nullptr ? 0 : set->set.member_count();
}

btf_status btf_set_member(btf_set* set, uint64_t member, btf_member_info* info) {
  return with_handle(set, [&]() -> btf::Status {
    if (info == nullptr) return null_argument("info");
    BTF_TRY(check_member(*set, member));
    const btf::SetMember& known =
        set->members.try_emplace(member, set->set.member(member)).first->second;
    BTF_ASSIGN(const std::uint64_t bytes, set->set.bytes(member));
    return copy_out(info, {.size = 0,
                           .path = known.path.c_str(),
                           .place = known.place.c_str(),
                           .bytes = bytes});
  });
}

btf_file* btf_set_file(btf_set* set, uint64_t member) {
  btf_file* opened = nullptr;
  with_handle(set, [&]() -> btf::Status {
    BTF_TRY(check_member(*set, member));
    BTF_ASSIGN(auto file, set->set.file(member));
    opened = new btf_file(std::move(file));
    return {};
  });
  return opened;
}

btf_status btf_set_tensor_count(btf_set* set, uint64_t* count) {
  return with_handle(set, [&]() -> btf::Status {
    if (count == nullptr) return null_argument("count");
    BTF_ASSIGN(*count, set->set.tensor_count());
    return {};
  });
}

btf_status btf_set_tensor(btf_set* set, uint64_t number, uint64_t* member, uint64_t* index) {
  return with_handle(set, [&]() -> btf::Status {
    BTF_ASSIGN(const btf::SetTensor tensor, set->set.tensor(number));
    if (member != nullptr) *member = tensor.member;
    if (index != nullptr) *index = tensor.index;
    return {};
  });
}

btf_status btf_set_select(btf_set* set, const char* selection, uint64_t* numbers, size_t capacity,
                          uint64_t* count) {
  return with_handle(set, [&]() -> btf::Status {
    if (selection == nullptr) return null_argument("selection");
    if (count == nullptr) return null_argument("count");
    if (numbers == nullptr && capacity > 0) return null_argument("numbers");
    BTF_ASSIGN(const std::vector<std::uint64_t> found, set->set.select(selection));
    std::ranges::copy_n(found.begin(),
                        static_cast<std::ptrdiff_t>(std::min(capacity, found.size())), numbers);
    *count = found.size();
    return {};
  });
}

btf_status btf_convert(btf_file* input, const char* output, const btf_convert_options* options,
                       uint64_t* bytes, btf_loss* loss) {
  return with_handle(input, [&]() -> btf::Status {
    if (output == nullptr) return null_argument("output");
    BTF_TRY(check_out(loss));
    BTF_ASSIGN(const btf::ConvertOptions convert, convert_options(options));
    btf::LossAccount total;
    BTF_ASSIGN(const std::uint64_t size,
               btf::convert(input->file, output, convert,
                            [&](const btf::TensorReport& report) { total.add(report.loss); }));
    if (bytes != nullptr) *bytes = size;
    return copy_loss(loss, total);
  });
}

btf_writer* btf_writer_new(void) {
  btf_writer* created = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    created = new btf_writer;
    return {};
  });
  return created;
}

void btf_writer_free(btf_writer* writer) { delete writer; }

const char* btf_writer_error(const btf_writer* writer) {
  return writer == nullptr ? "" : writer->error.c_str();
}

btf_status btf_writer_add(btf_writer* writer, const btf_array* array,
                          const btf_write_options* options) {
  return with_handle(writer, [&]() -> btf::Status {
    BTF_ASSIGN(const Array given, array_of(array));
    btf::TensorToWrite tensor{.tensor = given.view, .dtype = {}, .layout = given.layout};
    return add(*writer, std::move(tensor), options);
  });
}

btf_status btf_writer_add_dlpack(btf_writer* writer, const void* dl_tensor,
                                 const btf_write_options* options) {
  return with_handle(writer, [&]() -> btf::Status {
    if (dl_tensor == nullptr) return null_argument("dl_tensor");
    BTF_ASSIGN(const btf::MutableTensorView view,
               btf::from_dlpack(*static_cast<const btf::dlpack::DLTensor*>(dl_tensor)));
    btf::TensorToWrite tensor{.tensor = {view.dtype, view.storage, view.bytes},
                              .dtype = {},
                              .layout = btf::Layout::linear};
    return add(*writer, std::move(tensor), options);
  });
}

btf_status btf_writer_save(btf_writer* writer, const char* output, const btf_save_options* options,
                           uint64_t* bytes) {
  return with_handle(writer, [&]() -> btf::Status {
    if (output == nullptr) return null_argument("output");
    BTF_ASSIGN(const btf::WriteOptions write, save_options(options));
    BTF_ASSIGN(const std::uint64_t size, btf::write_tensors(output, writer->tensors, write));
    if (bytes != nullptr) *bytes = size;
    return {};
  });
}

btf_status btf_stats(btf_file* file, uint64_t index, uint32_t jobs, btf_tensor_stats* stats) {
  return with_handle(file, [&]() -> btf::Status {
    if (stats == nullptr) return null_argument("stats");
    BTF_TRY(check_out(stats));
    BTF_ASSIGN(const btf::TensorInfo* const tensor, file->tensor(index));
    btf::Execution execution;
    execution.jobs = jobs;
    BTF_ASSIGN(const btf::TensorStats found, btf::stats(file->file, *tensor, execution));
    return copy_out(stats, {.size = 0,
                            .elements = found.elements,
                            .finite = found.finite,
                            .nan = found.nan,
                            .positive_inf = found.positive_inf,
                            .negative_inf = found.negative_inf,
                            .zeros = found.zeros,
                            .subnormals = found.subnormals,
                            .min = value_of(*tensor, found.min),
                            .max = value_of(*tensor, found.max),
                            .mean = found.mean.value_or(kNaN),
                            .std = found.std.value_or(kNaN)});
  });
}

btf_status btf_validate(const char* path, const btf_validate_options* options,
                        btf_finding_report report, void* user, uint64_t* errors) {
  return guarded(nullptr, [&]() -> btf::Status {
    if (path == nullptr) return null_argument("path");
    BTF_ASSIGN(const btf_validate_options from, copy_in(options));
    btf::ValidateChecks checks{.finite = from.finite != 0};
    if (from.recipient != nullptr) {
      BTF_ASSIGN(checks.recipient, parse_enum("recipient", btf::recipient_names(), from.recipient,
                                              btf::Recipient::tfrt));
    }
    btf::Execution execution;
    execution.jobs = from.jobs;
    std::uint64_t bad = 0;
    const auto take = [&](const btf::Finding& found) {
      const bool error = found.severity == btf::Severity::error;
      bad += error ? 1 : 0;
      if (report == nullptr) return;
      const std::string code(found.code);
      const btf_finding finding{.size = sizeof(btf_finding),
                                .error = error ? 1 : 0,
                                .code = code.c_str(),
                                .message = found.message.c_str(),
                                .tensor = found.tensor.value_or(BTF_NONE),
                                .offset = found.offset};
      report(user, &finding);
    };
    BTF_TRY(btf::validate(path, take, {}, execution, checks));
    if (errors != nullptr) *errors = bad;
    return {};
  });
}
}
