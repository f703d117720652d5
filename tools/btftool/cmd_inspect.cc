// btftool inspect: what is in a file. Headers only, unless values are asked for.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arguments.h"
#include "btf/element.h"
#include "btf/file.h"
#include "btf/stats.h"
#include "btf/value.h"
#include "commands.h"
#include "exit_code.h"
#include "json.h"
#include "text.h"
#include "values.h"

namespace btftool {
namespace {

// What was asked for beyond the header of one tensor.
struct Details {
  std::optional<btf::TensorStats> stats;
  std::optional<ValueView> values;
  std::optional<btf::Dims> at;
  btf::Element element;
};

btf::Result<Details> read_details(const btf::TensorFile& file, const btf::TensorInfo& tensor,
                                  const InspectOptions& options) {
  Details details;
  if (options.at || options.values || options.stats) {
    if (!tensor.known())
      return btf::fail(btf::ErrorCode::unsupported,
                       tensor.dtype ? "unknown layout code " + std::to_string(tensor.layout_code)
                                    : "unknown dtype code " + std::to_string(tensor.dtype_code));
  }
  if (options.stats) {
    auto stats = btf::stats(file, tensor);
    if (!stats) return std::unexpected(stats.error());
    details.stats = *std::move(stats);
  }
  if (options.values) {
    auto slice = parse_slice(options.slice.value_or(""), tensor.dims);
    if (!slice) return std::unexpected(slice.error());
    auto values = ValueView::read(file, tensor, *std::move(slice), *options.values);
    if (!values) return std::unexpected(values.error());
    details.values = *std::move(values);
  }
  if (options.at) {
    const auto index = parse_index(*options.at, tensor.dims);
    if (!index) return std::unexpected(index.error());
    const auto element = btf::read_elements(file, tensor, std::span(&*index, 1));
    if (!element) return std::unexpected(element.error());
    details.at = *index;
    details.element = element->front();
  }
  return details;
}

std::string dtype_name(const btf::TensorInfo& tensor) {
  return tensor.dtype ? std::string(btf::info(*tensor.dtype).name)
                      : "unknown(" + std::to_string(tensor.dtype_code) + ")";
}

std::string layout_name(const btf::TensorInfo& tensor) {
  if (!tensor.layout) return "unknown(" + std::to_string(tensor.layout_code) + ")";
  return std::string(btf::spec(*tensor.layout).name);
}

bool is_extension(const btf::TensorInfo& tensor) {
  return tensor.dtype_code >= 128 || tensor.layout_code >= 128;
}

// Strides in bytes of the stored array, innermost first, as NvMedia counts them.
btf::Dims byte_strides(const btf::TensorInfo& tensor) {
  btf::Dims strides;
  for (const btf::StorageAxis& axis : tensor.storage->storage)
    strides.push_back(axis.stride * btf::info(*tensor.dtype).bits / 8);
  std::ranges::reverse(strides);
  return strides;
}

class TextReport {
 public:
  TextReport(Output& out, const InspectOptions& options) : out_(out), options_(options) {}

  void begin(const btf::TensorFile& file) {
    btf_ = file.format() == "btf";
    out_.line(fmt::format("{}: {}, {}, {}", printable(file.path()), file.format_title(),
                          counted(file.tensor_count(), "tensor"), counted(file.size(), "byte")));
    width_ = std::max<std::size_t>(2, std::to_string(file.tensor_count()).size());
    if (file.tensor_count() > 0)
      out_.line(fmt::format("{:>{}}  {:<14}  {:<12}  {:<22}  {:>12}  {:>12}", "#", width_, "dtype",
                            "layout", "shape", "bytes", "offset"));
  }

