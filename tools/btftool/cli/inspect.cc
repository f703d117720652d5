// The commands inspect, validate, merge and repair, and rows of options that several commands have.
#include <algorithm>
#include <memory>
#include <utility>

#include "btf/did_you_mean.h"
#include "btf/output.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/rows.h"

namespace btftool {

namespace {

void take_list(const std::string& option, const std::string& path,
               std::shared_ptr<const btf::FileList>& files) {
  btf::FileList list{.path = path};
  for (std::string& line : read_lines(option, path)) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) list.files.push_back(std::move(line));
  }
  if (list.files.empty()) throw OptionError(option + " " + path + " lists no files");
  files = std::make_shared<const btf::FileList>(std::move(list));
}

}  // namespace

Option files_from(std::shared_ptr<const btf::FileList>& files) {
  return {"--files-from", once("LIST", files, take_list),
          "from directories, take only the files listed in LIST, one a line;\n- is stdin",
          kOfFiles | kOfInput | kReads};
}

Option compress_option(std::optional<int>& level) {
  return {"--compress",
          or_else(std::to_string(btf::kDefaultCompression),
                  count(btf::kMinCompression, btf::kGreatestCompression, level, "[N]")),
          "compress by seekable zstd at level N (3); the default if OUT\nends in .zst",
          sets("compression")};
}

Option fsync_option(bool& sync) {
  return {"--fsync", flag(sync),
          "write the output to disk before it gets its name, so that it\nsurvives a power cut"};
}

Option output_option(std::optional<std::string>& output) {
  return {"-o,--output", text("OUT", output), "the output, instead of the last operand", kAside};
}

namespace {

btf::Shard parse_shard(const std::string& option, const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_unsigned(text.substr(0, slash));
  const auto of = slash < text.size() ? parse_unsigned(text.substr(slash + 1)) : std::nullopt;
  if (!number || !of || *of < 1 || *of > btf::kMaxShards)
    throw OptionError(option + " takes K/N, such as 3/64, not '" + text + "'");
  if (*number < 1) throw OptionError(option + " " + text + ": shards are numbered from 1");
  if (*number > *of)
    throw OptionError(option + " " + text + ": the last of " + std::to_string(*of) + " shards is " +
                      std::to_string(*of) + "/" + std::to_string(*of));
  return {*number, *of};
}

PartOptions& options_of(std::optional<PartOptions>& part) { return part ? *part : part.emplace(); }

}  // namespace

OptionGroup part_options(std::optional<PartOptions>& part) {
  using Part = std::optional<PartOptions>;
  const auto shard = [](const std::string& option, const std::string& text, Part& of) {
    options_of(of).shard = parse_shard(option, text);
  };
  const auto path = [](const auto&, const std::string& text, Part& of) {
    options_of(of).path = text;
  };
  const auto resume = [](const auto&, const std::string& text, Part& of) {
    if (text == "true") options_of(of).resume = true;
  };
  return {"Many machines",
          {{"--shard", once("K/N", part, shard),
            "do shard K of N of the work, such as 3/64; the split is the\nsame on every machine",
            kAside | needs("--part FILE")},
           {"--part", once("FILE", part, path),
            "write the results of the shard to FILE, for btftool merge; the\nexit status is 0 once "
            "FILE is complete, whatever the results",
            kAside | kOfInput | kWritesPart},
           {"--resume", taken(Value::Kind::flag, "", part, resume),
            "keep the results that FILE or FILE.partial has from an earlier\nrun, and add the rest",
            kAside | needs("--part FILE") | sets("resume")}}};
}

void finish_part(const GivenOptions& given, const std::vector<std::string>& operands,
                 std::optional<PartOptions>& part) {
  if (!part) return;
  if (part->path.empty() || part->path == "-")
    throw OptionError("--part takes a file name, not '" + part->path + "'");
  if (const auto reports = given.all_with(kReport); !reports.empty())
    throw OptionError("--part and " + reports.front()->name() +
                      " cannot be combined: btftool merge makes the reports");
  if (std::ranges::find(operands, "-") != operands.end())
    throw OptionError("--part needs files, not - (stdin): the other shards read the same input");
  for (const NamedFile& file : given.files())
    if (file.path == "-" && file.traits.any(kOfFiles))
      throw OptionError("--part needs a file for " + file.option +
                        ", not - (stdin): the other shards read the same list");
  part->options = given.words_without(kReport | kAside);
}

