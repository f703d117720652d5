// The options of inspect.
#include "cli/arguments.h"
#include "cli/diff.h"
#include "cli/subcommands.h"

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
      app, "--histogram", 1, btf::kMostBins,
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

}  // namespace btftool
