#include "daemon/query.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

namespace gpuadvise {
namespace {

TEST(Query, IsDecoded) {
  const auto query = QueryOf("/v1/queue?user=a%20b+c&x&y=&user=d%26&=z");
  EXPECT_EQ(query.at("user"), "d&");
  EXPECT_EQ(query.at("x"), "");
  EXPECT_EQ(query.at("y"), "");
  EXPECT_TRUE(QueryOf("/v1/queue").empty());
  EXPECT_EQ(QueryOf("/?a=%4").at("a"), "%4");
  EXPECT_EQ(QueryOf("/?a=%zz").at("a"), "%zz");
}

RC_GTEST_PROP(Query, AnyTargetIsRead, (const std::string& text)) {
  const auto pairs = static_cast<size_t>(std::count(text.begin(), text.end(), '&')) + 1;
  RC_ASSERT(QueryOf("?" + text).size() <= pairs);
}

TEST(QueueFilter, IsReadFromTheQuery) {
  const auto filter = FilterFrom("/v1/queue?user=ann&partition=gpu&state=running&limit=5&new=1");
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->user, "ann");
  EXPECT_EQ(filter->partition, "gpu");
  EXPECT_EQ(filter->running, true);
  EXPECT_EQ(filter->limit, 5u);
}

TEST(QueueFilter, WhatIsWrongIsNamed) {
  EXPECT_EQ(FilterFrom("/q?state=done").error().message,
            "state is 'done'; write pending or running");
  EXPECT_EQ(FilterFrom("/q?limit=-1").error().message, "limit is '-1'; write a whole number");
}

}  // namespace
}  // namespace gpuadvise
