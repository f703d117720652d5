// The options of inspect.
#include "cli/inspect.h"

#include <algorithm>

#include "btf/output.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/diff.h"

namespace btftool {

void declare_inspect(CLI::App& app, InspectOptions& options) {
  add_text(app, "--tensor", options.tensors, "SEL", "which tensors: 0,2-5,-1");
  app.add_flag("--json", options.json, "print one JSON document");
  app.add_flag("--manifest", options.manifest,
               "print a manifest: JSON that names files, tensors,\n"
               "specs, and that every command opens as this set");
  app.add_flag("--stats", options.stats,
               "min, max, mean, std, NaN, Inf, zeros, subnormals,\npercentiles, a histogram");
  add_words(
      app, "--percentiles", "[P,P,...]",
      [&options](const std::string& text) {
        options.distribution.percentiles = value_or_throw(parse_percentiles(text));
      },
      "percentiles (0.1,1,5,25,50,75,95,99,99.9)");
  add_count(
      app, "--histogram", 1, btf::kMaxBins,
      [&options](std::uint64_t n) { options.distribution.bins = static_cast<std::uint32_t>(n); },
      "a histogram of N bins of equal width (16)")
      ->type_name("[N]");
  add_text(app, "--by-axis", options.by_axis, "AXIS",
           "statistics of every channel: C, 1; dead and\nsaturated ones are named");
  add_text(app, "--html", options.html, "FILE",
           "write a page of all tensors: histograms, channels,\nsearch");
  const char* const pictures = "Picture";
  add_text(app, "--image", options.image.path, "FILE",
           "draw one tensor, or the part that --at has, as\na PNG; - is the terminal")
      ->group(pictures);
  add_choice(app, "--image-scale", options.image.draw.scale,
             {{"shared", btf::PictureScale::shared}, {"own", btf::PictureScale::own}},
             "one scale of colours (shared), or each tile's own")
      ->group(pictures);
  declare_picture(app, options.image, pictures);
  app.add_flag("--strides", options.strides,
               "strides in elements and in bytes, TensorRT's vectorised dim");
  add_count(
      app, "--values", 0, UINT64_MAX, [&options](std::uint64_t n) { options.values = n; },
      "print the values, summarised beyond N (1000)")
      ->type_name("[N]");
  add_text(app, "--slice", options.slice, "SLICE", "print the values of a slice: 0,:,1:3,::2");
  add_text(app, "--at", options.at, "INDEX",
           "value, bits and offset of one element: 0,3,7,7;\nwith --image what is drawn: 0,:,:,:");
  app.footer(
      "Examples:\n"
      "  btftool inspect model.btf\n"
      "  btftool inspect --tensor 2 --stats model.btf\n"
      "  btftool inspect --json model.btf | jq '.files[0].tensors[0].shape'");
}

void finish_inspect(const CLI::App& app, InspectOptions& options,
                    const std::vector<std::string>& operands) {
  options.files = operands;
  options.deciding = words_given_but(app, {"--html", "--json"});
  if (options.slice && !options.values) options.values = kValuesShown;
  if (!options.distribution.percentiles.empty() || options.distribution.bins > 0 || options.by_axis)
    options.stats = true;
  if (options.image.path) {
    if (options.json || options.manifest || options.stats || options.strides || options.values ||
        options.html)
      throw Wrong("--image can only be combined with --tensor, --at and --input-spec");
  } else {
    for (const char* option : {"--image-scale", "--image-as", "--image-range", "--image-zoom"})
      if (app.count(option) > 0) throw Wrong(std::string(option) + " needs --image");
  }
  if (options.manifest && (options.json || options.stats || options.html || options.strides ||
                           options.values || options.at))
    throw Wrong("--manifest can only be combined with --tensor and --input-spec");
}

// The options of repair.

void declare_repair(CLI::App& app, RepairCommand& command) {
  btf::RepairOptions& options = command.repair;
  app.add_flag("--strict", options.strict, "tensors in doubt are lost");
  app.add_flag("--unchecked", options.unchecked,
               "compressed: also use the bytes of a truncated frame, which no\n"
               "checksum covers");
  add_choice(app, "--duplicates", options.duplicates, btf::duplicates_names(),
             "value of a COO index that occurs more than once; error: the tensor is lost");
  add_count(
      app, "--compress", btf::kMinCompression, btf::kGreatestCompression,
      [&options](std::uint64_t level) { options.compression = static_cast<int>(level); },
      "write seekable zstd at level N (3); default if OUT ends in .zst")
      ->type_name("[N]");
  app.add_flag("--fsync", options.sync, "survive a power cut: sync before renaming");
  app.add_flag("--all", command.all, "every finding, without a limit");
  app.add_flag("--json", command.json, "print one JSON document");
  app.footer(
      "Exit status: 0 all saved, 1 not all or some in doubt, 2 nothing written.\n"
      "Examples:\n"
      "  btftool repair damaged.btf saved.btf\n"
      "  btftool repair --strict cut.btf.zst saved.btf.zst");
}

void finish_repair(RepairCommand& command) {
  place_output(command.output, command.input, command.repair.compression);
  if (command.json && btf::is_standard_output(command.output))
    throw Wrong("--json and an output of " + command.output + " both write to stdout");
}

namespace {

constexpr const char* kMachines = "Many machines";

btf::Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto number = parse_unsigned(text.substr(0, slash));
  const auto of = slash < text.size() ? parse_unsigned(text.substr(slash + 1)) : std::nullopt;
  if (!number || !of || *of < 1 || *of > btf::kMaxShards)
    throw Wrong("--shard takes K/N, such as 3/64, not '" + text + "'");
  if (*number < 1) throw Wrong("--shard " + text + ": shards count from 1");
  if (*number > *of) throw Wrong("--shard " + text + ": there are " + std::to_string(*of));
  return {*number, *of};
}

// Do they say how it is run, and not what comes out?
bool decides(const std::string& name) {
  return name != "--shard" && name != "--part" && name != "--resume" && name != "--help" &&
         name != "--output";
}

}  // namespace

