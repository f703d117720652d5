#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "faults/sweep.h"

namespace faults {
namespace {

namespace fs = std::filesystem;

constexpr int kTrouble = 2;  // docs/cli.md

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool any_of(const std::string& text, const std::vector<std::string>& parts) {
  return std::ranges::any_of(parts, [&](const auto& part) { return contains(text, part); });
}

// "</html>" and what is in front of it on its line.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  return text.substr(text.find_last_of('\n', end) + 1);
}

const char* name_of(int kind) {
  for (const Kind& row : kinds())
    if (row.kind == kind) return row.name;
  return "none";
}

}  // namespace

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list{
      {FAULT_ALLOCATE, "allocate", {ENOMEM}},
      {FAULT_OPEN, "open", {EMFILE, EIO, ENOSPC, EDQUOT, ENOMEM, EINTR}},
      {FAULT_READ, "read", {EIO, EINTR, ENOMEM}},
      {FAULT_WRITE, "write", {ENOSPC, EDQUOT, EIO, EINTR, EFBIG}},
      {FAULT_STAT, "stat", {EIO, ENOMEM}},
      {FAULT_SPACE, "space", {EIO}},
      {FAULT_RESERVE, "reserve", {ENOSPC, EDQUOT, EIO, EINTR, EOPNOTSUPP}},
      {FAULT_SYNC, "sync", {EIO, EDQUOT, ENOSPC, EINTR}},
      {FAULT_CLOSE, "close", {EIO, EDQUOT, ENOSPC, EINTR}},
      {FAULT_RENAME, "rename", {EIO, EDQUOT, ENOSPC, EACCES}},
      {FAULT_LINK, "link", {EIO, EDQUOT, ENOSPC, EMLINK}},
      {FAULT_UNLINK, "unlink", {EIO}},
      {FAULT_MODE, "mode", {EPERM, EIO}},
      {FAULT_SEEK, "seek", {EIO, ESPIPE}},
      {FAULT_FCNTL, "fcntl", {EMFILE, EIO}},
      {FAULT_ACCESS, "access", {EACCES, EIO}},
      {FAULT_LIST, "list", {EMFILE, EIO, ENOMEM}},
      {FAULT_THREAD, "thread", {EAGAIN}},
  };
  return list;
}

std::string Fault::text() const {
  if (kill_after_us >= 0) return "kill -9 after " + std::to_string(kill_after_us) + " us";
  if (limits.address_space >= 0) return "RLIMIT_AS " + std::to_string(limits.address_space);
  if (limits.processes >= 0) return "RLIMIT_NPROC " + std::to_string(limits.processes);
  if (limits.file_size >= 0) return "RLIMIT_FSIZE " + std::to_string(limits.file_size);
  // The form that --fault takes.
  return std::string(name_of(kind)) + ":" + std::to_string(first) + ":" +
         (last == LONG_MAX ? "end" : std::to_string(last)) + ":" + std::to_string(step) + ":" +
         (most_bytes != 0 ? "bytes=" + std::to_string(most_bytes) : std::to_string(error));
}

Bench::Bench(std::string directory, std::string btftool, std::string shim)
    : directory_(std::move(directory)),
      btftool_(std::move(btftool)),
      shim_(std::move(shim)),
      orders_((fs::create_directories(directory_), directory_ + "/orders")) {
  fs::permissions(orders_.path(), fs::perms(0666));
}

Bench::Result Bench::run_once(const Scenario& scenario, const Fault& fault) {
  const std::string work = directory_ + "/work";
  fs::remove_all(work);
  fs::create_directories(work);
  fs::create_directories(directory_ + "/tmp");
  fs::permissions(work, fs::perms::all);
  fs::permissions(directory_ + "/tmp", fs::perms::all);
  for (const auto& [name, content] : old_) {
    write_file(work + "/" + name, content);
    fs::permissions(work + "/" + name, fs::perms(0666));
  }
  fault_orders orders{};
  orders.kind = fault.kind;
  orders.error = fault.error;
  orders.first = fault.first;
  orders.last = fault.last;
  orders.step = fault.step;
  orders.most_bytes = fault.most_bytes;
  orders_.give(orders);

  Run what{.arguments = {btftool_}, .directory = work};
  what.arguments.insert(what.arguments.end(), scenario.arguments.begin(), scenario.arguments.end());
  what.input = scenario.input;
  // What standard output is redirected to is no file of the run.
  what.out = directory_ + "/out";
  write_file(what.out, "");
  fs::permissions(what.out, fs::perms(0666));
  const bool bare = fault.kill_after_us >= 0 || fault.limits.address_space >= 0 ||
                    fault.limits.processes >= 0 || fault.limits.file_size >= 0;
  if (!bare) what.shim = shim_;
  what.orders_file = orders_.path();
  what.temporary = directory_ + "/tmp";
  what.limits = fault.limits;
  what.kill_after_us = fault.kill_after_us;
  Result result;
  result.outcome = run(what);
  result.out = read_file(what.out);
  for (const auto& entry : fs::directory_iterator(work))
    result.files[entry.path().filename()] = read_file(entry.path());
  merge_part(scenario, what, result);
  for (const auto& entry : fs::directory_iterator(what.temporary)) {
    result.files["tmp/" + entry.path().filename().string()] = "";
    fs::remove_all(entry.path());
  }
  return result;
}

