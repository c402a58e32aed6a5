#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "daemon/api/requests.h"

namespace gpuadvise::daemon {
namespace {

TEST(Query, IsDecoded) {
  const auto query = ParseQuery("/v1/queue?user=a%20b+c&x&y=&user=d%26&=z");
  EXPECT_EQ(query.at("user"), "d&");
  EXPECT_EQ(query.at("x"), "");
  EXPECT_EQ(query.at("y"), "");
  EXPECT_TRUE(ParseQuery("/v1/queue").empty());
  EXPECT_EQ(ParseQuery("/?a=%4").at("a"), "%4");
  EXPECT_EQ(ParseQuery("/?a=%zz").at("a"), "%zz");
}

RC_GTEST_PROP(Query, AnyTargetIsRead, (const std::string& text)) {
  const auto pairs = static_cast<size_t>(std::count(text.begin(), text.end(), '&')) + 1;
  RC_ASSERT(ParseQuery("?" + text).size() <= pairs);
}

TEST(Query, OneTextStandsForAllThatAskTheSame) {
  EXPECT_EQ(CanonicalTarget("/v1/queue?user=a&gpu=&limit=5"),
            CanonicalTarget("/v1/queue?limit=5&&user=b&user=%61"));
  EXPECT_NE(CanonicalTarget("/v1/queue?user=a"), CanonicalTarget("/v1/queue?user=b"));
  EXPECT_EQ(CanonicalTarget("/v1/queue?"), "/v1/queue");
}

TEST(Query, NoValueLooksLikeAnotherParameter) {
  EXPECT_NE(CanonicalTarget("/v1/queue?gpu=a100%3Flimit%3D100"),
            CanonicalTarget("/v1/queue?gpu=a100&limit=100"));
  EXPECT_NE(CanonicalTarget("/v1/queue?gpu=a100%3Flimit%3D3%3A100"),
            CanonicalTarget("/v1/queue?gpu=a100&limit=100"));
}

TEST(Query, WhatIsNotKnownOrTooLongIsRefused) {
  EXPECT_TRUE(CheckQuery("/v1/queue?user=a&user=b", "user,limit"));
  EXPECT_EQ(CheckQuery("/v1/queue?usr=a", "user,limit").error().message,
            "unknown parameter 'usr'; known are user, limit");
  EXPECT_EQ(CheckQuery("/v1/queue?user=" + std::string(257, 'x'), "user").error().message,
            "user has 257 bytes; 256 are possible");
  EXPECT_FALSE(CheckQuery("/q?" + std::string(1000, '&'), "user"));
}

TEST(QueueFilter, IsReadFromTheQuery) {
  const auto filter =
      ParseQueueFilter("/v1/queue?user=ann&partition=gpu&state=running&limit=5&new=1");
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->user, "ann");
  EXPECT_EQ(filter->partition, "gpu");
  EXPECT_EQ(filter->running, true);
  EXPECT_EQ(filter->limit, 5u);
}

TEST(QueueFilter, WhatIsWrongIsNamed) {
  EXPECT_EQ(ParseQueueFilter("/q?state=done").error().message,
            "state is 'done'; write pending or running");
  EXPECT_EQ(ParseQueueFilter("/q?limit=-1").error().message, "limit is '-1'; write a whole number");
}

TEST(QueueFilter, APageIsReadFromTheQuery) {
  const auto filter =
      ParseQueueFilter("/v1/queue?gpu=l40s&search=a%26b&offset=200&limit=100&state=");
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->gpu, "l40s");
  EXPECT_EQ(filter->search, "a&b");
  EXPECT_EQ(filter->offset, 200u);
  EXPECT_EQ(filter->limit, 100u);
  EXPECT_EQ(filter->running, std::nullopt);
  EXPECT_EQ(ParseQueueFilter("/v1/queue")->limit, kMostFileRows);
  EXPECT_FALSE(ParseQueueFilter("/v1/queue?format=json")->as_file);
  EXPECT_TRUE(ParseQueueFilter("/v1/queue?format=csv")->as_file);
}

TEST(NodesFilter, IsReadFromTheQuery) {
  const auto filter =
      ParseNodesFilter("/v1/nodes?partition=gpu&gpu=l40s&condition=drained&offset=7");
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->partition, "gpu");
  EXPECT_EQ(filter->gpu, "l40s");
  EXPECT_EQ(filter->condition, NodeUse::kDrained);
  EXPECT_EQ(filter->offset, 7u);
  EXPECT_EQ(filter->limit, 200u);
}

TEST(NodesFilter, WhatIsWrongIsNamed) {
  EXPECT_EQ(ParseNodesFilter("/n?condition=gone").error().message,
            "condition is 'gone'; write free, partly, busy, promised, drained, down, broken or "
            "idle_allocated");
  EXPECT_TRUE(ParseNodesFilter("/n?condition=broken&node=n1")->broken);
  EXPECT_EQ(ParseNodesFilter("/n?condition=broken&node=n1")->node, "n1");
  for (const char* bad :
       {"-1", "", "1.5", "0x10", "1e3", " 1", "1 ", "+1", "99999999999999999999x"}) {
    EXPECT_FALSE(ParseNodesFilter(std::string("/n?offset=") + bad)) << bad;
  }
}

TEST(NodesFilter, ANumberBeyondEveryListIsTheLargest) {
  EXPECT_EQ(ParseNodesFilter("/n?limit=123456789012345678901234567890")->limit, 1'000'000'000u);
  EXPECT_EQ(ParseNodesFilter("/n?offset=18446744073709551615")->offset, 1'000'000'000u);
}

}  // namespace
}  // namespace gpuadvise::daemon
