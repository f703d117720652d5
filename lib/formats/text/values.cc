#include "formats/text/values.h"

#include <string>
#include <string_view>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"
#include "formats/decoded/kept_contents.h"
#include "formats/text/codes.h"
#include "formats/text/decimal.h"
#include "formats/text/scanner.h"

namespace btf {
namespace {

std::string why(TextFault wrong, std::string_view word, const DTypeInfo& row) {
  const std::string name(row.name);
  if (wrong == TextFault::no_number) {
    const std::string reason = why_no_number(word);
    return reason.empty() ? "is not a number; white space or commas separate numbers" : reason;
  }
  return wrong == TextFault::fraction ? "is not an integer, as " + name + " needs"
                                      : "is out of the range of " + name;
}

}  // namespace

Result<Spool> read_text_values(const ByteSource& source, DType dtype, std::uint64_t count) {
  const DTypeInfo& row = info(dtype);
  BTF_TRY(check_room_for(stream_bytes(count, row.bits).value_or(UINT64_MAX)));
  const ParseText parse = text_parser(row);
  TextScanner text(source);
  CodeSpool codes(row.bits);
  std::string_view word;
  std::uint64_t found = 0;
  for (; text.next(word); ++found) {
    std::uint64_t code = 0;
    const TextFault wrong = parse(usual_number(word), row, code);
    if (wrong != TextFault::nothing) {
      BTF_ASSIGN(const std::string place, text_place(source, text.offset()));
      return malformed("text-value", text.offset(),
                       place + ": '" + shown_word(word) + "' " + why(wrong, word, row));
    }
    BTF_TRY(codes.add(code));
  }
  BTF_TRY(text.trouble());
  if (found != count) return file_changed();
  return codes.finish();
}

}  // namespace btf