namespace {

class InspectArguments final : public Subcommand {
 public:
  InspectArguments() {
    btf::DistributionOptions& distribution = options_.distribution;
    table_ = {
        .name = "inspect",
        .help = "list tensors, their statistics and values",
        .operands = "FILE...",
        .operands_help = "files to inspect; - is stdin",
        .most_used = "--tensor --stats --values --slice --json",
        .groups =
            {{kOptions,
              {{"--tensor", text("SEL", options_.tensors), "only these tensors: 0,2-5,-1",
                sets("tensors")},
               {"--json", flag(options_.json), "print one JSON document", kReport},
               {"--manifest", flag(options_.manifest),
                "print a manifest: JSON with the files, tensors and\n"
                "specs, which every command can open as this set"},
               {"--stats", flag(options_.stats),
                "print min, max, mean, std, NaN, Inf, zeros, subnormals,\npercentiles, a "
                "histogram"},
               {"--percentiles",
                or_else(kPercentilesShown,
                        parsed("[P,P,...]", distribution.percentiles, parse_percentiles),
                        "0123456789.,"),
                "print percentiles (0.1,1,5,25,50,75,95,99,99.9)"},
               {"--histogram",
                or_else(std::to_string(kBinsShown),
                        count(1, btf::kMaxBins, distribution.bins, "[N]")),
                "print a histogram with N bins of equal width (16)"},
               {"--by-axis", text("AXIS", options_.by_axis),
                "print statistics for each index of an axis, C or 1; dead\nand saturated channels "
                "are listed"},
               {"--html", text("FILE", options_.html),
                "write a page about all tensors, with histograms, channels\nand a search",
                kReport | kWrites}}},
             {"Picture",
              {{"--image", text("FILE", options_.image.path),
                "draw one tensor, or the slice of it that --at gives, as a\nPNG; - is the terminal",
                kWrites},
               {"--image-scale",
                choice<btf::PictureScale>(
                    options_.image.draw.scale,
                    {{"shared", btf::PictureScale::shared}, {"own", btf::PictureScale::own}}),
                "one colour scale for all tiles (shared), or one for each",
                kAside | needs("--image")}}},
             {"Picture", picture_options(options_.image)},
             {kOptions,
              {{"--strides", flag(options_.strides),
                "print strides in elements and bytes, and TensorRT's vectorised dim"},
               {"--values",
                or_else(std::to_string(kValuesShown), count(0, UINT64_MAX, options_.values, "[N]")),
                "print the values, summarised beyond N (1000)"},
               {"--slice", text("SLICE", options_.slice),
                "print the values of a slice: 0,:,1:3,::2"},
               {"--at", text("INDEX", options_.at),
                "print value, bits and offset of one element: 0,3,7,7;\nwith --image, the slice to "
                "draw: 0,:,:,:"}}},
             input_spec(spec_)},
        .footer =
            "Examples:\n"
            "  btftool inspect model.btf\n"
            "  btftool inspect --tensor 2 --stats model.btf\n"
            "  btftool inspect --json model.btf | jq '.files[0].tensors[0].shape'",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions&) override {
    InspectOptions& options = options_;
    if (operands_.empty()) throw OptionError("missing operand FILE");
    options.files = operands_;
    options.result_options = given.words_without(kReport);
    if (options.slice && !options.values) options.values = kValuesShown;
    if (!options.distribution.percentiles.empty() || options.distribution.bins > 0 ||
        options.by_axis)
      options.stats = true;
    if (options.image.path && (options.json || options.manifest || options.stats ||
                               options.strides || options.values || options.html))
      throw OptionError("--image can only be combined with --tensor, --at and --input-spec");
    if (options.manifest && (options.json || options.stats || options.html || options.strides ||
                             options.values || options.at))
      throw OptionError("--manifest can only be combined with --tensor and --input-spec");
    options.open = spec_.finish();
    return options;
  }

  InspectOptions options_;
  RawSpecs spec_;
};

class ValidateArguments final : public Subcommand {
 public:
  ValidateArguments() {
    table_ = {
        .name = "validate",
        .help = "check whether files are well-formed",
        .operands = "FILE...",
        .operands_help = "files or directories to check; - is stdin",
        .most_used = "--strict --nan --for --all --json",
        .groups = {{kOptions,
                    {{"--strict", flag(options_.strict), "treat warnings as errors"},
                     {"--nan", flag(options_.checks.finite),
                      "report NaN and Inf elements as errors"},
                     {"--for", choice(options_.checks.recipient, btf::recipient_names()),
                      "report data that this program cannot read as errors", sets("recipient")},
                     {"--all", flag(options_.all), "print every finding, without a limit"},
                     {"--json", flag(options_.json), "print one JSON document", kReport},
                     files_from(options_.listed)}},
                   input_spec(spec_),
                   part_options(options_.part)},
        .footer =
            "Exit status: 0 well-formed, 1 not well-formed, 2 trouble.\n"
            "Examples:\n"
            "  btftool validate model.btf\n"
            "  btftool validate --strict --nan --for tfrt dumps/",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions&) override {
    if (operands_.empty()) throw OptionError("missing operand FILE");
    options_.files = operands_;
    options_.open = spec_.finish();
    options_.open.listed = options_.listed;
    finish_part(given, operands_, options_.part);
    return options_;
  }

  ValidateOptions options_;
  RawSpecs spec_;
};

class MergeArguments final : public Subcommand {
 public:
  MergeArguments() {
    table_ = {
        .name = "merge",
        .help = "make one report of the results of shards",
        .operands = "PART...",
        .operands_help = "the files that --part wrote, in any order",
        .most_used = "--expect --summary --html --junit --json",
        .groups = {{kOptions,
                    {{"--expect", count(1, btf::kMaxShards, command_.expected),
                      "fail unless there are N shards", sets("expected")}}},
                   {"Report", report_options(command_)},
                   {"Report", {emit_option(command_.emit)}}},
        .footer =
            "Run every shard first, with --shard and --part. Then merge prints what a single "
            "run would have\nprinted.\n"
            "Exit status: that of a single run; 2 if a part is missing, incomplete, changed, "
            "or of another\ncommand.\n"
            "Examples:\n"
            "  btftool merge --expect 2 1.jsonl 2.jsonl --html report.html\n"
            "  btftool diff --close --shard 1/2 --part 1.jsonl out/ golden/\n"
            "  btftool diff --close --shard 2/2 --part 2.jsonl out/ golden/",
    };
  }