void declare_part(CLI::App& app, std::optional<PartOptions>& part) {
  const auto made = [&part]() -> PartOptions& { return part ? *part : part.emplace(); };
  add_words(
      app, "--shard", "K/N", [made](const std::string& text) { made().shard = parse_shard(text); },
      "the K-th of N shards of the work, which are the same\nwherever this is run: 3/64")
      ->group(kMachines);
  add_words(
      app, "--part", "FILE", [made](const std::string& text) { made().path = text; },
      "write what is found there, for btftool merge; the exit\nstatus is then 0 once FILE is "
      "complete")
      ->group(kMachines);
  app.add_flag_callback(
         "--resume", [made] { made().resume = true; },
         "keep what FILE, or FILE.partial, has of an earlier run")
      ->group(kMachines);
}

void declare_shard_by(CLI::App& app, std::optional<PartOptions>& part) {
  add_words(
      app, "--shard-by", "file|tensor",
      [&part](const std::string& word) {
        if (word != "file" && word != "tensor")
          throw Wrong("--shard-by takes file|tensor, not '" + word + "'");
        if (!part) part.emplace();
        part->by_tensor = word == "tensor";
      },
      "what goes to a shard as a whole: pairs of files, or of\ntensors, where files are few and "
      "large (file)")
      ->group(kMachines);
}

void finish_part(const CLI::App& app, const std::vector<std::string>& operands,
                 std::initializer_list<const char*> reports, std::optional<PartOptions>& part) {
  if (!part) return;
  if (!given(app, "--part"))
    throw Wrong(std::string(given(app, "--shard")    ? "--shard"
                            : given(app, "--resume") ? "--resume"
                                                     : "--shard-by") +
                " needs --part FILE");
  if (part->path.empty() || part->path == "-")
    throw Wrong("--part takes the name of a file, not '" + part->path + "'");
  for (const char* report : reports)
    if (given(app, report))
      throw Wrong("--part and " + std::string(report) +
                  " exclude each other: btftool merge makes the reports");
  if (std::ranges::find(operands, "-") != operands.end())
    throw Wrong("--part needs files: - cannot be read again");
  const CLI::Option* const listed = app.get_option_no_throw("--files-from");
  if (listed != nullptr && listed->results() == std::vector<std::string>{"-"})
    throw Wrong("--part needs a file for --files-from: - cannot be read again");
  part->options = words_given(app, decides);
}

}  // namespace btftool
