#include "formats/pickle/makers.h"

#include <algorithm>
#include <array>

namespace btf {
namespace {

using enum TorchMaking;

// Other functions with this prefix make some kind of tensor, too.
constexpr std::string_view kUtils = "torch._utils ";
constexpr std::string_view kRebuild = "torch._utils _rebuild_";

constexpr std::string_view kUninitialized =
    "it is a parameter that has no elements yet, as of a lazy module that was not run";

// clang-format off
constexpr auto kMakers = std::to_array<TorchMaker>({
    {"torch._utils _rebuild_tensor",                        dense},
    {"torch._utils _rebuild_tensor_v2",                     dense},
    {"torch._utils _rebuild_tensor_v3",                     typed},
    {"torch._utils _rebuild_parameter",                     wrapped},
    {"torch._utils _rebuild_parameter_with_state",          wrapped, 3},
    {"torch._utils _rebuild_device_tensor_from_cpu_tensor", wrapped},
    {"torch._tensor _rebuild_from_type_v2",                 of_type, 3},
    {"torch._tensor _rebuild_from_type",                    of_type, 3},
    {"torch.tensor _rebuild_from_type",                     of_type, 3},
    {"torch._utils _rebuild_qtensor",                       foreign, {}, 2, "qtensor"},
    {"torch._utils _rebuild_meta_tensor_no_storage",        foreign, {}, 1, "meta_tensor_no_storage"},
    {"torch._utils _rebuild_wrapper_subclass",              foreign, {}, 2, "wrapper_subclass"},
    {"torch.nn.parameter UninitializedParameter",           foreign, {}, {}, "uninitialized", kUninitialized},
    {"torch.nn.parameter UninitializedBuffer",              foreign, {}, {}, "uninitialized", kUninitialized},
    {"numpy.core.multiarray _reconstruct",                   array},
    {"numpy._core.multiarray _reconstruct",                  array},
    {"numpy._core.numeric _frombuffer",                      array},
    {"numpy.core.numeric _frombuffer",                       array},
});
// clang-format on

}  // namespace

std::optional<TorchMaker> find_torch_maker(std::string_view global) {
  const auto* row = std::ranges::find(kMakers, global, &TorchMaker::global);
  if (row != kMakers.end()) return *row;
  if (!global.starts_with(kUtils)) return std::nullopt;
  const bool rebuilds = global.starts_with(kRebuild);
  return TorchMaker{.global = global,
                    .how = foreign,
                    .foreign = global.substr(rebuilds ? kRebuild.size() : kUtils.size())};
}

}  // namespace btf
