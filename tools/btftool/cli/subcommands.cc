#include "cli/subcommands.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "btf/words/did_you_mean.h"
#include "cli/arguments.h"
#include "cli/convert.h"
#include "cli/diff.h"
#include "cli/layers.h"
#include "cli/shards.h"
#include "cli/spec.h"
#include "help/completion.h"
#include "help/declared.h"

namespace btftool {
namespace {

CLI::App& add_subcommand(CLI::App& parent, const char* name, const char* help) {
  CLI::App* const app = parent.add_subcommand(name, help);
  app->fallthrough();
  return *app;
}

class InspectArguments final : public Subcommand {
 public:
  explicit InspectArguments(CLI::App& parent)
      : Subcommand(parent, "inspect", "list tensors; statistics, values") {
    declare_operands("FILE...", "files to inspect; - is stdin");
    declare_inspect(app(), options_);
    add_input_spec(app(), spec_);
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw Wrong("missing operand FILE");
    finish_inspect(app(), options_, operands_);
    options_.open = spec_.finish("--input-spec");
    return options_;
  }

 private:
  InspectOptions options_;
  SpecWords spec_;
};

class ConvertArguments final : public Subcommand {
 public:
  explicit ConvertArguments(CLI::App& parent)
      : Subcommand(parent, "convert", "change layout, dtype, sparsity; select tensors") {
    declare_operands(
        "IN... OUT",
        "files or directories, and the output; - is stdin or stdout; OUT may be an IN");
    declare_output(output_);
    declare_convert(app(), command_, words_);
  }

  Command finish(const GlobalOptions& global) override {
    if (output_) operands_.push_back(*output_);
    if (operands_.size() < 2) expect({"IN", "OUT"});
    command_.output = operands_.back();
    command_.output_said = output_.has_value();
    operands_.pop_back();
    command_.inputs = operands_;
    finish_convert(app(), words_, command_);
    finish_part(app(), operands_, {"--json"}, command_.part);
    if (command_.part && !command_.many_outputs)
      throw Wrong("--part needs an OUT that gets a file for each of several: 'dir/', not '" +
                  command_.output + "'");
    command_.convert.execution = global.execution();
    return command_;
  }

 private:
  ConvertCommand command_;
  ConvertWords words_;
  std::optional<std::string> output_;
};

class DiffArguments final : public Subcommand {
 public:
  explicit DiffArguments(CLI::App& parent)
      : Subcommand(parent, "diff", "compare within a tolerance; where and why they differ") {
    declare_operands("ACTUAL GOLDEN", "the file to judge and the reference");
    declare_diff(app(), command_);
    add_diff_specs(app(), specs_, "What is compared");
  }

  Command finish(const GlobalOptions& global) override {
    if (!command_.from_json) expect({"ACTUAL", "GOLDEN"});
    finish_diff(app(), command_, operands_);
    specs_.finish(command_);
    command_.open_actual.listed = command_.open_golden.listed = command_.listed;
    command_.diff.execution = global.execution();
    return command_;
  }

 private:
  DiffCommand command_;
  DiffSpecWords specs_;
};

class ValidateArguments final : public Subcommand {
 public:
  explicit ValidateArguments(CLI::App& parent)
      : Subcommand(parent, "validate", "check whether files are well-formed") {
    declare_operands("FILE...", "files to check; - is stdin");
    app().add_flag("--strict", options_.strict, "warnings count as errors");
    app().add_flag("--nan", options_.checks.finite, "NaN and Inf among the elements are errors");
    add_recipient(app(), options_.checks.recipient,
                  "data that this program cannot read is an error");
    app().add_flag("--all", options_.all, "every finding, without a limit");
    app().add_flag("--json", options_.json, "print one JSON document");
    add_files_from(app(), options_.listed,
                   "of directories: these files, a line for each, in place of\nall; - is stdin");
    add_input_spec(app(), spec_);
    declare_part(app(), options_.part);
    app().footer(
        "Exit status: 0 well-formed, 1 not well-formed, 2 trouble.\n"
        "Examples:\n"
        "  btftool validate model.btf\n"
        "  btftool validate --strict --nan --for tfrt dumps/");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw Wrong("missing operand FILE");
    options_.files = operands_;
    options_.open = spec_.finish("--input-spec");
    options_.open.listed = options_.listed;
    finish_part(app(), operands_, {"--json"}, options_.part);
    return options_;
  }

