#include "client/records/gpu_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpuadvise::client {
namespace {

using ::testing::HasSubstr;

constexpr const char* kNothing =
    R"({"status":"success","data":{"resultType":"vector","result":[]}})";

std::string VectorOf(const std::string& value) {
  return R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,")" +
         value + R"("]}]}})";
}

JobEfficiency Job(int64_t id, int64_t gpus) {
  JobEfficiency job;
  job.raw_id = id;
  job.gpus = gpus;
  job.elapsed_seconds = 3600;
  job.ended_at = 1'800'000'000;
  return job;
}

GpuMetrics Site() { return {"http://prometheus:9090/", kUsualUseQuery, kUsualMemoryQuery}; }

TEST(NumberOfQuery, ReadsPrometheusAnswers) {
  EXPECT_EQ(*NumberOfQuery(VectorOf("93.5")), 93.5);
  EXPECT_EQ(
      *NumberOfQuery(R"({"status":"success","data":{"resultType":"scalar","result":[1,"7"]}})"), 7);
  EXPECT_EQ(*NumberOfQuery(kNothing), std::nullopt);
  for (const char* none : {"NaN", "+Inf", "", "12x"}) {
    EXPECT_EQ(*NumberOfQuery(VectorOf(none)), std::nullopt) << none;
  }
}

TEST(NumberOfQuery, SaysWhatIsWrong) {
  const auto said = [](const std::string& answer) {
    const auto number = NumberOfQuery(answer);
    return number ? "" : number.error().message;
  };
  EXPECT_EQ(said(R"({"status":"error","errorType":"bad_data","error":"parse error at 3"})"),
            "parse error at 3");
  EXPECT_THAT(said(R"({"status":"success","data":{"resultType":"vector","result":[
                {"metric":{},"value":[1,"2"]},{"metric":{},"value":[1,"3"]}]}})"),
              HasSubstr("2 series"));
  for (const char* wild :
       {"", "[]", "{}", "<html>", R"({"status":1})", R"({"status":"success","data":[]})",
        R"({"status":"success","data":{"result":{"a":1}}})", R"({"status":"error","error":5})",
        R"({"status":"success","data":{"resultType":"matrix","result":[]}})",
        R"({"status":"success","data":{"resultType":1,"result":[7]}})"}) {
    EXPECT_NE(said(wild), "") << wild;
  }
  EXPECT_EQ(*NumberOfQuery(R"({"status":"success","data":{"resultType":"scalar","result":[]}})"),
            std::nullopt);
}

TEST(AddGpuMetrics, AsksForTheTimeOfTheJob) {
  std::vector<std::string> urls;
  std::vector<JobEfficiency> jobs = {Job(4711, 2), Job(4712, 0)};
  const auto get = [&](const std::string& place, const std::string& target) -> Result<std::string> {
    urls.push_back(place + target);
    return VectorOf(urls.size() == 1 ? "25" : "8589934592");
  };
  EXPECT_EQ(AddGpuMetrics(Site(), get, &jobs), "");
  EXPECT_DOUBLE_EQ(*jobs[0].gpu_use, .25);
  EXPECT_TRUE(jobs[0].gpu_use_is_mean);
  EXPECT_EQ(jobs[0].gpu_memory_bytes, int64_t{8} << 30);
  EXPECT_FALSE(jobs[1].gpu_use) << "it had no GPU";
  ASSERT_EQ(urls.size(), 2u);
  EXPECT_EQ(urls[0],
            "http://prometheus:9090//api/v1/query?query=avg%28avg_over_time%28DCGM_FI_DEV_GPU_UTIL"
            "%7Bhpc_job%3D%224711%22%7D%5B3600s%5D%29%29&time=1800000000");
}

TEST(AddGpuMetrics, WhatPrometheusLacksStaysAsItWas) {
  std::vector<JobEfficiency> jobs = {Job(1, 1), Job(2, 1)};
  jobs[0].gpu_use = .5;
  jobs[1].gpu_use = .6;
  jobs[1].gpu_use_is_mean = true;  // `gpuadvise run` sampled it
  int asked = 0;
  const auto nothing = [&](const std::string&, const std::string&) -> Result<std::string> {
    ++asked;
    return std::string(kNothing);
  };
  EXPECT_EQ(AddGpuMetrics(Site(), nothing, &jobs), "");
  EXPECT_EQ(asked, 2);
  EXPECT_DOUBLE_EQ(*jobs[0].gpu_use, .5);
  EXPECT_FALSE(jobs[0].gpu_use_is_mean);
  EXPECT_EQ(AddGpuMetrics({}, nothing, &jobs), "");
  EXPECT_EQ(asked, 2) << "a site without Prometheus is not asked";
}

TEST(AddGpuMetrics, StopsAtTheFirstErrorAndSaysIt) {
  std::vector<JobEfficiency> jobs = {Job(1, 1), Job(2, 1)};
  int asked = 0;
  const auto dead = [&](const std::string&, const std::string&) -> Result<std::string> {
    ++asked;
    return Fail(ErrorCode::kUnavailable, "no answer within 5 s");
  };
  EXPECT_EQ(AddGpuMetrics(Site(), dead, &jobs),
            "Prometheus does not report the GPU use: no answer within 5 s");
  EXPECT_EQ(asked, 1);
  const auto wrong = [](const std::string&, const std::string&) -> Result<std::string> {
    return VectorOf("900");
  };
  EXPECT_THAT(AddGpuMetrics(Site(), wrong, &jobs), HasSubstr("gpu_use_query gives 900"));
  EXPECT_FALSE(jobs[0].gpu_use);
}

TEST(AddGpuMetrics, ALongListIsCut) {
  std::vector<JobEfficiency> jobs(200, Job(1, 1));
  int asked = 0;
  const auto get = [&](const std::string&, const std::string&) -> Result<std::string> {
    ++asked;
    return VectorOf("50");
  };
  EXPECT_THAT(AddGpuMetrics(Site(), get, &jobs), HasSubstr("the first 50 jobs"));
  EXPECT_EQ(asked, 100);
}

}  // namespace
}  // namespace gpuadvise::client
