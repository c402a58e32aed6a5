// Sentences of the programs in another language, translated where they are shown.
//
// Everything inside speaks English: answers of the API, --json, logs. A line is translated on its
// way to the person, by a catalogue in the format of GNU gettext (po/*.po, compiled by msgfmt),
// whose msgids are the English literals of the sources. A msgid may have fmt's replacement fields;
// it then stands for every sentence of that form, and the translation may put the fields in another
// order ("{1} … {0}"). What no msgid fits stays English.
//
// Pure, and linear in the text times the catalogue's templates; a catalogue is never changed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuadvise {

// The translations of one language.
class Catalogue {
 public:
  Catalogue() = default;  // English: everything stays as it is
  // From the bytes of a .mo file (https://www.gnu.org/software/gettext/manual, "The Format of GNU
  // MO Files"). Bytes that are no such file give an empty catalogue; a translation whose fields are
  // not those of its msgid is left out.
  explicit Catalogue(std::string_view mo);

  // `english` in this language: as a whole, by a template, else by the longest runs of the pieces
  // between "; ", ": ", " · ", " — " and ". " that are sentences; blanks and newlines around it
  // stay. A field holds no end of a sentence ("; ", " · "). A msgid that ends with a blank or "(",
  // or begins with a blank or ",", ".", ":", "(", has one more field there; a leading "; " is left
  // out. A remark in parentheses at the end is translated alone where the whole is not known. Forms
  // with the context "composed" ("{} jobs") are for what the program puts together of parts.
  std::string Of(std::string_view english) const;

  bool empty() const { return exact_.empty() && templates_.empty(); }

 private:
  struct Template {
    std::vector<std::string> literals;     // around the fields: one more than there are fields
    std::vector<std::string> translation;  // the same of the translation
    std::vector<size_t> order;             // which field stands behind translation[i]
    bool composed = false;                 // its fields hold no ": " either
    bool of_a_number = false;              // the first field is a number or a duration
  };

  void Add(std::string_view english, std::string_view translated);
  std::string Translated(std::string_view english, int depth) const;
  std::optional<std::string> AsOneSentence(std::string_view english, int depth) const;
  std::optional<std::string> WithARemark(std::string_view english, int depth) const;
  std::optional<std::string> PieceByPiece(std::string_view english, int depth) const;
  // The translation of `english` where it has this form.
  std::optional<std::string> Filled(const Template& form, std::string_view english,
                                    int depth) const;

  std::unordered_map<std::string, std::string> exact_;
  std::vector<Template> templates_;  // the one with most letters first
  std::vector<Template> composed_;   // of the context "composed", in the same order
};

// The translations into `language` ("ko"), read at the first call; nullptr where there are none,
// and for English. From any thread.
const Catalogue* CatalogueOf(std::string_view language);

}  // namespace gpuadvise
