/* Writes a tensor from memory as float16 in kHWC8, reads it back and compares it with a golden
 * file.
 *
 *   write_and_diff ACTUAL GOLDEN      writes both files */
#include <btf/btf.h>
#include <inttypes.h>
#include <stdio.h>

static int complain(const char* what) {
  fprintf(stderr, "write_and_diff: %s\n", what);
  return 2;
}

/* An image of 3 channels, rows padded to `pitch` elements as a device might have them. */
enum { C = 3, H = 2, W = 5, PITCH = 8 };

static btf_status save(const char* path, const float* image, const char* dtype,
                       const char* layout) {
  const uint64_t dims[] = {1, C, H, W};
  const int64_t strides[] = {C * H * PITCH, H * PITCH, PITCH, 1};
  btf_array array = {.size = sizeof array,
                     .data = image,
                     .bytes = sizeof(float) * C * H * PITCH,
                     .dtype = "float32",
                     .rank = 4,
                     .dims = dims,
                     .strides = strides};
  btf_write_options as = {.size = sizeof as, .dtype = dtype, .layout = layout};
  btf_writer* writer = btf_writer_new();
  if (writer == NULL) return BTF_NO_SPACE;
  btf_status status = btf_writer_add(writer, &array, &as);
  if (status == BTF_OK) status = btf_writer_save(writer, path, NULL, NULL);
  btf_writer_free(writer);
  return status;
}

static int compare(const char* actual_path, const char* golden_path) {
  btf_file* actual = btf_open(actual_path);
  btf_file* golden = actual != NULL ? btf_open(golden_path) : NULL;
  btf_diff_options options = {.size = sizeof options, .rtol = 1e-3};
  btf_diff_result result = {.size = sizeof result};
  int code = 2;
  if (golden != NULL && btf_diff(actual, golden, &options, &result) == BTF_OK) {
    printf("%s: %" PRIu64 " of %" PRIu64 " elements mismatched, largest error %g\n",
           result.same ? "same" : "different", result.mismatched, result.compared, result.max_abs);
    code = result.same ? 0 : 1;
  } else {
    complain(btf_last_error());
  }
  btf_close(golden);
  btf_close(actual);
  return code;
}

int main(int argc, char** argv) {
  if (argc != 3) return complain("usage: write_and_diff ACTUAL GOLDEN");
  float image[C * H * PITCH];
  for (int i = 0; i < C * H * PITCH; ++i) image[i] = (float)i / 10;
  if (save(argv[1], image, "float16", "kHWC8") != BTF_OK ||
      save(argv[2], image, "float32", "kLINEAR") != BTF_OK)
    return complain(btf_last_error());
  return compare(argv[1], argv[2]);
}
