#include <omp.h>

#include <dnnl.hpp>
#include <memory>

#include "bench/peers.h"

namespace bench {
namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;

Type type_of(btf::DType dtype) {
  switch (dtype) {
    case btf::DType::float32:
      return Type::f32;
    case btf::DType::float16:
      return Type::f16;
    case btf::DType::bfloat16:
      return Type::bf16;
    case btf::DType::int8:
      return Type::s8;
    default:
      return Type::undef;
  }
}

Tag tag_of(btf::Layout layout, const btf::Dims& dims) {
  switch (layout) {
    case btf::Layout::linear:
      return Tag::nchw;
    case btf::Layout::hwc:
      return Tag::nhwc;
    case btf::Layout::hwc8:
      return dims[1] % 8 == 0 ? Tag::nhwc : Tag::undef;
    case btf::Layout::chw4:
      return Tag::nChw4c;
    case btf::Layout::chw16:
      return Tag::nChw16c;
    case btf::Layout::chw32:
      return Tag::nChw32c;
    default:
      return Tag::undef;
  }
}

}  // namespace

std::optional<Work> onednn_reorder(const Reorder& job, const btf::Dims& dims,
                                   const std::byte* source, std::byte* target, unsigned threads) {
  const Tag from = tag_of(job.from_layout, dims);
  const Tag to = tag_of(job.to_layout, dims);
  const Type in = type_of(job.from);
  const Type out = type_of(job.to);
  if (from == Tag::undef || to == Tag::undef || in == Type::undef || out == Type::undef)
    return std::nullopt;
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    const dnnl::memory::dims sizes(dims.begin(), dims.end());
    dnnl::memory a({sizes, in, from}, engine, const_cast<std::byte*>(source));
    dnnl::memory b({sizes, out, to}, engine, target);
    omp_set_num_threads(static_cast<int>(threads));
    const dnnl::reorder reorder(a, b);
    return Work([=, stream = dnnl::stream(engine)]() mutable {
      omp_set_num_threads(static_cast<int>(threads));
      reorder.execute(stream, a, b);
      stream.wait();
    });
  } catch (const dnnl::error&) {
    return std::nullopt;  // no such reorder
  }
}

}  // namespace bench