  void tensor(const btf::TensorInfo& tensor, const Details& details) {
    std::string line =
        fmt::format("{:>{}}  {:<14}  {:<12}  {:<22}  {:>12}  {:>12}", tensor.index, width_,
                    dtype_name(tensor), layout_name(tensor), btf::dims_text(tensor.dims),
                    tensor.known() ? std::to_string(tensor.data_bytes) : "?", tensor.record_offset);
    if (tensor.coo) line += fmt::format("  nnz {}", tensor.coo->nnz);
    if (tensor.layout && !btf::spec(*tensor.layout).dla.empty())
      line += "  " + std::string(btf::spec(*tensor.layout).dla);
    if (btf_ && is_extension(tensor)) line += "  extension";
    out_.line(line);
    if (options_.strides) strides(tensor);
    if (details.stats) stats(*details.stats, *tensor.dtype);
    if (details.at) at(tensor, details);
    if (details.values) values(details.values->text());
  }

 private:
  void detail(std::string_view label, const std::string& text) {
    out_.line(fmt::format("{:>{}}  {:<10} {}", "", width_, label, text));
  }

  void strides(const btf::TensorInfo& tensor) {
    if (!tensor.known()) return detail("strides", "none: the dtype or the layout is unknown");
    if (!tensor.storage) return detail("strides", "none: the tensor is not dense");
    const btf::Resolved& storage = *tensor.storage;
    detail("stored as", btf::dims_text(storage.storage_shape()));
    detail("strides",
           btf::dims_text(storage.strides) + " elements, outermost first" +
               (storage.split ? ", the vectorised dim from block to block" : " (DLPack)"));
    if (btf::info(*tensor.dtype).bits >= 8)
      detail("", btf::dims_text(byte_strides(tensor)) + " bytes, innermost first (NvMedia)");
    detail("", storage.vectorized_dim < 0
                   ? "not vectorised (TensorRT)"
                   : fmt::format("{} vectors, vectorised dim {}, {} components per element "
                                 "(TensorRT)",
                                 btf::dims_text(btf::tensorrt_strides(storage)),
                                 storage.vectorized_dim, storage.components));
  }

  void stats(const btf::TensorStats& stats, btf::DType dtype) {
    const auto extreme = [&](const std::optional<btf::Extreme>& e) {
      return e ? btf::value_text(dtype, e->code) + " at " + btf::dims_text(e->index) : "none";
    };
    const auto number = [](const std::optional<double>& x) {
      return x ? btf::number_text(*x) : "none";
    };
    detail("min", extreme(stats.min));
    detail("max", extreme(stats.max));
    detail("mean", number(stats.mean));
    detail("std", number(stats.std));
    detail("counts", fmt::format("{} elements, {} finite, {} zero, {} subnormal", stats.elements,
                                 stats.finite, stats.zeros, stats.subnormals));
    std::string nan = std::to_string(stats.nan);
    if (stats.first_nan) nan += ", the first at " + btf::dims_text(*stats.first_nan);
    detail("NaN", nan);
    detail("Inf", fmt::format("{} +Inf, {} -Inf", stats.positive_inf, stats.negative_inf));
  }

  void at(const btf::TensorInfo& tensor, const Details& details) {
    const btf::Element& element = details.element;
    std::string where = "not stored";
    if (element.offset)
      where = fmt::format("byte {}{}", *element.offset,
                          btf::info(*tensor.dtype).bits >= 8 ? ""
                          : element.high_nibble              ? ", high nibble"
                                                             : ", low nibble");
    detail("at " + btf::dims_text(*details.at),
           btf::value_text(*tensor.dtype, element.code) + "  " +
               btf::code_text(*tensor.dtype, element.code) + "  " + where);
  }

  void values(const std::string& text) {
    std::size_t begin = 0;
    while (begin <= text.size()) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      out_.line(line.empty() ? "" : std::string(width_ + 2, ' ') + line);
      begin = end + 1;
    }
  }

