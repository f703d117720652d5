// What is run with faults: each command with each kind of file, small and large enough for threads.
#pragma once

#include <string>
#include <vector>

namespace faults {

// Runs in a directory of its own, with the inputs in ../in.
struct Scenario {
  std::string name;
  std::vector<std::string> arguments;  // of btftool
  std::vector<std::string> outputs;    // files that it writes; they hold something before
  std::string input = {};              // read through a pipe
  std::string old = {};                // the input that the output holds before; empty: a few words
  bool reports = false;                // the outputs also say what went wrong
  bool only_inputs = false;            // without --all, only calls that read fail
};

const std::vector<Scenario>& scenarios();

// Writes the inputs into `directory`, with the help of btftool itself.
void write_inputs(const std::string& directory, const std::string& btftool,
                  const std::string& testdata);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& content);

}  // namespace faults
