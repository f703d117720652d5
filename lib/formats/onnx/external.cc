#include "formats/onnx/external.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/io/file_source.h"
#include "formats/io/system.h"

namespace btf {
namespace {

namespace fs = std::filesystem;

// The fault of a location by itself; empty: there is none.
std::string_view fault_of(std::string_view location) {
  if (location.empty()) return "which is not a file name";
  if (location.contains('\0')) return "which has a NUL byte";
  if (location.contains('\\')) return "which has a backslash, a separator on some systems";
  if (location.starts_with('/')) return "which is absolute, not a path from the model's directory";
  while (!location.empty()) {
    const std::string_view part = location.substr(0, location.find('/'));
    if (part == "..") return "outside the model's directory";
    location.remove_prefix(std::min(part.size() + 1, location.size()));
  }
  return {};
}

// In the folder or below it.
bool lies_in(const fs::path& path, const fs::path& folder) {
  auto part = path.begin();
  for (const fs::path& step : folder)
    if (part == path.end() || *part++ != step) return false;
  return part != path.end();
}

std::string external_text(const std::string& location) {
  return "its external data are in '" + location + "'";
}

std::unexpected<Error> elsewhere(const std::string& location, std::string_view what) {
  return malformed("onnx-external", 0, external_text(location) + ", " + std::string(what));
}

}  // namespace

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open(const std::string& location) {
  const auto found = opened_.find(location);
  if (found != opened_.end()) return found->second;
  const std::string_view fault = fault_of(location);
  if (!fault.empty()) return elsewhere(location, fault);
  auto opened = open_new(location);
  if (!opened) return std::unexpected(std::move(opened).error());
  return opened_.emplace(location, *std::move(opened)).first->second;
}

std::vector<std::string> ExternalFiles::paths() const {
  std::vector<std::string> paths;
  for (const auto& [location, file] : opened_) paths.push_back(path_of(location));
  return paths;
}

Status ExternalFiles::check_unchanged() const {
  for (const auto& [location, file] : opened_) BTF_TRY(file->check_unchanged());
  return {};
}

std::string ExternalFiles::path_of(const std::string& location) const {
  return model_.substr(0, model_.rfind('/') + 1) + location;
}

Result<std::shared_ptr<const ByteSource>> ExternalFiles::open_new(
    const std::string& location) const {
  if (model_ == "-" || model_.starts_with("/dev/"))
    return fail(ErrorCode::unsupported, external_text(location) + ", and a pipe has no directory");
  const std::string folder = model_.substr(0, model_.rfind('/') + 1);
  const std::string path = path_of(location);
  // Non-blocking, so that a pipe without a writer does not hang.
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.open())
    return std::unexpected(system_failure("open").error().within(external_text(location)));
  struct stat state{};
  if (::fstat(fd.get(), &state) != 0) return system_failure("stat");
  if (!S_ISREG(state.st_mode)) return elsewhere(location, "which is not a regular file");
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  struct stat really{};
  if (error || ::stat(real.c_str(), &really) != 0 || really.st_dev != state.st_dev ||
      really.st_ino != state.st_ino)
    return fail(ErrorCode::io, external_text(location) + ", whose real path is changing");
  const fs::path given = fs::canonical(folder.empty() ? "." : folder, error);
  const bool inside = !error && lies_in(real, given);
  const fs::path model = fs::canonical(model_, error);
  if (!inside && (error || !lies_in(real, model.parent_path())))
    return elsewhere(location,
                     "which is a link to '" + real.string() + "', outside the model's directory");
  return file_source(path, std::move(fd), state, 0);
}

}  // namespace btf
