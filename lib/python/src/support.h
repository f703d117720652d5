// What all parts of the module share: errors as exceptions, long work without the GIL, options and
// their names in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layout.h"

namespace btf::python {

// Sets the exception that btf/_errors.py has for the error and throws it. Needs the GIL.
[[noreturn]] void raise(const Error& error);

inline void check(const Status& status) {
  if (!status) raise(status.error());
}

template <typename T>
T value(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

// Returns true in the main thread, the only one that receives signals.
bool in_main_thread();

// Calls that read fewer bytes end too soon for a thread of their own to pay.
inline constexpr std::uint64_t kLong = 16U << 20;

// Calls work(execution) without the GIL. It must return a Result or a Status, and must not touch
// Python objects. Long work runs on a thread of its own, so that Ctrl-C ends it.
template <typename Work>
auto run(unsigned jobs, std::uint64_t bytes, Work&& work) {
  std::atomic<bool> cancel = false;
  Execution execution;
  execution.jobs = jobs;
  execution.cancel = &cancel;
  std::optional<decltype(work(execution))> answer;
  if (bytes < kLong || !in_main_thread()) {
    const nanobind::gil_scoped_release free;
    answer.emplace(work(execution));
    return *std::move(answer);
  }
  constexpr std::chrono::milliseconds kLook(20);
  std::exception_ptr thrown;
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  bool interrupted = false;
  {
    const nanobind::gil_scoped_release free;
    std::thread worker([&] {
      try {
        answer.emplace(work(execution));
      } catch (...) {
        thrown = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      finished = true;
      done.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kLook, [&] { return finished; })) {
      if (interrupted) continue;
      lock.unlock();
      {
        const nanobind::gil_scoped_acquire hold;
        interrupted = PyErr_CheckSignals() != 0;
      }
      if (interrupted) cancel = true;
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (interrupted) throw nanobind::python_error();
  if (thrown) std::rethrow_exception(thrown);
  return *std::move(answer);
}

// Replaces members of options in the library's texts by their names in Python:
// "`tolerance.atol` 0.01" -> "atol=0.01"; "`overflow`" -> "overflow".
std::string python_words(std::string text);

// The value with this name. The error for an unknown name lists all names.
template <typename Value>
Value named(std::string_view option, const std::string& name, std::span<const Named<Value>> rows) {
  std::string there;
  for (const Named<Value>& row : rows) {
    if (row.name == name) return row.value;
    there += (there.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  raise(fail(ErrorCode::invalid_argument,
             std::string(option) + " '" + name + "' is not supported; there are " + there)
            .error());
}

struct CastOptions {
  std::optional<DType> dtype{};    // unset: as in the file
  std::optional<Layout> layout{};  // unset: as in the file
  CastPolicy policy{};
  Duplicates duplicates = Duplicates::error;
  unsigned jobs = 0;
};

// Accepts any name of a layout, also with its DLA: "kDLA_HWC4:xavier".
Layout layout_named(const std::string& name);

// A number, or a sequence of numbers.
std::vector<std::uint64_t> sizes_of(nanobind::handle argument);

// Reads the keyword arguments dtype, layout, overflow, rounding, lossless, duplicates and jobs. Any
// other one is a TypeError that names it.
CastOptions cast_options(const nanobind::dict& given);

// Each adds a part of the module.
void bind_array(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_convert(nanobind::module_& module);
void bind_diff(nanobind::module_& module);
void bind_fit(nanobind::module_& module);
void bind_layers(nanobind::module_& module);
void bind_set(nanobind::module_& module);
void bind_sparse(nanobind::module_& module);
void bind_tables(nanobind::module_& module);
void bind_validate(nanobind::module_& module);
void bind_write(nanobind::module_& module);

}  // namespace btf::python
