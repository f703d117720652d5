/* btf.h alone, in C99 or C11 without extensions and with every warning. */
#include <btf/btf.h>

int main(void) {
  btf_read_options options = {0};
  options.size = sizeof options;
  btf_diff_options diff = {0};
  diff.size = sizeof diff;
  diff.report = 0;
  btf_set_diff_options sets = {0};
  sets.size = sizeof sets;
  sets.file = 0;
  btf_report_free(NULL);
  return btf_count(NULL) == 0 && btf_set_member_count(NULL) == 0 && BTF_NONE == UINT64_MAX && btf_status_name(BTF_OK)[0] == 'o' ? 0 : 1;
}
