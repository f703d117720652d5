// A stored array that was taken for another layout.
#include <algorithm>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/orders.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {

std::vector<OtherLayout> other_layouts(const DiffSide& side) {
  std::vector<OtherLayout> others;
  if (side.storage() == nullptr) return others;
  const StridedLayout& own = *side.storage();
  for (const LayoutSpec& row : layouts()) {
    if (!row.dense() || row.shuffled()) continue;
    auto resolved = resolve(row.layout, side.dims(), side.dtype());
    if (!resolved || resolved->storage_elements != own.storage_elements) continue;
    if (resolved->strides == own.strides && resolved->split == own.split) continue;
    others.emplace_back(&row, *std::move(resolved));
  }
  std::ranges::stable_sort(others, {}, [](const auto& other) { return other.first->lanes; });
  return others;
}

std::string layout_words(const LayoutSpec& row, MovedSide side) {
  const std::string sides = side == MovedSide::actual ? "actual equals golden when its"
                                                      : "golden equals actual when its";
  return sides + " bytes are read as " + std::string(row.name);
}

namespace {

Result<std::optional<Finding>> try_layout(const Inquiry& inquiry, MovedSide side,
                                          const LayoutSpec& row, const StridedLayout& storage,
                                          double hypotheses) {
  const DiffSide& moved = side == MovedSide::actual ? inquiry.input.actual : inquiry.input.golden;
  BTF_ASSIGN(Lookup lookup, Lookup::open(moved, storage));
  const Places same = [](const Point& point) { return std::optional(point.number); };
  BTF_ASSIGN(const bool worth, worth_a_walk(inquiry, side, lookup, same, hypotheses));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(inquiry.input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(inquiry.input.golden));
  const Streams streams = side == MovedSide::actual ? Streams{storage, std::move(golden)}
                                                    : Streams{std::move(actual), storage};
  BTF_ASSIGN(const StreamTally all, compare_streams(inquiry, streams, inquiry.elements, {}));
  if (all.exceptions() > allowed_exceptions(inquiry)) return std::nullopt;
  return Finding{{Cause::layout, layout_words(row, side) + ": " + agreed_text(inquiry, all)},
                 all.exceptions()};
}

}  // namespace

SearchResult find_layout(const Inquiry& inquiry) {
  if (!streamable(inquiry)) return std::nullopt;
  const auto of_actual = other_layouts(inquiry.input.actual);
  const auto of_golden = other_layouts(inquiry.input.golden);
  const auto hypotheses = static_cast<double>(of_actual.size() + of_golden.size());
  for (const MovedSide side : {MovedSide::actual, MovedSide::golden})
    for (const auto& [row, storage] : side == MovedSide::actual ? of_actual : of_golden) {
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_layout(inquiry, side, *row, storage, hypotheses));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace btf::hints
