#include "daemon/base/postgres_url.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuadvise::daemon {
namespace {

TEST(PostgresUrl, IsShownWithoutItsSecrets) {
  const auto place =
      ReadPostgresUrl("postgresql://ann:s%40cret@db.site:5433/gpu?sslmode=verify-full");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->shown, "postgresql://ann@db.site:5433/gpu");
  EXPECT_NE(place->connection.find("password='s@cret'"), std::string::npos);
  EXPECT_NE(place->connection.find("sslmode='verify-full'"), std::string::npos);
  EXPECT_NE(place->connection.find("connect_timeout='3'"), std::string::npos);
}

TEST(PostgresUrl, WhatTheSiteSaysOfPatienceStays) {
  const auto place = ReadPostgresUrl("postgresql://db/gpu?connect_timeout=9");
  EXPECT_NE(place->connection.find("connect_timeout='9'"), std::string::npos);
}

TEST(PostgresUrl, ValuesThatNeedQuotesKeepTheirBytes) {
  const auto place = ReadPostgresUrl("postgresql://an%27n:%5C%27@db/gpu");
  ASSERT_TRUE(place);
  EXPECT_NE(place->connection.find(R"(password='\\\'')"), std::string::npos) << place->connection;
}

TEST(PostgresUrl, AnythingElseIsRefusedWithoutRepeatingIt) {
  for (const std::string url : {"mysql://db/x", "db", "postgresql://u:secret@db/x?what=1",
                                "postgresql://db/%", "postgresql://db/x?sslmode"}) {
    const auto place = ReadPostgresUrl(url);
    ASSERT_FALSE(place) << url;
    EXPECT_EQ(place.error().code, ErrorCode::kBadInput);
    EXPECT_EQ(place.error().message.find("secret"), std::string::npos);
    EXPECT_NE(place.error().message.find("postgresql://USER@HOST/DATABASE"), std::string::npos);
  }
}

TEST(PostgresUrl, PasswordsAreHiddenInWhatIsShownOfTheSettings) {
  EXPECT_EQ(WithoutPassword("postgresql://ann:x@db/gpu"), "postgresql://ann:***@db/gpu");
  EXPECT_EQ(WithoutPassword("postgresql://ann@db:5432/gpu"), "postgresql://ann@db:5432/gpu");
  EXPECT_EQ(WithoutPassword("postgresql://db/gpu?password=x&user=a"),
            "postgresql://db/gpu?password=***&user=a");
  EXPECT_EQ(WithoutPassword(""), "");
}

}  // namespace
}  // namespace gpuadvise::daemon
