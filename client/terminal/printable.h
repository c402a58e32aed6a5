// Makes text from Slurm, files, other users and daemons safe to show.
//
// A terminal obeys control characters, and readers trust what they see: an escape sequence can set
// the title or type a command, a bidirectional override can show "a.sh" for another name, and two
// names that differ in an invisible character look equal. So only visible characters are shown: no
// controls (C0, DEL, C1), bidirectional controls, line and paragraph separators, characters that
// Unicode renders as nothing (Default_Ignorable_Code_Point) or noncharacters. Letters of all
// scripts, combining marks and emoji stay, with the invisible characters of their spelling: joiners
// and non-joiners in Arabic, Indic and other joining scripts, joiners between emoji, the emoji or
// text selector after characters with both forms, the variation selectors of ideographs, the tags
// of the three flags that have them. Elsewhere these characters are replaced: a joiner next to
// Latin letters, a selector after a letter, two in a row, the selectors of Mongolian and
// mathematics. Pure functions, linear in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuadvise::client {

inline constexpr char32_t kNotText = 0xffffffff;

struct Character {
  char32_t code = kNotText;  // kNotText: the byte is not valid UTF-8
  size_t bytes = 1;
};

// The character at the front of `text`. REQUIRES: text is not empty.
Character FrontCharacter(std::string_view text);

// `text` with '?' for each character that must not be shown and each byte of invalid UTF-8.
// Newlines and tabs count as control characters.
std::string Printable(std::string_view text);

// As Printable, but keeps newlines and tabs, for text of several lines.
std::string PrintableLines(std::string_view text);

// As PrintableLines, but also keeps line ends of CSV ("\r\n") and, with `colour`, sequences that
// set a colour or weight ("\033[1m"), for complete output.
std::string PrintableOutput(std::string_view text, bool colour);

// Equivalent JSON text with such characters in strings written as \uXXXX. REQUIRES: `json` is valid
// JSON in UTF-8, as from nlohmann's dump().
std::string PrintableJson(std::string_view json);

}  // namespace gpuadvise::client
