// The options of inspect and repair, and of commands that can be run in shards.
#include "cli/inspect.h"

#include <algorithm>

#include "btf/output.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/diff.h"

namespace btftool {

void declare_inspect(CLI::App& app, InspectOptions& options) {
  add_text(app, "--tensor", options.tensors, "SEL", "only these tensors: 0,2-5,-1");
  app.add_flag("--json", options.json, "print one JSON document");
  app.add_flag("--manifest", options.manifest,
               "print a manifest: JSON with the files, tensors and\n"
               "specs, which every command can open as this set");
  app.add_flag("--stats", options.stats,
               "print min, max, mean, std, NaN, Inf, zeros, subnormals,\npercentiles, a histogram");
  add_words(
      app, "--percentiles", "[P,P,...]",
      [&options](const std::string& text) {
        options.distribution.percentiles = value_or_throw(parse_percentiles(text));
      },
      "print percentiles (0.1,1,5,25,50,75,95,99,99.9)");
  add_count(
      app, "--histogram", 1, btf::kMaxBins,
      [&options](std::uint64_t n) { options.distribution.bins = static_cast<std::uint32_t>(n); },
      "print a histogram with N bins of equal width (16)")
      ->type_name("[N]");
  add_text(app, "--by-axis", options.by_axis, "AXIS",
           "print statistics for each index of an axis, C or 1; dead\nand saturated channels are "
           "listed");
  add_text(app, "--html", options.html, "FILE",
           "write a page about all tensors, with histograms, channels\nand a search");
  const char* const pictures = "Picture";
  add_text(app, "--image", options.image.path, "FILE",
           "draw one tensor, or the slice of it that --at gives, as a\nPNG; - is the terminal")
      ->group(pictures);
  add_choice(app, "--image-scale", options.image.draw.scale,
             {{"shared", btf::PictureScale::shared}, {"own", btf::PictureScale::own}},
             "one colour scale for all tiles (shared), or one for each")
      ->group(pictures);
  declare_picture(app, options.image, pictures);
  app.add_flag("--strides", options.strides,
               "print strides in elements and bytes, and TensorRT's vectorised dim");
  add_count(
      app, "--values", 0, UINT64_MAX, [&options](std::uint64_t n) { options.values = n; },
      "print the values, summarised beyond N (1000)")
      ->type_name("[N]");
  add_text(app, "--slice", options.slice, "SLICE", "print the values of a slice: 0,:,1:3,::2");
  add_text(
      app, "--at", options.at, "INDEX",
      "print value, bits and offset of one element: 0,3,7,7;\nwith --image, the slice to draw: "
      "0,:,:,:");
  app.footer(
      "Examples:\n"
      "  btftool inspect model.btf\n"
      "  btftool inspect --tensor 2 --stats model.btf\n"
      "  btftool inspect --json model.btf | jq '.files[0].tensors[0].shape'");
}

void finish_inspect(const CLI::App& app, InspectOptions& options,
                    const std::vector<std::string>& operands) {
  options.files = operands;
  options.result_options = words_given_but(app, {"--html", "--json"});
  if (options.slice && !options.values) options.values = kValuesShown;
  if (!options.distribution.percentiles.empty() || options.distribution.bins > 0 || options.by_axis)
    options.stats = true;
  if (options.image.path) {
    if (options.json || options.manifest || options.stats || options.strides || options.values ||
        options.html)
      throw OptionError("--image can only be combined with --tensor, --at and --input-spec");
  } else {
    for (const char* option : {"--image-scale", "--image-as", "--image-range", "--image-zoom"})
      if (app.count(option) > 0) throw OptionError(std::string(option) + " needs --image");
  }
  if (options.manifest && (options.json || options.stats || options.html || options.strides ||
                           options.values || options.at))
    throw OptionError("--manifest can only be combined with --tensor and --input-spec");
}

void declare_repair(CLI::App& app, RepairCommand& command) {
  btf::RepairOptions& options = command.repair;
  app.add_flag("--strict", options.strict, "leave out tensors that are in doubt");
  app.add_flag("--unchecked", options.unchecked,
               "in compressed files, also use the bytes of a truncated frame,\n"
               "which no checksum covers");
  add_choice(app, "--duplicates", options.duplicates, btf::duplicates_names(),
             "value of a COO index that occurs more than once; with error, the\ntensor is lost");
  add_count(
      app, "--compress", btf::kMinCompression, btf::kGreatestCompression,
      [&options](std::uint64_t level) { options.compression = static_cast<int>(level); },
      kCompressHelp)
      ->type_name("[N]");
  app.add_flag("--fsync", options.sync, kFsyncHelp);
  app.add_flag("--all", command.all, "print every finding, without a limit");
  app.add_flag("--json", command.json, "print one JSON document");
  app.footer(
      "Exit status: 0 all tensors saved, 1 some are lost or in doubt, 2 nothing was written.\n"
      "Examples:\n"
      "  btftool repair damaged.btf saved.btf\n"
      "  btftool repair --strict cut.btf.zst saved.btf.zst");
}

void finish_repair(RepairCommand& command) {
  resolve_output(command.output, command.input, command.repair.compression);
  if (command.json && btf::is_standard_output(command.output))
    throw OptionError("--json and the output " + command.output + " would both go to stdout");
}

namespace {

constexpr const char* kMachines = "Many machines";

btf::Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_unsigned(text.substr(0, slash));
  const auto of = slash < text.size() ? parse_unsigned(text.substr(slash + 1)) : std::nullopt;
  if (!number || !of || *of < 1 || *of > btf::kMaxShards)
    throw OptionError("--shard takes K/N, such as 3/64, not '" + text + "'");
  if (*number < 1) throw OptionError("--shard " + text + ": shards are numbered from 1");
  if (*number > *of)
    throw OptionError("--shard " + text + ": the last of " + std::to_string(*of) + " shards is " +
                      std::to_string(*of) + "/" + std::to_string(*of));
  return {*number, *of};
}

// Returns true for options that the results of a part depend on.
bool is_result_option(const std::string& name) {
  return name != "--shard" && name != "--part" && name != "--resume" && name != "--help" &&
         name != "--output";
}

}  // namespace

