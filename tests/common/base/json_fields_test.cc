#include "common/base/json_fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

// The error after `read` has asked a reader of `text` for something; an empty Error when none.
template <typename Read>
Error ErrorAfter(const char* text, Read read) {
  DocumentErrors errors;
  const json document = json::parse(text);
  FieldReader reader(document, "/top", &errors);
  read(reader);
  return errors.failed() ? errors.AsResult().error() : Error{};
}

TEST(FieldReader, MissingAndNullMembersAreEmpty) {
  Error error = ErrorAfter(R"({"b": null})", [](FieldReader& reader) {
    EXPECT_FALSE(reader.Int("a", 0, 1));
    EXPECT_FALSE(reader.Text("b"));
    EXPECT_TRUE(reader.Texts("c").empty());
  });
  EXPECT_EQ(error.message, "");
}

TEST(FieldReader, KeepsOnlyTheFirstError) {
  Error error = ErrorAfter(R"({"a": "x", "b": "y"})", [](FieldReader& reader) {
    reader.Int("a", 0, 9);
    reader.Int("b", 0, 9);
  });
  EXPECT_EQ(error.pointer, "/top/a");
  EXPECT_EQ(error.message, "a must be a whole number from 0 to 9, not 'x'");
}

TEST(FieldReader, WholeFloatsAreWholeNumbers) {
  ErrorAfter(R"({"a": 1e3})",
             [](FieldReader& reader) { EXPECT_EQ(reader.Int("a", 0, 2000), 1000); });
  EXPECT_FALSE(
      ErrorAfter(R"({"a": 1.5})", [](FieldReader& r) { r.Int("a", 0, 9); }).message.empty());
}

TEST(FieldReader, BoundsAreInclusive) {
  Error error = ErrorAfter(R"({"a": 9, "b": 0})", [](FieldReader& reader) {
    EXPECT_EQ(reader.Int("a", 0, 9), 9);
    EXPECT_EQ(reader.Int("b", 0, 9), 0);
  });
  EXPECT_EQ(error.message, "");
}

TEST(FieldReader, SwitchTakesBooleansAndItsWords) {
  ErrorAfter(R"({"a": true, "b": "auto"})", [](FieldReader& reader) {
    EXPECT_EQ(reader.Switch("a", {"auto"}), "true");
    EXPECT_EQ(reader.Switch("b", {"auto"}), "auto");
  });
  Error error = ErrorAfter(R"({"a": "atuo"})", [](FieldReader& r) { r.Switch("a", {"auto"}); });
  EXPECT_EQ(error.message, "a must be one of true, false and auto, not 'atuo'");
}

TEST(FieldReader, ChoiceNamesTheNearest) {
  Error error = ErrorAfter(R"({"o": "finsh"})", [](FieldReader& r) {
    r.Choice("o", {"finish", "start"});
  });
  EXPECT_EQ(error.message,
            "o must be one of finish and start, not 'finsh' (did you mean 'finish'?)");
}

TEST(FieldReader, TimeLimitsAreSlurms) {
  Error error =
      ErrorAfter(R"({"a": "12:00:00", "b": "2-00:00:00", "c": 90})", [](FieldReader& reader) {
        EXPECT_EQ(reader.TimeLimit("a"), 12 * 3600);
        EXPECT_EQ(reader.TimeLimit("b"), 2 * 86400);
        EXPECT_EQ(reader.TimeLimit("c"), 90 * 60);
      });
  EXPECT_EQ(error.message, "");
  for (const char* bad : {R"({"a": 0})", R"({"a": "UNLIMITED"})", R"({"a": -5})",
                          R"({"a": "soon"})", R"({"a": []})"}) {
    EXPECT_EQ(ErrorAfter(bad, [](FieldReader& r) { r.TimeLimit("a"); }).pointer, "/top/a") << bad;
  }
}

TEST(FieldReader, UnknownMembersAreRefusedByName) {
  Error error = ErrorAfter(R"({"known": 1, "knwon": 2})", [](FieldReader& reader) {
    reader.Any("known");
    reader.RefuseUnknown();
  });
  EXPECT_EQ(error.message, "unknown key 'knwon' (did you mean 'known'?)");
}

TEST(FieldReader, AListWhereAMappingBelongsIsSaid) {
  EXPECT_EQ(ErrorAfter("[1]", [](FieldReader&) {}).message,
            "top must be a mapping of keys to values, not a list");
}

TEST(PointerTo, EscapesAsRfc6901) { EXPECT_EQ(PointerTo("/a", "b/c~d"), "/a/b~1c~0d"); }

TEST(KindOf, CutsLongText) { EXPECT_LT(KindOf(json(std::string(10000, 'x'))).size(), 110u); }

TEST(DocumentErrors, AreGatheredOncePerPlace) {
  DocumentErrors errors;
  errors.Note("no number", "/a/b");
  errors.Note("not positive", "/a/b");    // the same value
  errors.Note("no such item", "/a/b/0");  // in it
  errors.Note("incomplete", "/a");        // around it
  errors.Note("unknown", "/ab");
  const Error error = errors.AsResult().error();
  EXPECT_EQ(error.message, "no number");
  ASSERT_EQ(error.further.size(), 1U);
  EXPECT_EQ(error.further[0].pointer, "/ab");
  for (int i = 0; i < 1000; ++i) errors.Note("unknown", "/c" + std::to_string(i));
  EXPECT_EQ(errors.AsResult().error().further.size(), 7U);
}

}  // namespace
}  // namespace gpuadvise