  Output& out_;
  const InspectOptions& options_;
  std::size_t width_ = 2;
  bool btf_ = true;
};

// The document is written as it grows: a file of a million records needs no million objects.
class JsonReport {
 public:
  JsonReport(Output& out, const InspectOptions& options) : out_(out), options_(options) {
    out_.text("{\"schema\":\"btftool/inspect/1\",\"files\":[");
  }

  void begin(const btf::TensorFile& file) {
    out_.text(first_file_ ? "" : ",");
    first_file_ = false;
    btf_ = file.format() == "btf";
    const std::string head = dump({{"path", file.path()},
                                   {"format", file.format()},
                                   {"size", json_number(file.size())},
                                   {"compressed", file.compressed()}});
    out_.text(head.substr(0, head.size() - 1) + ",\"tensors\":[");
    first_tensor_ = true;
    findings_ = Json::array();
  }

  // A file that could not be opened.
  void unreadable(const std::string& path, const btf::Error& error) {
    out_.text(first_file_ ? "" : ",");
    first_file_ = false;
    out_.text(dump(
        {{"path", path},
         {"error", error.message},
         {"tensors", Json::array()},
         {"findings", error.finding.empty() ? Json::array()
                                            : Json::array({json_finding(error, std::nullopt)})}}));
  }

  void tensor(const btf::TensorInfo& tensor, const Details& details) {
    out_.text(first_tensor_ ? "" : ",");
    first_tensor_ = false;
    out_.text(dump(describe(tensor, details)));
    // Byte 8 of a record is its dtype, byte 9 its layout.
    if (!tensor.dtype) unknown(tensor, 8, "unknown-dtype", "dtype", tensor.dtype_code);
    if (!tensor.layout) unknown(tensor, 9, "unknown-layout", "layout", tensor.layout_code);
  }

  void broken(const btf::Error& error, std::uint64_t tensor) {
    findings_.push_back(json_finding(error, tensor));
  }

  void end() { out_.text("],\"findings\":" + dump(findings_) + "}"); }

  void close() { out_.line("]}"); }

 private:
  void unknown(const btf::TensorInfo& tensor, std::uint64_t at, std::string_view code,
               const std::string& what, std::uint8_t number) {
    findings_.push_back(json_finding(
        btf::Finding{btf::Severity::error, code, tensor.index, tensor.record_offset + at,
                     "unknown " + what + " code " + std::to_string(number)}));
  }

  Json describe(const btf::TensorInfo& tensor, const Details& details) const {
    Json json{{"index", json_number(tensor.index)},
              {"name", tensor.name.empty() ? Json(nullptr) : Json(tensor.name)},
              {"dtype", tensor.dtype ? Json(btf::info(*tensor.dtype).name) : Json("unknown")},
              {"dtype_code", tensor.dtype_code},
              {"layout", "unknown"},
              {"layout_code", tensor.layout_code},
              {"shape", json_dims(tensor.dims)},
              {"storage_shape", nullptr},
              {"strides", nullptr},
              {"record_offset", json_number(tensor.record_offset)},
              {"data_offset", json_number(tensor.data_offset)},
              {"data_bytes", tensor.known() ? json_number(tensor.data_bytes) : Json(nullptr)},
              {"nnz", tensor.coo ? json_number(tensor.coo->nnz) : Json(nullptr)},
              {"extension", btf_ && is_extension(tensor)}};
    if (tensor.layout) add_layout(json, "", *tensor.layout);
    if (tensor.storage) {
      json["storage_shape"] = json_dims(tensor.storage->storage_shape());
      json["strides"] = json_dims(tensor.storage->strides);
      if (options_.strides) {
        const bool bytes = btf::info(*tensor.dtype).bits >= 8;
        json["strides_bytes"] = bytes ? json_dims(byte_strides(tensor)) : Json(nullptr);
        json["strides_vectors"] = json_dims(btf::tensorrt_strides(*tensor.storage));
        json["vectorized_dim"] = tensor.storage->vectorized_dim;
        json["components_per_element"] = json_number(tensor.storage->components);
      }
    }
    if (details.stats) json["stats"] = json_stats(*details.stats, *tensor.dtype);
    if (details.values) json["values"] = details.values->json();
    if (details.at) json["at"] = at(tensor, details);
    return json;
  }