 private:
  Command finish(const GivenOptions& given, const GlobalOptions&) override {
    if (operands_.empty()) throw OptionError("missing operand PART");
    check_reports(command_.junit, command_.html);
    // What these two say holds for parts of every command.
    for (const std::string& word : given.words_with(kReport))
      if (word != "--sort=order" && word != "--json-schema=2")
        command_.report_options.push_back(word.substr(0, word.find('=')));
    command_.parts = operands_;
    return command_;
  }

  MergeCommand command_;
};

class RepairArguments final : public Subcommand {
 public:
  RepairArguments() {
    btf::RepairOptions& options = command_.repair;
    table_ = {
        .name = "repair",
        .help = "recover tensors from a damaged file",
        .operands = "IN OUT",
        .operands_help = "input and output; - is stdin or stdout; OUT may be the\nsame file",
        .groups = {{kOptions,
                    {output_option(output_),
                     {"--strict", flag(options.strict), "leave out tensors that are in doubt"},
                     {"--unchecked", flag(options.unchecked),
                      "in compressed files, also use the bytes of a truncated frame,\n"
                      "which no checksum covers"},
                     {"--duplicates", choice(options.duplicates, btf::duplicates_names()),
                      "value of a COO index that occurs more than once; with error, the\ntensor is "
                      "lost"},
                     compress_option(options.compression),
                     fsync_option(options.sync),
                     {"--all", flag(command_.all), "print every finding, without a limit"},
                     {"--json", flag(command_.json), "print one JSON document"}}}},
        .footer =
            "Exit status: 0 all tensors saved, 1 some are lost or in doubt, 2 nothing was "
            "written.\n"
            "Examples:\n"
            "  btftool repair damaged.btf saved.btf\n"
            "  btftool repair --strict cut.btf.zst saved.btf.zst",
    };
  }

 private:
  Command finish(const GivenOptions&, const GlobalOptions&) override {
    if (output_) operands_.push_back(*output_);
    expect({"IN", "OUT"});
    command_.input = operands_[0];
    command_.output = operands_[1];
    resolve_output(command_.output, command_.input, command_.repair.compression);
    if (command_.json && btf::is_standard_output(command_.output))
      throw OptionError("--json and the output " + command_.output + " would both go to stdout");
    return command_;
  }

  RepairCommand command_;
  std::optional<std::string> output_;
};

}  // namespace

std::unique_ptr<Subcommand> inspect_command() { return std::make_unique<InspectArguments>(); }
std::unique_ptr<Subcommand> validate_command() { return std::make_unique<ValidateArguments>(); }
std::unique_ptr<Subcommand> merge_command() { return std::make_unique<MergeArguments>(); }
std::unique_ptr<Subcommand> repair_command() { return std::make_unique<RepairArguments>(); }

}  // namespace btftool
