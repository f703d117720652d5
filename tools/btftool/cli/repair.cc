// The options of repair.
#include "btf/output.h"
#include "cli/subcommands.h"

namespace btftool {

void declare_repair(CLI::App& app, RepairCommand& command) {
  btf::RepairOptions& options = command.repair;
  app.add_flag("--strict", options.strict, "tensors in doubt are lost");
  app.add_flag("--unchecked", options.unchecked,
               "compressed: also use the bytes of a truncated frame, which no\n"
               "checksum covers");
  add_choice(app, "--duplicates", options.duplicates, btf::duplicates_names(),
             "value of a COO index that occurs more than once; error: the tensor is lost");
  add_count(
      app, "--compress", btf::kLeastCompression, btf::kGreatestCompression,
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

}  // namespace btftool
