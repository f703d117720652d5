// A stored array after a chain of edits, in strides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "btf/layout.h"
#include "core/edit_chain.h"

namespace btf {

// Elements of an array by strides. Storage and strides of the layout count from element `base` of
// the array. A mirrored dim, which is never the split one, runs backwards over what the layout
// says. Index i of the split dim is the layout's index lead + i * pace.
struct EditedView {
  StridedLayout storage;
  std::uint64_t base = 0;
  std::uint64_t lead = 0;
  std::uint64_t pace = 1;
  std::vector<bool> mirrored;  // for each dim

  bool mirrors() const;
  // Do strides say where every element is?
  bool by_strides() const { return lead == 0 && pace == 1; }
  // `storage` with all indices of the split dim, by which elements are found.
  StridedLayout whole_storage() const;
};

// The first is of the stored array, each other one of the elements of the one before it in
// row-major order: where strides cannot say what an edit makes of a view, the next view begins.
// Never empty. Nothing may be read of a view without elements.
std::vector<EditedView> edited_views(const StridedLayout& storage, const EditChain& edits);

// How many buffers of the size of a box reading through the views takes; 1 without edits.
std::uint64_t buffers_of(std::span<const EditedView> views);

}  // namespace btf
