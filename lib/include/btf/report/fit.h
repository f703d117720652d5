// Reports of which layers fit a narrow type, also as a page, and the list of those that do not as other tools take
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/fit.h"
#include "btf/report/page_origin.h"
#include "btf/report/report.h"

namespace btf {

// `all`: every layer and tensor.
BTF_API std::string text(const FitReport& report, const TextOptions& options = {});
BTF_API std::string json(const FitReport& report);
BTF_API std::string html(const FitReport& report, const PageOrigin& origin = {});

// Whose list it is.
enum class FitListForm : std::uint8_t {
  autocast,       // Model Optimizer's AutoCast: a regular expression a line, for nodes_to_exclude
  onnxconverter,  // onnxconverter-common: a JSON array, for node_block_list
  trtexec,        // options of trtexec 8 to 10
  polygraphy,     // options of `polygraphy convert` and `run`
  names,          // a name a line
  scales,         // a JSON object: a tensor's name, and its best scale
};

BTF_API std::span<const Named<FitListForm>> fit_list_forms();

// The list of one type's wide layers. An error: a name cannot be written in that form, or no layer
// was judged.
BTF_API Result<std::string> fit_list(const FitOfType& type, FitListForm form);

// Is it a list of tensors' scales, not of layers?
BTF_API bool lists_scales(FitListForm form);
// The list of one type's tensors that have a scale.
BTF_API Result<std::string> fit_list(const FitOfScales& type, FitListForm form);

}  // namespace btf
