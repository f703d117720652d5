// btftool inspect: prints the contents of files. Reads only headers, unless values are requested.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/output.h"
#include "btf/picture.h"
#include "btf/report.h"
#include "btf/tensor_set.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "cli/arguments.h"
#include "cli/support.h"
#include "commands/commands.h"
#include "io/context.h"
#include "io/text.h"
#include "report/text/json.h"
#include "reports/inspect_details.h"
#include "reports/inspect_text.h"

namespace btftool {
namespace {

// The JSON document of inspect. It is written as it grows, so that a file with a million records
// does not need a million objects.
class InspectJson {
 public:
  InspectJson(Output& out, const InspectOptions& options);

  void begin(const btf::TensorFile& file);
  // Adds a file that could not be opened, in place of begin() and end().
  void unreadable(const std::string& path, const btf::Error& error);
  void tensor(const btf::TensorInfo& tensor, const InspectDetails& details);
  void broken(const btf::Error& error, std::uint64_t tensor);
  void warn(const btf::Error& error);  // about the file as a whole
  void end();                          // ends a file

  void close(const Json& members);

 private:
  void take(const btf::Finding& finding);
  void unknown(const btf::TensorInfo& tensor, std::uint64_t at, std::string_view code,
               const std::string& what);
  void describe(const btf::TensorInfo& tensor, const InspectDetails& details);
  void strides(const btf::TensorInfo& tensor);
  static Json at(const InspectDetails& details);

  Output& out_;
  const InspectOptions& options_;
  JsonDocument document_;
  bool btf_ = true;
  JsonText object_;            // reused for every tensor
  FindingTally tally_{false};  // of the current file
  Json findings_;              // the findings that are shown
};

btf::Result<btf::SetTensor> only_tensor(const btf::TensorSet& set, const InspectOptions& options) {
  if (set.member_count() == 0) return std::unexpected(btf::no_files(set));
  std::vector<std::uint64_t> chosen{0};
  std::uint64_t count = 0;
  if (options.tensors) {
    BTF_ASSIGN(chosen, set.select(*options.tensors));
    count = chosen.size();
  } else {
    BTF_ASSIGN(count, set.tensor_count());
  }
  if (count != 1)
    return btf::fail(
        btf::ErrorCode::invalid_argument,
        fmt::format("--image draws one tensor, but there are {}: select one by --tensor", count));
  return set.tensor(chosen.front());
}

// "10 x 10 tiles of [5, 7]; colours from -1 to 3.5; 2 NaN magenta, 1 Inf red, 1 -Inf cyan"
std::string facts_text(const btf::PictureFacts& facts, bool own) {
  std::string text;
  if (facts.tiles > 1)
    text += fmt::format("{} tiles, {} side by side, of ", facts.tiles, facts.across);
  text += fmt::format("{} x {} elements", facts.rows, facts.columns);
  text += own ? "; a colour scale for each tile"
              : fmt::format("; colours from {} to {}", short_number(facts.least),
                            short_number(facts.greatest));
  return text + specials_text(facts);
}

btf::Result<int> inspect_image(const Context& context, const InspectOptions& options) {
  const PictureCommand& command = options.image;
  const PictureTarget target(command);
  BTF_TRY(target.check());
  BTF_ASSIGN(const btf::TensorSet set, btf::TensorSet::open(options.files, options.open));
  BTF_ASSIGN(const btf::SetTensor chosen, only_tensor(set, options));
  BTF_ASSIGN(const auto file, set.file(chosen.member));
  BTF_ASSIGN(const btf::TensorInfo tensor, file->tensor(chosen.index));
  BTF_TRY(file->check_overlap(tensor));
  btf::PictureOptions draw = target.draw_options();
  draw.execution = context.global.execution();
  draw.execution.cancel = &watch_interrupts();
  if (options.at) {
    BTF_ASSIGN(draw.part, parse_slice(*options.at));
  }
  BTF_ASSIGN(const btf::DrawnTensor drawn, btf::draw(*file, tensor, draw));
  BTF_TRY(file->check_unchanged());

  BTF_TRY(target.write(drawn.picture, context.out));
  if (context.global.quiet || target.takes_output()) return kSame;
  context.out.line(fmt::format("{}: tensor {}{}: {} of {}: {}", printable(file->path()),
                               tensor.index, tensor.named ? " " + quoted_name(tensor.name) : "",
                               drawn.facts.part, btf::dims_text(tensor.dims),
                               facts_text(drawn.facts, draw.scale == btf::PictureScale::own)));
  return kSame;
}

constexpr std::uint32_t kBins = 32;

// Adds what the HTML page needs: statistics, a histogram and channels.
InspectOptions for_page(InspectOptions options) {
  btf::DistributionOptions& asked = options.distribution;
  if (options.stats && asked.bins == 0 && asked.percentiles.empty())
    asked.percentiles = *parse_percentiles(kPercentilesShown);
  options.stats = true;
  if (options.distribution.bins == 0) options.distribution.bins = kBins;
  if (!options.by_axis) options.by_axis = "C";
  return options;
}

btf::InspectedTensor page_details(const InspectDetails& details) {
  return {.number = {},
          .stats = details.stats,
          .distribution = details.distribution,
          .channels = details.channels,
          .trouble = {}};
}

// Removes what was only read because of for_page().
void remove_page_details(InspectDetails& details, const InspectOptions& options) {
  if (!options.stats) details.stats.reset();
  if (!options.stats) details.distribution.reset();
  if (options.by_axis) return;
  details.channels.reset();
  details.no_channels.reset();
}

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

void InspectJson::warn(const btf::Error& error) {
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
  if (!btf::info(*tensor.dtype).half_byte())
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
  if (btf::info(*details.dtype).half_byte())
    json["nibble"] = !element.offset       ? Json(nullptr)
                     : element.high_nibble ? Json("high")
                                           : Json("low");
  return json;
}

class Inspection {
 public:
  Inspection(const Context& context, const InspectOptions& options)
      : context_(context),
        options_(options),
        wanted_(options.html ? for_page(options) : options),
        text_(context.out, options) {
    if (options.json) json_ = std::make_unique<InspectJson>(context.out, options);
    if (options.html) {
      page_.emplace();
      origin_ = page_origin(command_line("inspect", options.result_options, options.files));
    }
  }