void declare_part(CLI::App& app, std::optional<PartOptions>& part) {
  const auto options = [&part]() -> PartOptions& { return part ? *part : part.emplace(); };
  add_words(
      app, "--shard", "K/N",
      [options](const std::string& text) { options().shard = parse_shard(text); },
      "do shard K of N of the work, such as 3/64; the split is the\nsame on every machine")
      ->group(kMachines);
  add_words(
      app, "--part", "FILE", [options](const std::string& text) { options().path = text; },
      "write the results of the shard to FILE, for btftool merge; the\nexit status is 0 once FILE "
      "is complete, whatever the results")
      ->group(kMachines);
  app.add_flag_callback(
         "--resume", [options] { options().resume = true; },
         "keep the results that FILE or FILE.partial has from an earlier\nrun, and add the rest")
      ->group(kMachines);
}

void declare_shard_by(CLI::App& app, std::optional<PartOptions>& part) {
  add_words(
      app, "--shard-by", "file|tensor",
      [&part](const std::string& word) {
        if (word != "file" && word != "tensor")
          throw OptionError("--shard-by takes file|tensor, not '" + word + "'");
        if (!part) part.emplace();
        part->by_tensor = word == "tensor";
      },
      "split the work between pairs of files (the default), or between\npairs of tensors, for few "
      "and large files")
      ->group(kMachines);
}

void finish_part(const CLI::App& app, const std::vector<std::string>& operands,
                 std::initializer_list<const char*> reports, std::optional<PartOptions>& part) {
  if (!part) return;
  if (!given(app, "--part"))
    throw OptionError(std::string(given(app, "--shard")    ? "--shard"
                                  : given(app, "--resume") ? "--resume"
                                                           : "--shard-by") +
                      " needs --part FILE");
  if (part->path.empty() || part->path == "-")
    throw OptionError("--part takes a file name, not '" + part->path + "'");
  for (const char* report : reports)
    if (given(app, report))
      throw OptionError("--part and " + std::string(report) +
                        " cannot be combined: btftool merge makes the reports");
  if (std::ranges::find(operands, "-") != operands.end())
    throw OptionError("--part needs files, not - (stdin): the other shards read the same input");
  const CLI::Option* const listed = app.get_option_no_throw("--files-from");
  if (listed != nullptr && listed->results() == std::vector<std::string>{"-"})
    throw OptionError(
        "--part needs a file for --files-from, not - (stdin): the other shards read the same list");
  part->options = words_given(app, is_result_option);
}

}  // namespace btftool