// A part that was written has times in it, and errors of items: what counts is the report of it.
void Bench::merge_part(const Scenario& scenario, Run what, Result& result) const {
  Outcome& outcome = result.outcome;
  for (const std::string& name : scenario.outputs) {
    if (!name.ends_with(".part") || outcome.signal != 0 || outcome.code >= kTrouble) continue;
    what.shim.clear();
    what.limits = {};
    what.kill_after_us = -1;
    what.arguments = {btftool_, "merge", name};
    const Outcome merged = run(what);
    outcome.code = std::max(outcome.code, merged.code);
    outcome.signal = merged.signal;
    outcome.err += merged.err;
    result.out += read_file(what.out);
    result.files[name] = "a part that was merged\n";
  }
}

std::size_t Bench::output_bytes() const {
  std::size_t most = 0;
  for (const auto& [name, content] : expected_.files) most = std::max(most, content.size());
  return most;
}

void Bench::undisturbed(const Scenario& scenario) {
  old_.clear();
  for (const std::string& name : scenario.outputs)
    old_[name] = scenario.old.empty() ? "what was here before\n"
                                      : read_file(directory_ + "/in/" + scenario.old);
  const auto begin = std::chrono::steady_clock::now();
  expected_ = run_once(scenario, {});
  microseconds_ = static_cast<long>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::steady_clock::now() - begin)
                                        .count());
  calls_ = orders_.read();
  const Result again = run_once(scenario, {});
  if (expected_.outcome.signal != 0 || expected_.outcome.code > 1 || expected_.out != again.out ||
      expected_.files != again.files)
    throw std::runtime_error(scenario.name + ": exit code " +
                             std::to_string(expected_.outcome.code) +
                             " undisturbed, or not the same twice: " + expected_.outcome.err);
}

std::string Bench::disturbed(const Scenario& scenario, const Fault& fault) {
  last_ = run_once(scenario, fault);
  return judge(scenario, fault);
}

std::string Bench::judge(const Scenario& scenario, const Fault& fault) const {
  const Outcome& outcome = last_.outcome;
  if (fault.kill_after_us >= 0 && outcome.signal == SIGKILL)
    return judge_files(scenario, fault, false);
  if (outcome.signal == SIGALRM) return "hangs";
  if (outcome.signal != 0) return "dies of signal " + std::to_string(outcome.signal);
  if (outcome.code == expected_.outcome.code) {
    if (last_.out != expected_.out) return "exit code as undisturbed, but other output";
    return judge_files(scenario, fault, true);
  }
  if (outcome.code != kTrouble) return "exit code " + std::to_string(outcome.code);
  const std::string files = judge_files(scenario, fault, false);
  return files.empty() ? judge_message(scenario, fault) : files;
}

std::string Bench::judge_files(const Scenario& scenario, const Fault& fault, bool done) const {
  for (const std::string& name : scenario.outputs) {
    const auto found = last_.files.find(name);
    if (found == last_.files.end()) return name + " is gone";
    const bool is_new = found->second == expected_.files.at(name);
    if (done && !is_new) return "exit code as undisturbed, but " + name + " is not";
    if (scenario.reports && found->second.ends_with(last_line(expected_.files.at(name)))) continue;
    if (!is_new && found->second != old_.at(name)) return name + " is neither old nor new";
  }
  // A name that cannot be removed stays; a program that is killed removes none.
  if (fault.kind == FAULT_UNLINK || fault.kill_after_us >= 0) return "";
  for (const auto& [name, content] : last_.files)
    if (!expected_.files.contains(name) && !name.ends_with(".partial")) return "leaves " + name;
  return "";
}

// It names the cause, and the file unless memory is short.
std::string Bench::judge_message(const Scenario& scenario, const Fault& fault) const {
  const std::string& err = last_.outcome.err;
  if (!err.starts_with("btftool: ")) return "no message: '" + err + "'";
  std::vector<std::string> causes{"out of memory", std::strerror(ENOMEM)};
  const bool memory =
      fault.kind == FAULT_ALLOCATE || fault.error == ENOMEM || fault.limits.address_space >= 0;
  if (!memory) causes.clear();
  if (fault.kind != FAULT_NONE) causes.emplace_back(std::strerror(fault.error));
  if (fault.limits.file_size >= 0) causes.emplace_back(std::strerror(EFBIG));
  if (fault.limits.processes >= 0) causes.emplace_back(std::strerror(EAGAIN));
  if (!any_of(err, causes)) return "the message does not say why: " + err;
  if (memory) return "";
  std::vector<std::string> names = scenario.outputs;
  for (const std::string& argument : scenario.arguments)
    if (contains(argument, ".")) names.push_back(argument);
  for (const char* const name :
       {"../in/", "btftool: -: ", "standard input", "standard output", "temporary file"})
    names.emplace_back(name);
  return any_of(err, names) ? "" : "the message names no file: " + err;
}

}  // namespace faults
