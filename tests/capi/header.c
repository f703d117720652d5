/* btf.h alone, in C99 without extensions and with every warning. */
#include <btf/btf.h>

int main(void) {
  btf_read_options options = {0};
  options.size = sizeof options;
  return btf_count(NULL) == 0 && btf_status_name(BTF_OK)[0] == 'o' ? 0 : 1;
}