 private:
  ValidateOptions options_;
  SpecWords spec_;
};

class LayersArguments final : public Subcommand {
 public:
  explicit LayersArguments(CLI::App& parent)
      : Subcommand(parent, "layers",
                   "compare two sets of dumped layers: which broke first, and why") {
    declare_operands("ACTUAL GOLDEN",
                     "files or directories of tensors: to judge, and the reference");
    declare_layers(app(), command_);
    add_layers_specs(app(), actual_spec_, golden_spec_, "What is compared");
  }

  Command finish(const GlobalOptions& global) override {
    if (!command_.from_json) expect({"ACTUAL", "GOLDEN"});
    finish_layers(app(), command_, operands_);
    // Dims of an engine's tensors go with the side that has one.
    if (names_engine(golden_spec_)) {
      golden_spec_.shapes = actual_spec_.shapes;
      if (!names_engine(actual_spec_)) actual_spec_.shapes.clear();
    }
    btf::SetDiffSide& actual = command_.layers.actual;
    btf::SetDiffSide& golden = command_.layers.golden;
    actual_spec_.finish_layers("--actual-spec", command_.open_actual, actual.specs);
    golden_spec_.finish_layers("--golden-spec", command_.open_golden, golden.specs);
    command_.open_actual.listed = command_.open_golden.listed = command_.listed;
    actual.open = command_.open_actual;
    golden.open = command_.open_golden;
    command_.layers.execution = global.execution();
    return command_;
  }

 private:
  LayersCommand command_;
  SpecWords actual_spec_;
  SpecWords golden_spec_;
};

class FitArguments final : public Subcommand {
 public:
  explicit FitArguments(CLI::App& parent)
      : Subcommand(parent, "fit",
                   "which layers fit fp16 or bf16, and which scales int8 or fp8 take") {
    declare_operands("GOLDEN...", "dumps of a float32 run: each a file or directory of tensors");
    declare_fit(app(), command_);
    add_input_spec(app(), spec_);
  }

  Command finish(const GlobalOptions& global) override {
    finish_fit(app(), command_, operands_);
    command_.open = spec_.finish("--input-spec");
    command_.fit.execution = global.execution();
    return command_;
  }

 private:
  FitCommand command_;
  SpecWords spec_;
};

class MergeArguments final : public Subcommand {
 public:
  explicit MergeArguments(CLI::App& parent)
      : Subcommand(parent, "merge", "one report of the parts that shards have made") {
    declare_operands("PART...", "the files of --part, in any order");
    add_count(
        app(), "--expect", 1, btf::kMostShards, [this](std::uint64_t n) { command_.expected = n; },
        "the number of shards there must be");
    declare_reports(app(), command_.reports);
    declare_lists(app(), command_.emit);
    app().footer(
        "Prints what one run would have printed.\n"
        "Exit status: that of one run: 0 same, 1 different, 2 trouble; and 2 where a part is\n"
        "missing, torn, changed, or of another command.\n"
        "Example:\n"
        "  btftool diff --close --shard 1/2 --part 1.jsonl out/ golden/\n"
        "  btftool diff --close --shard 2/2 --part 2.jsonl out/ golden/\n"
        "  btftool merge --expect 2 1.jsonl 2.jsonl --html report.html");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.empty()) throw Wrong("missing operand PART");
    finish_reports(app(), command_.reports);
    command_.parts = operands_;
    return command_;
  }

 private:
  MergeCommand command_;
};

class RepairArguments final : public Subcommand {
 public:
  explicit RepairArguments(CLI::App& parent)
      : Subcommand(parent, "repair", "recover tensors from a damaged file") {
    declare_operands("IN OUT", "input and output; - is stdin or stdout; OUT may be IN");
    declare_output(output_);
    declare_repair(app(), command_);
  }

  Command finish(const GlobalOptions&) override {
    if (output_) operands_.push_back(*output_);
    expect({"IN", "OUT"});
    command_.input = operands_[0];
    command_.output = operands_[1];
    finish_repair(command_);
    return command_;
  }

 private:
  RepairCommand command_;
  std::optional<std::string> output_;
};

class TypesArguments final : public Subcommand {
 public:
  explicit TypesArguments(CLI::App& parent)
      : Subcommand(parent, "types", "list dtypes and layouts, or explain one") {
    declare_operands(
        "[WHAT [DIMS]]",
        "a dtype, a layout, or a format in TensorRT's words; dims to lay\nout: 1x3x2x2");
    app().add_flag("--json", options_.json, "print the tables as one JSON document");
    app().footer(
        "Examples:\n"
        "  btftool types bf16\n"
        "  btftool types kHWC8 1x3x2x2\n"
        "  btftool types 'Half(160000,1:8,1600,8)'");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.size() > 2) throw Wrong("extra operand '" + operands_[2] + "'");
    if (options_.json && !operands_.empty())
      throw Wrong("--json takes no operand: it has all rows");
    if (!operands_.empty()) options_.what = operands_[0];
    if (operands_.size() > 1) options_.shape = operands_[1];
    return options_;
  }