  int run() {
    for (const std::string& path : options_.files) inspect(path);
    write_page();
    if (json_) json_->close(json_others(others_));
    return trouble_ ? kTrouble : kSame;
  }

 private:
  void write_page() {
    if (!page_) return;
    const std::string& first = options_.files.front();
    const std::string title = options_.files.size() == 1
                                  ? first
                                  : fmt::format("{} and {} more", first, options_.files.size() - 1);
    set_date_from_environment(origin_);
    if (const btf::Status done = btf::write_text(*options_.html, page_->finish(title, origin_));
        !done) {
      context_.log.error(done.error());
      trouble_ = true;
    }
  }

  void complain(const btf::Error& error) {
    if (errors_.pass()) context_.log.error(error);
    trouble_ = true;
  }

  void give_up(const std::string& path, const btf::Error& error) {
    if (json_) json_->unreadable(path, context_.names.translate(error));
    if (page_) page_->trouble(context_.names.translate(error).text());
    if (unreadable_.pass()) context_.log.error(error);
    trouble_ = true;
  }

  void inspect(const std::string& path) {
    unreadable_ = {};
    const auto set = btf::TensorSet::open(path, options_.open);
    if (!set) return give_up(path, set.error());
    note_others(context_, *set);
    add_others(*set, others_);
    if (set->member_count() == 0) return give_up(path, btf::no_files(*set));
    if (options_.tensors)
      inspect_selected(*set);
    else
      inspect_all(*set);
    if (page_)
      if (const btf::Status dated = origin_.add_inputs(*set); !dated) give_up(path, dated.error());
    if (unreadable_.held_back() > 0)
      context_.log.error(fmt::format("{}: and {} more files", path, unreadable_.held_back()));
  }

  void inspect_all(const btf::TensorSet& set) {
    const auto copies = set.copies();
    if (!copies) give_up(set.path(), copies.error());
    std::uint64_t first = 0;  // number of the first tensor of the member
    for (std::uint64_t member = 0; member < set.member_count(); ++member) {
      std::vector<std::uint64_t> left_out;
      if (copies)
        for (const btf::SetTensor& copy : *copies)
          if (copy.member == member) left_out.push_back(copy.index);
      first += inspect_member(set, member, first, left_out);
    }
  }

  // `left_out` are the tensors that are copies of tensors in another file. Returns how many tensors
  // there are.
  std::uint64_t inspect_member(const btf::TensorSet& set, std::uint64_t member, std::uint64_t first,
                               const std::vector<std::uint64_t>& left_out) {
    const auto file = set.file(member);
    if (!file) {
      give_up(set.member(member).path, file.error());
      return 0;
    }
    std::vector<std::string> warnings;
    add_warnings_of_index(set, member, warnings);
    for (const std::string& warning : warnings) context_.log.warning(warning);
    std::vector<std::uint64_t> shown;
    for (std::uint64_t i = 0; !left_out.empty() && i < (*file)->tensor_count(); ++i)
      if (!std::ranges::binary_search(left_out, i)) shown.push_back(i);
    left_out.empty() ? begin(**file, {}) : begin(**file, shown);
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i)
      if (!std::ranges::binary_search(left_out, i)) inspect(**file, i, first + i, true);
    if (const btf::Status complete = (*file)->check_complete(); !complete) {
      if (json_) json_->warn(context_.names.translate(complete.error()));
      context_.log.warning(complete.error().text());
    }
    end(**file);
    return (*file)->tensor_count();
  }

  void inspect_selected(const btf::TensorSet& set) {
    const auto selection = set.select(*options_.tensors);
    if (!selection) return give_up(set.path(), selection.error());
    for (auto at = selection->begin(); at != selection->end();) {
      const auto first = set.tensor(*at);
      const auto file = first ? set.file(first->member) : std::unexpected(first.error());
      if (!file) return give_up(set.path(), file.error());
      // The run of selected tensors that are in this file.
      std::vector<std::uint64_t> indices;
      for (; at != selection->end(); ++at) {
        const auto tensor = set.tensor(*at);
        if (!tensor || tensor->member != first->member) break;
        indices.push_back(tensor->index);
      }
      begin(**file, indices);
      for (std::size_t i = 0; i < indices.size(); ++i)
        inspect(**file, indices[i], *(at - static_cast<std::ptrdiff_t>(indices.size() - i)), false);
      end(**file);
    }
  }

