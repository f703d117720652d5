// Converting and writing.
#include <algorithm>

#include "btf/convert.h"
#include "btf/dlpack.h"
#include "btf/try.h"
#include "capi/array.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

Result<ConvertOptions> convert_options(const btf_convert_options* from) {
  BTF_ASSIGN(const btf_convert_options options, given(from));
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
  BTF_ASSIGN(const btf_write_options options, given(from));
  BTF_ASSIGN(tensor.dtype, dtype_named(options.dtype));
  BTF_ASSIGN(const auto layout, layout_named(options.layout));
  tensor.layout = layout.value_or(tensor.layout);
  const DType dtype = tensor.dtype.value_or(tensor.tensor.dtype);
  // Impossible layouts are refused here, not at the end when everything is written.
  BTF_TRY(resolve(tensor.layout, tensor.tensor.storage.dims, dtype));
  writer.tensors.push_back(std::move(tensor));
  return {};
}

Result<WriteOptions> save_options(const btf_save_options* from) {
  BTF_ASSIGN(const btf_save_options options, given(from));
  return common_options<WriteOptions>(options);
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_convert(btf_file* input, const char* output, const btf_convert_options* options,
                       uint64_t* bytes, btf_loss* loss) {
  return with_handle(input, [&]() -> btf::Status {
    if (output == nullptr) return wrong("no path for the output");
    BTF_TRY(can_give(loss));
    BTF_ASSIGN(const btf::ConvertOptions convert, convert_options(options));
    btf::LossAccount total;
    BTF_ASSIGN(const std::uint64_t size,
               btf::convert(input->file, output, convert,
                            [&](const btf::TensorReport& report) { total.add(report.loss); }));
    if (bytes != nullptr) *bytes = size;
    return give_loss(loss, total);
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
    if (dl_tensor == nullptr) return wrong("no tensor");
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
    if (output == nullptr) return wrong("no path for the output");
    BTF_ASSIGN(const btf::WriteOptions write, save_options(options));
    BTF_ASSIGN(const std::uint64_t size, btf::write_tensors(output, writer->tensors, write));
    if (bytes != nullptr) *bytes = size;
    return {};
  });
}
}
