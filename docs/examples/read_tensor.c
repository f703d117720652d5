/* Lists the tensors of a file and prints one of them as float32, whatever it is in the file.
 *
 *   read_tensor FILE [INDEX] */
#include <btf/btf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int complain(const char* what) {
  fprintf(stderr, "read_tensor: %s\n", what);
  return 2;
}

static int list(btf_file* file) {
  for (uint64_t i = 0; i < btf_count(file); ++i) {
    btf_tensor_info info = {.size = sizeof info};
    if (btf_info(file, i, &info) != BTF_OK) return complain(btf_file_error(file));
    printf("%" PRIu64 " %s %s", i, info.dtype ? info.dtype : "?", info.layout ? info.layout : "?");
    for (uint64_t d = 0; d < info.rank; ++d) printf("%s%" PRIu64, d == 0 ? " " : "x", info.dims[d]);
    printf("\n");
  }
  return 0;
}

static int print(btf_file* file, uint64_t index) {
  btf_read_options options = {.size = sizeof options, .dtype = "float32", .layout = "kLINEAR"};
  uint64_t bytes = 0;
  if (btf_read_size(file, index, &options, &bytes) != BTF_OK) return complain(btf_file_error(file));
  float* values = malloc(bytes > 0 ? bytes : 1);
  if (values == NULL) return complain("out of memory");
  btf_loss loss = {.size = sizeof loss};
  const btf_status status = btf_read(file, index, &options, values, bytes, &loss);
  if (status == BTF_OK) {
    for (uint64_t i = 0; i < bytes / sizeof *values && i < 4; ++i) printf("%g\n", values[i]);
    printf("%" PRIu64 " elements, %" PRIu64 " rounded\n", loss.elements, loss.inexact);
  }
  free(values);
  return status == BTF_OK ? 0 : complain(btf_file_error(file));
}

int main(int argc, char** argv) {
  if (argc < 2) return complain("usage: read_tensor FILE [INDEX]");
  btf_file* file = btf_open(argv[1]);
  if (file == NULL) return complain(btf_last_error());
  const int code = argc > 2 ? print(file, strtoull(argv[2], NULL, 10)) : list(file);
  btf_close(file);
  return code;
}