 private:
  TypesOptions options_;
};

class ExplainArguments final : public Subcommand {
 public:
  explicit ExplainArguments(CLI::App& parent)
      : Subcommand(parent, "explain",
                   "what a finding, cause, verdict, reason or state means, and what to do") {
    declare_operands("[WORD]", "of validate, diff, layers or fit; without it all are listed");
    app().add_flag("--json", options_.json, "print all as one JSON document");
    app().footer(
        "Examples:\n"
        "  btftool explain data-past-end\n"
        "  btftool explain channels-reversed\n"
        "  btftool explain dump-wrong");
  }

  Command finish(const GlobalOptions&) override {
    if (operands_.size() > 1) throw Wrong("extra operand '" + operands_[1] + "'");
    if (options_.json && !operands_.empty())
      throw Wrong("--json takes no operand: it has all words");
    if (!operands_.empty()) options_.word = operands_[0];
    return options_;
  }

 private:
  ExplainOptions options_;
};

class CompletionArguments final : public Subcommand {
 public:
  explicit CompletionArguments(CLI::App& parent)
      : Subcommand(parent, "completion", "print a script that completes words in a shell") {
    declare_operands("SHELL", "bash, zsh or fish");
    app().add_flag("--tensors", tensors_,
                   "print the names of the tensors in the files that are\n"
                   "operands then: the scripts ask for them");
    app().footer(
        "Examples:\n"
        "  source <(btftool completion bash)\n"
        "  source <(btftool completion zsh)\n"
        "  btftool completion fish | source");
  }

  Command finish(const GlobalOptions&) override {
    if (tensors_) return CompletionOptions{.script = {}, .files = operands_};
    expect({"SHELL"});
    const auto shell = std::ranges::find(shells(), operands_[0], &Shell::name);
    if (shell == shells().end()) throw Wrong(unknown(operands_[0]));
    return CompletionOptions{.script = shell->completion(declared(*app().get_parent())),
                             .files = {}};
  }

 private:
  static std::string unknown(const std::string& word) {
    std::vector<std::string_view> names;
    std::string list;
    for (const Shell& shell : shells()) {
      names.push_back(shell.name);
      list += (list.empty() ? "" : "|") + std::string(shell.name);
    }
    return "completion takes " + list + ", not '" + word + "'" + btf::did_you_mean(word, names);
  }

  bool tensors_ = false;
};

}  // namespace

Subcommand::Subcommand(CLI::App& parent, const char* name, const char* help)
    : app_(add_subcommand(parent, name, help)) {}

void Subcommand::declare_operands(const char* names, const char* help) {
  app_.add_option(names, operands_, help)->type_name("");
}

void Subcommand::declare_output(std::optional<std::string>& output) {
  add_text(app_, "-o,--output", output, "OUT", "the output, in place of the last operand");
}

void Subcommand::append_operands(const std::vector<std::string>& more) {
  operands_.insert(operands_.end(), more.begin(), more.end());
  if (std::ranges::find(operands_, std::string()) != operands_.end())
    throw Wrong("an operand is empty");
}

void Subcommand::expect(std::initializer_list<const char*> names) const {
  if (operands_.size() < names.size())
    throw Wrong(std::string("missing operand ") + *(names.begin() + operands_.size()));
  if (operands_.size() > names.size())
    throw Wrong("extra operand '" + operands_[names.size()] + "'");
}

std::vector<std::unique_ptr<Subcommand>> declare_subcommands(CLI::App& app) {
  std::vector<std::unique_ptr<Subcommand>> subcommands;
  subcommands.push_back(std::make_unique<InspectArguments>(app));
  subcommands.push_back(std::make_unique<ConvertArguments>(app));
  subcommands.push_back(std::make_unique<DiffArguments>(app));
  subcommands.push_back(std::make_unique<ValidateArguments>(app));
  subcommands.push_back(std::make_unique<LayersArguments>(app));
  subcommands.push_back(std::make_unique<FitArguments>(app));
  subcommands.push_back(std::make_unique<MergeArguments>(app));
  subcommands.push_back(std::make_unique<RepairArguments>(app));
  subcommands.push_back(std::make_unique<TypesArguments>(app));
  subcommands.push_back(std::make_unique<ExplainArguments>(app));
  subcommands.push_back(std::make_unique<CompletionArguments>(app));
  return subcommands;
}

}  // namespace btftool
