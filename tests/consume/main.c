/* A user's program in C, built against the installed library only.
 *
 *   consume_c FILE.btf */
#include <btf/btf.h>
#include <stdio.h>

int main(int argc, char** argv) {
  btf_file* file = argc == 2 ? btf_open(argv[1]) : NULL;
  if (file == NULL) {
    fprintf(stderr, "consume_c: %s\n", argc == 2 ? btf_last_error() : "usage: consume_c FILE.btf");
    return 1;
  }
  for (uint64_t i = 0; i < btf_count(file); ++i) {
    btf_tensor_info info = {0};
    info.size = sizeof info;
    if (btf_info(file, i, &info) != BTF_OK) return 1;
    printf("%llu %s %s [", (unsigned long long)i, info.dtype, info.layout);
    for (uint64_t d = 0; d < info.rank; ++d) printf(" %llu", (unsigned long long)info.dims[d]);
    printf(" ]\n");
  }
  btf_close(file);
  return 0;
}
