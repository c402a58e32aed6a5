#include "client/placeholders.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

const Placeholders kWords = {{"micro_batch", "10"}, {"nodes", "2"}, {"name", "{nodes}"}};

TEST(Placeholders, OurWordsAreFilledIn) {
  EXPECT_EQ(Filled("--batch {micro_batch} -N{nodes}", kWords), "--batch 10 -N2");
  EXPECT_EQ(Filled("", kWords), "");
}

TEST(Placeholders, OtherBracesStay) {
  for (const char* text :
       {"{", "}", "{}", "{unknown}", "${HOME}", "a{1..3}", "{a,b}", "awk '{print $1}'",
        "{micro_batch", "{ micro_batch }", "{Micro_batch}", "f() { echo; }"}) {
    EXPECT_EQ(Filled(text, kWords), text);
  }
}

TEST(Placeholders, TheShellsOwnVariableStays) {
  EXPECT_EQ(Filled("${nodes} {nodes}", kWords), "${nodes} 2");
}

TEST(Placeholders, AValueIsNotReadAgain) { EXPECT_EQ(Filled("{name}", kWords), "{nodes}"); }

TEST(Placeholders, BracesMayTouch) { EXPECT_EQ(Filled("{{nodes}}{nodes}", kWords), "{2}2"); }

}  // namespace
}  // namespace gpuadvise
