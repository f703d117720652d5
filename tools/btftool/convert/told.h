// The words for one converted tensor, worked out of its report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "cli/options.h"
#include "io/json.h"
#include "report/text/json_node.h"

namespace btftool {

// What a tensor lost, for totals.
struct TensorLoss {
  std::string title{};  // "tensor 5 'fc1.weight'"
  std::string cast{};   // "float32 -> float16"
  btf::LossAccount account{};
  std::uint64_t sign_lost = 0;  // as many at most
  std::optional<double> snr{};
  bool sampled = false;  // the snr is that of a few of its elements

  // Numbers that are gone, not only rounded: beyond the range, NaN where there is none, signs.
  bool harmed() const {
    return account.overflowed > 0 || account.nan_lost > 0 || sign_lost > 0;
  }
};

// Texts without the limits on how many of a kind are shown. None: there is nothing to say.
struct ToldTensor {
  std::optional<std::string> raw{};     // what its file of raw bytes holds
  std::optional<std::string> ending{};  // path of its file, if that ends as no format does
  std::vector<std::string> warnings{};
  std::optional<std::string> alarm{};  // a large part is lost
  std::optional<std::string> numpy{};  // a dtype that only a package adds to NumPy
  std::optional<std::string> dense{};  // title, where it was sparse and nobody asked for dense
  std::optional<std::string> scale{};  // that was found
  std::optional<std::string> loss{};    // what matters
  std::optional<std::string> losses{};  // all of it
  TensorLoss lost{};
  Json json{};  // of the document
};

// `named`: messages say the names of tensors.
ToldTensor told(const btf::TensorReport& report, const ConvertCommand& command, bool named);

// As a part keeps it.
Json json_told(const ToldTensor& tensor);
// `node`: of `json`; what is wrong with it is told there. `scaled`: by options of scales.
ToldTensor read_told(const Json& json, const JsonNode& node, bool scaled);

}  // namespace btftool
