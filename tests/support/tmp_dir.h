// Where temporary files go, for a scope.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

class TmpDir {
 public:
  explicit TmpDir(const std::string& path) {
    if (const char* old = std::getenv("TMPDIR")) old_ = old;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TmpDir() { old_ ? ::setenv("TMPDIR", old_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  TmpDir(const TmpDir&) = delete;
  TmpDir& operator=(const TmpDir&) = delete;

 private:
  std::optional<std::string> old_;
};
