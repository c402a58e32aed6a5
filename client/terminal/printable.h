// Text from Slurm, files, other people and daemons, made safe to show.
//
// A terminal obeys control characters, and a reader trusts what looks right: an escape sequence
// sets the title or types a command, a bidirectional override shows "a.sh" for another name, and
// two names that differ in an invisible character look the same. So a character is shown only where
// a person can see it: not controls (C0, DEL, C1), not bidirectional controls, not line and
// paragraph separators, not what Unicode says to show as nothing (Default_Ignorable_Code_Point),
// not noncharacters. Letters of all scripts, combining marks and emoji stay, with the invisible
// characters that they are spelt with: joiners and non-joiners inside Arabic, Indic and other
// joining scripts and joiners between emoji, the emoji or text selector after what has both forms,
// the variation selectors of ideographs, the tags of the three flags that have them. The same
// characters elsewhere are replaced: a joiner beside Latin letters, a selector after a letter, two
// in a row, and the selectors of Mongolian and mathematics.
// Pure functions, linear in the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuadvise::client {

inline constexpr char32_t kNotText = 0xffffffff;

struct Character {
  char32_t code = kNotText;  // kNotText: the byte is no UTF-8
  size_t bytes = 1;
};

// The character at the front of `text`. REQUIRES: text is not empty.
Character FrontCharacter(std::string_view text);

// `text` with every character that must not be shown, and every byte that is no UTF-8, replaced by
// '?'. Newlines and tabs count as control characters.
std::string Printable(std::string_view text);

// The same, but newlines and tabs stay: for text of several lines.
std::string PrintableLines(std::string_view text);

// The same for what is ready to be printed: also the line ends of CSV ("\r\n") and, with `colour`,
// sequences that set a colour or weight ("\033[1m") stay.
std::string PrintableOutput(std::string_view text, bool colour);

// The first `most_bytes` of `text` and "…" where it is longer, cut between characters.
std::string Shortened(std::string_view text, size_t most_bytes);

// JSON text that means the same, with such characters inside its strings as \uXXXX.
// REQUIRES: `json` is valid JSON in UTF-8, as nlohmann's dump() makes it.
std::string PrintableJson(std::string_view json);

}  // namespace gpuadvise::client
