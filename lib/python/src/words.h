// Members of options in the library's texts, as Python has them.
#pragma once

#include <string>

namespace btf::python {

// "`tolerance.atol` 0.01" -> "atol=0.01"; "`overflow`" -> "overflow".
std::string python_words(std::string text);

}  // namespace btf::python
