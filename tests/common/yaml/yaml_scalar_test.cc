#include "common/yaml/yaml_scalar.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

// The numbers of YAML 1.2's core schema by its own regular expressions' examples.
TEST(CoreSchema, ExamplesOfTheSpecification) {
  for (const char* text : {"0", "-19", "+12", "0o7", "0x3A"}) {
    EXPECT_TRUE(PlainScalar(text)->is_number_integer()) << text;
  }
  for (const char* text : {"0.", "-0.0", ".5", "+12e03", "-2E+05", "1e5"}) {
    EXPECT_TRUE(PlainScalar(text)->is_number_float()) << text;
  }
  for (const char* text : {"0o8", "0xG", "-0x1", "1,000", "1e+", ".", "+", "-", "+.", "e5", "1.2.3",
                           "0b1", "1 ", "١"}) {
    EXPECT_TRUE(PlainScalar(text)->is_string()) << text;
  }
}

TEST(CoreSchema, IntegersReadBack) {
  EXPECT_TRUE(rc::check([](int64_t number) {
    RC_ASSERT(PlainScalar(std::to_string(number)).value() == json(number));
  }));
}

TEST(CoreSchema, FloatsReadBack) {
  EXPECT_TRUE(rc::check([](double number) {
    RC_PRE(std::isfinite(number));
    const json written = number;
    RC_ASSERT(PlainScalar(written.dump()).value().get<double>() == number);
  }));
}

TEST(CoreSchema, EveryTextIsOneOfTheKindsOrRefused) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const Result<json> value = PlainScalar(text);
    RC_ASSERT((!value || value->is_primitive()));
    if (value && value->is_string()) RC_ASSERT(value->get<std::string>() == text);
  }));
}

TEST(Tags, OverrideThePlainMeaning) {
  const std::string core = "tag:yaml.org,2002:";
  EXPECT_EQ(*TaggedScalar(core + "str", "null"), json("null"));
  EXPECT_EQ(*TaggedScalar(core + "float", "3"), json(3));
  EXPECT_EQ(*TaggedScalar(core + "bool", "true"), json(true));
  EXPECT_EQ(*TaggedScalar(core + "null", "~"), json(nullptr));
  EXPECT_FALSE(TaggedScalar(core + "bool", "yes"));
  EXPECT_FALSE(TaggedScalar(core + "int", "1.5"));
  EXPECT_FALSE(TaggedScalar(core + "binary", "aGk="));
  EXPECT_FALSE(TaggedScalar("!include", "secrets.yaml"));
}

}  // namespace
}  // namespace gpuadvise