  // `tensors` are those that are shown; all if unset.
  void begin(const btf::TensorFile& file,
             const std::optional<std::vector<std::uint64_t>>& tensors) {
    errors_ = {};
    warnings_ = {};
    execution_ = context_.global.execution();
    progress_.emplace(context_.global, file.size());
    progress_->attach(execution_);
    if (json_)
      json_->begin(file);
    else if (const btf::Status status = text_.begin(file, tensors); !status)
      complain(status.error());
    if (page_) page_->begin(file);
  }

  void end(const btf::TensorFile& file) {
    if (errors_.held_back() > 0)
      context_.log.error(fmt::format("{}: and {} more errors", file.path(), errors_.held_back()));
    if (warnings_.held_back() > 0)
      context_.log.warning(fmt::format("{}: and {} more", file.path(), warnings_.held_back()));
    if (json_) json_->end();
  }

  // `number` is that in the set. If `all` is set, every record of the file is inspected, so overlaps
  // can be found at no extra cost.
  void inspect(const btf::TensorFile& file, std::uint64_t index, std::uint64_t number, bool all) {
    auto tensor = file.tensor(index);
    if (tensor)
      tensor->foreign_reason = context_.names.translate(std::move(tensor->foreign_reason));
    btf::Status status;
    if (!tensor) status = std::unexpected(tensor.error());
    if (status && all) status = file.check_overlap(*tensor);
    if (!status) {
      if (json_) json_->broken(context_.names.translate(status.error()), index);
      if (page_) page_->trouble(context_.names.translate(status.error()).text());
      return complain(status.error());
    }
    auto details = read_details(file, *tensor, wanted_, execution_);
    progress_->clear();
    if (page_) {
      btf::TensorInfo looked_at = *tensor;
      if (details && details->dtype) looked_at.dtype = details->dtype;
      btf::InspectedTensor known = details ? page_details(*details) : btf::InspectedTensor{};
      if (!details) known.trouble = details.error().message;
      known.number = number;
      page_->take(looked_at, known);
      if (details) remove_page_details(*details, options_);
    }
    const InspectDetails none;
    const InspectDetails& shown = details ? *details : none;
    json_ ? json_->tensor(*tensor, shown) : text_.tensor(*tensor, shown);
    if (const auto objection = tensorrt_limits(*tensor); objection && warnings_.pass())
      context_.log.warning(fmt::format("{}: tensor {}: {}", file.path(), index, *objection));
    if (shown.no_channels) complain(file.about(index, *shown.no_channels));
    if (details) return;
    const btf::Error error = file.about(index, details.error());
    // An unknown dtype or layout is in the listing already, and a bad --at is no error of the file.
    if (json_ && !error.finding.empty()) json_->broken(context_.names.translate(error), index);
    complain(error);
  }

  const Context& context_;
  const InspectOptions& options_;
  InspectOptions wanted_;  // options_, and what the page needs
  InspectText text_;
  std::unique_ptr<InspectJson> json_;
  std::optional<btf::InspectPage> page_;
  btf::PageOrigin origin_;
  std::optional<Progress> progress_;  // of the current file
  btf::Execution execution_;
  std::vector<std::string> others_;
  MessageLimit unreadable_;  // per operand
  MessageLimit errors_;      // per file
  MessageLimit warnings_;
  bool trouble_ = false;
};

btf::Result<int> write_manifest(const Context& context, const InspectOptions& options) {
  BTF_ASSIGN(const btf::TensorSet set, btf::TensorSet::open(options.files, options.open));
  note_others(context, set);
  std::optional<std::vector<std::uint64_t>> tensors;
  if (options.tensors) {
    BTF_ASSIGN(tensors, set.select(*options.tensors));
  }
  BTF_ASSIGN(const std::string text, set.manifest(tensors));
  context.out.text(text);
  return kSame;
}

}  // namespace

btf::Result<int> run_inspect(const Context& context, const InspectOptions& options) {
  if (options.manifest) return write_manifest(context, options);
  BTF_TRY(check_named_specs(options.files, options.open));
  if (options.image.path) return inspect_image(context, options);
  if (options.html) {
    BTF_TRY(btf::check_output(*options.html));
  }
  if (options.files.size() == 1 && !options.open.spec) {
    BTF_ASSIGN(const bool engine, btf::is_engine_list(options.files[0]));
    if (engine && options.html)
      return btf::fail(btf::ErrorCode::unsupported,
                       options.files[0] + ": a layer list has no data for an HTML page");
    if (engine) {
      BTF_TRY(inspect_engine(context, options, options.files[0]));
      return kSame;
    }
  }
  return Inspection(context, options).run();
}

}  // namespace btftool
