// A user's program: built against the installed library only.
#include <btf/convert.h>
#include <btf/dtype.h>

int main() { return btf::find_dtype(4) != nullptr ? 0 : 1; }
