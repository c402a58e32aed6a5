// Sentences to translate, which anybody may send (daemon/api/words_api.h).
#include "common/language/catalogue.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  constexpr size_t kMostTextBytes = 1'000;
  constexpr size_t kMostOfTheCatalogue = 10'000;  // a translation is no longer than its pieces' own
  const std::string_view text = AsText(data, size).substr(0, kMostTextBytes);
  static const Catalogue* const korean = CatalogueOf("ko");
  if (korean == nullptr) return 0;  // without msgfmt
  const std::string translated = korean->Of(text);
  Require(translated.size() <= kMostOfTheCatalogue + 100 * text.size(), "it stays in proportion");
  Require(korean->Of(text) == translated, "the same text is always the same");
  return 0;
}
