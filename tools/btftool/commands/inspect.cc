// btftool inspect: the contents of files. Headers only, unless values are requested.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btf/output.h"
#include "btf/report/inspect_page.h"
#include "btf/tensor_set.h"
#include "btf/tensorrt/engine_list.h"
#include "btf/try.h"
#include "commands/commands.h"
#include "commands/named_specs.h"
#include "inspect/details.h"
#include "inspect/engine.h"
#include "inspect/image.h"
#include "inspect/json.h"
#include "inspect/page.h"
#include "inspect/text.h"
#include "io/exit_code.h"
#include "io/index_warnings.h"
#include "io/other_files.h"
#include "io/page_origin.h"
#include "io/progress.h"

namespace btftool {
namespace {

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
      origin_ = page_origin(command_line("inspect", options.deciding, options.files));
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
    take_given_date(origin_);
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
    if (json_) json_->unreadable(path, context_.names.in(error));
    if (page_) page_->trouble(context_.names.in(error).text());
    if (unreadable_.pass()) context_.log.error(error);
    trouble_ = true;
  }

  void inspect(const std::string& path) {
    unreadable_ = {};
    const auto set = btf::TensorSet::open(path, options_.open);
    if (!set) return give_up(path, set.error());
    note_others(context_, *set);
    add_others(*set, others_);
    if (page_) origin_.add_inputs(*set);
    if (set->member_count() == 0) return give_up(path, btf::no_files(*set));
    if (options_.tensors)
      inspect_selected(*set);
    else
      inspect_all(*set);
    if (unreadable_.held_back() > 0)
      context_.log.error(fmt::format("{}: and {} more files", path, unreadable_.held_back()));
  }

  void inspect_all(const btf::TensorSet& set) {
    const auto copies = set.copies();
    for (std::uint64_t member = 0; member < set.member_count(); ++member) {
      std::vector<std::uint64_t> left_out;
      if (copies)
        for (const btf::SetTensor& copy : *copies)
          if (copy.member == member) left_out.push_back(copy.index);
      inspect_member(set, member, left_out);
    }
  }

  // `left_out`: copies of tensors that another file has.
  void inspect_member(const btf::TensorSet& set, std::uint64_t member,
                      const std::vector<std::uint64_t>& left_out) {
    const auto file = set.file(member);
    if (!file) return give_up(set.member(member).path, file.error());
    std::vector<std::string> warnings;
    add_warnings_of_index(set, member, warnings);
    for (const std::string& warning : warnings) context_.log.warning(warning);
    std::vector<std::uint64_t> shown;
    for (std::uint64_t i = 0; !left_out.empty() && i < (*file)->tensor_count(); ++i)
      if (!std::ranges::binary_search(left_out, i)) shown.push_back(i);
    left_out.empty() ? begin(**file, {}) : begin(**file, shown);
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i)
      if (!std::ranges::binary_search(left_out, i)) inspect(**file, i, true);
    if (const btf::Status complete = (*file)->check_complete(); !complete) {
      if (json_) json_->odd(context_.names.in(complete.error()));
      context_.log.warning(complete.error().text());
    }
    end(**file);
  }

  void inspect_selected(const btf::TensorSet& set) {
    const auto selection = set.select(*options_.tensors);
    if (!selection) return give_up(set.path(), selection.error());
    for (auto at = selection->begin(); at != selection->end();) {
      const auto first = set.tensor(*at);
      const auto file = first ? set.file(first->member) : std::unexpected(first.error());
      if (!file) return give_up(set.path(), file.error());
      // All of this file that are named one after the other.
      std::vector<std::uint64_t> indices;
      for (; at != selection->end(); ++at) {
        const auto tensor = set.tensor(*at);
        if (!tensor || tensor->member != first->member) break;
        indices.push_back(tensor->index);
      }
      begin(**file, indices);
      for (const std::uint64_t index : indices) inspect(**file, index, false);
      end(**file);
    }
  }

  // `tensors`: those that are shown; nothing: all.
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

  // `all`: the records are looked at together, so that overlap can be seen at no extra cost.
  void inspect(const btf::TensorFile& file, std::uint64_t index, bool all) {
    auto tensor = file.tensor(index);
    if (tensor) tensor->foreign_reason = context_.names.in(std::move(tensor->foreign_reason));
    btf::Status status;
    if (!tensor) status = std::unexpected(tensor.error());
    if (status && all) status = file.check_overlap(*tensor);
    if (!status) {
      if (json_) json_->broken(context_.names.in(status.error()), index);
      if (page_) page_->trouble(context_.names.in(status.error()).text());
      return complain(status.error());
    }
    auto details = read_details(file, *tensor, wanted_, execution_);
    progress_->clear();
    if (page_) {
      btf::TensorInfo looked_at = *tensor;
      if (details && details->dtype) looked_at.dtype = details->dtype;
      page_->take(looked_at, details ? page_details(*details)
                                   : btf::InspectedTensor{.trouble = details.error().message});
      if (details) keep_asked_for(*details, options_);
    }
    const InspectDetails none;
    const InspectDetails& shown = details ? *details : none;
    json_ ? json_->tensor(*tensor, shown) : text_.tensor(*tensor, shown);
    if (const auto objection = tensorrt_limits(*tensor); objection && warnings_.pass())
      context_.log.warning(fmt::format("{}: tensor {}: {}", file.path(), index, *objection));
    if (shown.no_channels) complain(file.about(index, *shown.no_channels));
    if (details) return;
    const btf::Error error = file.about(index, details.error());
    // An unknown dtype or layout is in the listing already; a bad --at is not an error in the file.
    if (json_ && !error.finding.empty()) json_->broken(context_.names.in(error), index);
    complain(error);
  }

  const Context& context_;
  const InspectOptions& options_;
  InspectOptions wanted_;  // with what the page needs
  InspectText text_;
  std::unique_ptr<InspectJson> json_;
  std::optional<btf::InspectPage> page_;
  btf::PageOrigin origin_;
  std::optional<Progress> progress_;  // of one file
  btf::Execution execution_;
  std::vector<std::string> others_;
  Limited unreadable_;  // of a set
  Limited errors_;      // of a file
  Limited warnings_;
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
  if (options.files.size() == 1 && !options.open.spec && btf::is_engine_list(options.files[0])) {
    if (options.html)
      return btf::fail(btf::ErrorCode::unsupported,
                       options.files[0] + ": a layer list has no data to make a page of");
    BTF_TRY(inspect_engine(context, options, options.files[0]));
    return kSame;
  }
  return Inspection(context, options).run();
}

}  // namespace btftool