  static Json at(const btf::TensorInfo& tensor, const Details& details) {
    const btf::Element& element = details.element;
    Json json{{"index", json_dims(*details.at)},
              {"value", json_value(*tensor.dtype, element.code)},
              {"code", btf::code_text(*tensor.dtype, element.code)},
              {"offset", element.offset ? json_number(*element.offset) : Json(nullptr)}};
    if (btf::info(*tensor.dtype).bits < 8)
      json["nibble"] = !element.offset       ? Json(nullptr)
                       : element.high_nibble ? Json("high")
                                             : Json("low");
    return json;
  }

  Output& out_;
  const InspectOptions& options_;
  bool first_file_ = true;
  bool first_tensor_ = true;
  bool btf_ = true;
  Json findings_;
};

class Inspection {
 public:
  Inspection(const Context& context, const InspectOptions& options)
      : context_(context), options_(options), text_(context.out, options) {
    if (options.json) json_ = std::make_unique<JsonReport>(context.out, options);
  }

  int run() {
    for (const std::string& path : options_.files) inspect(path);
    if (json_) json_->close();
    return trouble_ ? kTrouble : kSame;
  }

 private:
  void complain(const btf::Error& error) {
    if (errors_.pass()) context_.log.error(error);
    trouble_ = true;
  }

  void give_up(const std::string& path, const btf::Error& error) {
    if (json_) json_->unreadable(path, error);
    complain(error);
  }

  void inspect(const std::string& path) {
    errors_ = {};
    const auto file = btf::TensorFile::open(path, options_.open);
    if (!file) return give_up(path, file.error());
    std::optional<std::vector<std::uint64_t>> selection;
    if (options_.tensors) {
      auto parsed = parse_selection(*options_.tensors, file->tensor_count());
      if (!parsed) return give_up(path, parsed.error().in_file(path));
      selection = *std::move(parsed);
    }
    json_ ? json_->begin(*file) : text_.begin(*file);
    const std::uint64_t count = selection ? selection->size() : file->tensor_count();
    for (std::uint64_t i = 0; i < count; ++i)
      inspect(*file, selection ? (*selection)[i] : i, !selection);
    if (errors_.held_back() > 0)
      context_.log.error(fmt::format("{}: and {} more errors", path, errors_.held_back()));
    if (json_) json_->end();
  }

  // `all`: the records are looked at together, so that overlap can be seen at no extra cost.
  void inspect(const btf::TensorFile& file, std::uint64_t index, bool all) {
    const auto tensor = file.tensor(index);
    btf::Status status;
    if (!tensor) status = std::unexpected(tensor.error());
    if (status && all) status = file.check_overlap(index);
    if (!status) {
      if (json_) json_->broken(status.error(), index);
      return complain(status.error());
    }
    const auto details = read_details(file, *tensor, options_);
    const Details none;
    const Details& shown = details ? *details : none;
    json_ ? json_->tensor(*tensor, shown) : text_.tensor(*tensor, shown);
    if (details) return;
    const btf::Error error =
        details.error().file.empty()
            ? details.error().within("tensor " + std::to_string(index)).in_file(file.path())
            : details.error();
    // Of an unknown dtype or layout the listing has told already; a bad --at is not the file's.
    if (json_ && !error.finding.empty()) json_->broken(error, index);
    complain(error);
  }

  const Context& context_;
  const InspectOptions& options_;
  TextReport text_;
  std::unique_ptr<JsonReport> json_;
  Limited errors_;
  bool trouble_ = false;
};

}  // namespace

btf::Result<int> run_inspect(const Context& context, const InspectOptions& options) {
  return Inspection(context, options).run();
}

}  // namespace btftool
