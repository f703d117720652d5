#include "inspect/json.h"

#include <string>

#include "btf/value.h"
#include "inspect/statistics.h"

namespace btftool {

InspectJson::InspectJson(Output& out, const InspectOptions& options)
    : out_(out), options_(options) {
  document_.begin_object().members({{"schema", "btftool/inspect/1"}}).begin_list("files");
}

void InspectJson::begin(const btf::TensorFile& file) {
  btf_ = file.has(btf::kBtfCodes);
  document_.begin_object()
      .members({{"path", file.path()},
                {"format", file.format()},
                {"size", json_number(file.size())},
                {"compressed", file.compressed()}})
      .begin_list("tensors");
  tally_ = FindingTally(false);
  findings_ = Json::array();
}

// A file that could not be opened.
void InspectJson::unreadable(const std::string& path, const btf::Error& error) {
  const auto findings =
      error.finding.empty() ? Json::array() : Json::array({json_finding(error, std::nullopt)});
  document_.item({{"path", path},
                  {"error", error.message},
                  {"tensors", Json::array()},
                  {"findings", findings}});
}

void InspectJson::tensor(const btf::TensorInfo& tensor, const InspectDetails& details) {
  describe(tensor, details);
  document_.items(object_.end());
  out_.text(document_.take());
  // Byte 8 of a record is its dtype, byte 9 its layout.
  if (!tensor.foreign_reason.empty())
    take({btf::Severity::warning, "foreign-dtype", tensor.index, tensor.record_offset,
          tensor.foreign_reason});
  else if (!tensor.dtype)
    unknown(tensor, 8, "unknown-dtype", tensor.unknown_dtype_text());
  if (!tensor.layout)
    unknown(tensor, 9, "unknown-layout",
            "unknown layout code " + std::to_string(tensor.layout_code));
  // The dims begin at byte 16.
  if (const auto objection = btf_ ? tensorrt_limits(tensor) : std::nullopt)
    take({btf::Severity::warning, "tensorrt-limits", tensor.index, tensor.record_offset + 16,
          *objection});
}

void InspectJson::broken(const btf::Error& error, std::uint64_t tensor) {
  const std::string_view code = error.finding.empty() ? "unreadable" : error.finding;
  if (tally_.take({btf::Severity::error, code, tensor, error.offset, {}}))
    findings_.push_back(json_finding(error, tensor));
}

void InspectJson::odd(const btf::Error& error) {
  take({btf::Severity::warning, error.finding, std::nullopt, error.offset, error.message});
}

void InspectJson::take(const btf::Finding& finding) {
  if (tally_.take(finding)) findings_.push_back(json_finding(finding));
}

void InspectJson::end() {
  document_.end().members({{"findings", findings_},
                           {"codes", tally_.counts().codes()},
                           {"not_shown", json_number(tally_.counts().hidden())}});
  document_.end();
}

void InspectJson::close(const Json& members) {
  out_.line(document_.end().members(members).end().take());
}

void InspectJson::unknown(const btf::TensorInfo& tensor, std::uint64_t at, std::string_view code,
                          const std::string& what) {
  take({btf::Severity::error, code, tensor.index, tensor.record_offset + (btf_ ? at : 0), what});
}

void InspectJson::describe(const btf::TensorInfo& tensor, const InspectDetails& details) {
  JsonText& text = object_;
  text.begin();
  text.add("index", tensor.index);
  tensor.name.empty() && !tensor.named ? text.add_null("name")
                                       : text.add("name", Json(tensor.name));
  text.add("dtype", tensor.dtype ? btf::info(*tensor.dtype).name : "unknown");
  const bool foreign = !tensor.foreign_dtype.empty();
  foreign ? text.add_null("dtype_code").add("foreign_dtype", Json(tensor.foreign_dtype))
          : text.add("dtype_code", tensor.dtype_code);
  text.add("layout", tensor.layout ? btf::spec(*tensor.layout).name : "unknown")
      .add("layout_code", tensor.layout_code)
      .add("shape", tensor.dims);
  tensor.storage ? text.add("storage_shape", tensor.storage->storage_shape())
                 : text.add_null("storage_shape");
  const bool strided = tensor.storage && !btf::spec(*tensor.layout).shuffled();
  strided ? text.add("strides", tensor.storage->strides) : text.add_null("strides");
  text.add("record_offset", tensor.record_offset).add("data_offset", tensor.data_offset);
  tensor.known() || foreign ? text.add("data_bytes", tensor.data_bytes)
                            : text.add_null("data_bytes");
  tensor.coo ? text.add("nnz", tensor.coo->nnz) : text.add_null("nnz");
  text.add_bool("extension", btf_ && is_extension(tensor));
  if (tensor.deflated()) text.add_bool("deflated", true);
  if (tensor.layout && !btf::spec(*tensor.layout).dla.empty())
    text.add("dla", btf::spec(*tensor.layout).dla);
  if (options_.strides && strided) strides(tensor);
  if (details.stats) {
    Json stats = json_stats(*details.stats, *details.dtype);
    add_statistics(stats, *details.dtype, details);
    text.add("stats", stats);
  }
  if (details.values) text.add("values", details.values->json());
  if (details.at) text.add("at", at(details));
}

void InspectJson::strides(const btf::TensorInfo& tensor) {
  const btf::StridedLayout& storage = *tensor.storage;
  if (btf::info(*tensor.dtype).bits >= 8)
    object_.add("strides_bytes", byte_strides(tensor));
  else
    object_.add_null("strides_bytes");
  object_.add("strides_vectors", btf::tensorrt_strides(storage))
      .add("vectorized_dim", Json(storage.vectorized_dim))
      .add("components_per_element", storage.components);
}

Json InspectJson::at(const InspectDetails& details) {
  const btf::Element& element = details.element;
  Json json{{"index", json_dims(*details.at)},
            {"value", json_value(*details.dtype, element.code)},
            {"code", btf::code_text(*details.dtype, element.code)},
            {"offset", element.offset ? json_number(*element.offset) : Json(nullptr)}};
  if (btf::info(*details.dtype).bits < 8)
    json["nibble"] = !element.offset       ? Json(nullptr)
                     : element.high_nibble ? Json("high")
                                           : Json("low");
  return json;
}

}  // namespace btftool
