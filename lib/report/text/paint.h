// Colours of a terminal, if they are wanted.
#pragma once

#include <string>
#include <string_view>

namespace btf::report {

struct Paint {
  bool on = false;

  std::string red(std::string_view text) const { return paint(text, "31"); }
  std::string green(std::string_view text) const { return paint(text, "32"); }
  std::string yellow(std::string_view text) const { return paint(text, "33"); }

 private:
  std::string paint(std::string_view text, const char* code) const {
    if (!on) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }
};

}  // namespace btf::report
