// Readers of file formats, one function for each row of the table (format_table.cc), and what other
// formats use of them.
#pragma once

#include <memory>
#include <string_view>

#include "btf/file.h"
#include "btf/validate.h"
#include "formats/format.h"

namespace btf {

// Reports where the structure of a BTF file deviates from the canonical form. Does not read
// elements.
Status check_btf(const TensorFile& file, const FindingSink& report);

// NumPy's .npz: a zip file whose members are .npy files.

// Recognises any zip file; those without arrays are then refused with a message of their own.
Result<bool> recognizes_npz(const ByteSource& source, const OpenRequest& request);

// A spec gives the dtype of arrays whose own type only has a width.
Result<std::unique_ptr<TensorReader>> open_npz(const ByteSource& source,
                                               const OpenRequest& request);

// Reads all members, since only that verifies their CRCs.
Status check_npz(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> npz_writer(const WriteRequest& request);

// JSON of Polygraphy: what "polygraphy run --save-outputs" and "--save-inputs" write.

Result<bool> recognizes_polygraphy(const ByteSource& source, const OpenRequest& request);

// A spec gives the dtype of arrays whose own type only has a width.
Result<std::unique_ptr<TensorReader>> open_polygraphy(const ByteSource& source,
                                                      const OpenRequest& request);

// Reads all arrays, since only that verifies that their text is base64.
Status check_polygraphy(const TensorFile& file, const FindingSink& report);

// Writers for "polygraphy run --load-outputs" and for --load-inputs.
std::unique_ptr<TensorWriter> polygraphy_outputs_writer(const WriteRequest& request);
std::unique_ptr<TensorWriter> polygraphy_inputs_writer(const WriteRequest& request);

// Files without a header: one tensor, described by a spec or by the name that trtexec gave it.

// Including the padding after the last element.
std::optional<std::uint64_t> raw_bytes(const OpenRequest& request);
Result<bool> recognizes_raw(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_raw(const ByteSource& source,
                                               const OpenRequest& request);
Status check_raw(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> raw_writer(const WriteRequest& request);

// safetensors: many named tensors after a JSON header.

inline constexpr std::string_view kSafetensorsEnding = ".safetensors";

Result<bool> recognizes_safetensors(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_safetensors(const ByteSource& source,
                                                       const OpenRequest& request);
Status check_safetensors(const TensorFile& file, const FindingSink& report);

std::unique_ptr<TensorWriter> safetensors_writer(const WriteRequest& request);

Result<bool> begins_as_safetensors(const ByteSource& beginning);
std::unique_ptr<StreamBound> safetensors_bound();

// Numbers in text, as np.savetxt and tools of edge devices write them: one tensor, for which a spec
// gives the dtype. Read only.

Result<bool> recognizes_text(const ByteSource& source, const OpenRequest& request);

// Returns true if the first thing after comments is a number.
bool begins_with_number(const ByteSource& source);

// Reads the whole text once to count its numbers.
Result<std::unique_ptr<TensorReader>> open_text(const ByteSource& source,
                                                const OpenRequest& request);

// Parses all numbers.
Status check_text(const TensorFile& file, const FindingSink& report);

// Files of torch.save since PyTorch 1.6: ".pt", ".pth", ".bin". Read only.

inline constexpr std::string_view kTorchPickleMember = "/data.pkl";

// Recognises a zip file with a member "NAME/data.pkl". An error for checkpoints of
// torch.distributed, whose parts may look like one.
Result<bool> recognizes_torch(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_torch(const ByteSource& source,
                                                 const OpenRequest& request);
Status check_torch(const TensorFile& file, const FindingSink& report);

// Outputs that trtexec --exportOutput wrote: JSON with every value as text. Read only.

// Returns true if such a file may begin with `start`, for which a few hundred bytes are enough.
bool begins_as_trtexec_outputs(std::string_view start);

Result<bool> recognizes_trtexec(const ByteSource& source, const OpenRequest& request);

// A spec may give the dtype; without it values are float32.
Result<std::unique_ptr<TensorReader>> open_trtexec(const ByteSource& source,
                                                   const OpenRequest& request);

// Parses all values.
Status check_trtexec(const TensorFile& file, const FindingSink& report);

}  // namespace btf
