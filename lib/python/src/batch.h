// Work that the workers of an executor share; its results are kept in a part.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/part.h"
#include "btf/share.h"

namespace btf::python {

struct BatchPlan {
  std::string command;
  std::vector<std::string> operands;
  std::string digest{};
  bool directories = false;
  std::vector<std::string> others{};
  std::vector<std::uint64_t> costs{};  // by number of the item
};

// An error if a worker finds other files than those of which the plan was made.
inline Status check_plan(const std::string& found, const std::string& planned) {
  if (found == planned) return {};
  return fail(ErrorCode::refused,
              "the files are not those of the plan: some were added, "
              "removed or got another size since");
}

// States of files, asked for in functions that cannot fail: the first error is that of the worker.
struct FileStates {
  std::optional<FileState> of(const std::string& path,
                              const std::optional<FileState>& opened = std::nullopt) {
    if (opened) return opened;
    const auto now = FileState::of(path);
    if (now) return *now;
    if (status) status = std::unexpected(now.error());
    return std::nullopt;
  }

  Status status{};
};

// Makes a plan and measures nothing: plan() ends the run. plan_of() must convert `Planned` into
// items of a plan.
template <typename Planned, typename Measured>
struct PlanOnly final : ItemShare<Planned, Measured> {
  PlanOnly(BatchPlan& plan_to, const std::vector<std::string>& deciding)
      : batch(plan_to), words(deciding) {}

  Status plan(std::span<const Planned> items) override {
    const std::vector<PlannedPair> pairs = plan_of(items);
    batch.digest = plan_digest(batch.command, words, 1, pairs);
    for (const PlannedPair& pair : pairs) batch.costs.push_back(pair.bytes + kPairCost);
    planned = true;
    return fail(ErrorCode::cancelled, "planned");
  }
  bool is_own(std::uint64_t) const override { return false; }
  const Measured* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t, const Measured&) override {}

  BatchPlan& batch;
  const std::vector<std::string>& words;
  bool planned = false;
};

void bind_fit_batch(nanobind::module_& module);
void bind_layer_batch(nanobind::module_& module);
void bind_convert_batch(nanobind::module_& module);

}  // namespace btf::python
