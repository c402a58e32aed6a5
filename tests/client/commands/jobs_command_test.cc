#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/views/experiment_words.h"
#include "client/views/job_detail.h"
#include "client/views/jobs_table.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

json Data(const std::string& name) { return json::parse(TestData(name)); }

class JobsCommandTest : public testing::Test, protected FakeProcess {
 protected:
  JobsCommandTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  int Jobs(std::vector<std::string> words) {
    words.insert(words.begin(), "jobs");
    return Gpuadvise(std::move(words));
  }
  // What is printed of jobs.json.
  std::string Printed(std::vector<std::string> words) {
    api.Answer(Data("jobs.json"));
    EXPECT_EQ(Jobs(std::move(words)), kExitOk) << console.complained;
    return console.printed;
  }
};

std::vector<int64_t> Ids(const std::string& printed) {
  std::vector<int64_t> ids;
  const json answer = json::parse(printed);
  for (const json& job : answer["jobs"]) ids.push_back(job["job_id"]);
  return ids;
}

TEST_F(JobsCommandTest, PrintsTheLogAsWideAsTheTerminal) {
  for (const int width : {80, 120, 200}) {
    console.shown.width = width;
    console.printed.clear();
    ExpectGolden("jobs_" + std::to_string(width) + ".txt", Printed({}));
  }
  EXPECT_EQ(api.asked.front().first, "/v1/advice");
}

TEST_F(JobsCommandTest, ASweepIsOneRow) {
  json answer = Data("jobs.json");
  for (const size_t i : {size_t{0}, size_t{1}}) answer["jobs"][i]["sweep"] = 4715;
  answer["sweeps"] = {{{"job_id", 4715},
                       {"name", "gr00t-finetune"},
                       {"submitted_at", 1789992800},
                       {"arrays", {4715, 4716}},
                       {"runs", 80},
                       {"done", 34},
                       {"running", 40},
                       {"waiting", 6},
                       {"end_p50", 1790010000},
                       {"end_p90", 1790020000}}};
  const auto printed = [&](std::vector<std::string> words) {
    console.printed.clear();
    api.Answer(answer);
    EXPECT_EQ(Jobs(std::move(words)), kExitOk) << console.complained;
    return console.printed;
  };
  for (const int width : {80, 200}) {
    console.shown.width = width;
    ExpectGolden("jobs_sweep_" + std::to_string(width) + ".txt", printed({}));
  }
  EXPECT_THAT(printed({"-r"}), HasSubstr("4716"));
}

TEST_F(JobsCommandTest, NarrowTerminalsStillShowJobAndState) {
  console.shown.width = 40;
  EXPECT_THAT(Printed({}), HasSubstr("4650  OOM "));
}

TEST_F(JobsCommandTest, SaysEverythingOfOne) {
  for (const int width : {80, 160}) {
    console.shown.width = width;
    console.printed.clear();
    api.Answer(Data("job.json"));
    EXPECT_EQ(Jobs({"4703"}), kExitOk);
    ExpectGolden("job_" + std::to_string(width) + ".txt", console.printed);
  }
  EXPECT_EQ(api.asked.front().first, "/v1/advice?job=4703");
}

TEST_F(JobsCommandTest, OneThatWaitsHasNothingRealYet) {
  json answer = Data("jobs.json");
  answer["jobs"] = json::array({answer["jobs"][0]});
  api.Answer(answer);
  EXPECT_EQ(Jobs({"4716"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("forecast to wait 3 h 10 (9 h)"));
  EXPECT_THAT(console.printed, HasSubstr("forecast to need 34.0 of 48.0 GiB per GPU"));
  EXPECT_THAT(console.printed, Not(HasSubstr("Starts of the command")));
}

TEST_F(JobsCommandTest, OneThatRunsSaysForHowLong) {
  json answer = Data("jobs.json");
  answer["jobs"] = json::array({answer["jobs"][1]});
  api.Answer(answer);
  EXPECT_EQ(Jobs({"4715"}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("runs for 2 h, said 20 h 32 (22 h 13)\n"));
}

TEST_F(JobsCommandTest, AJobOfNobodyIsTheApisSentence) {
  api.AnswerError({ErrorCode::kNotFound, "no job 7 is known", ""});
  EXPECT_EQ(Jobs({"7"}), kExitUsage);
  EXPECT_EQ(console.complained, "gpuadvise: no job 7 is known\n");
}

TEST_F(JobsCommandTest, JsonIsTheApisAnswerFiltered) {
  EXPECT_EQ(json::parse(Printed({"--json"})), Data("jobs.json"));
}

TEST_F(JobsCommandTest, Filters) {
  using Words = std::vector<std::string>;
  for (const auto& [words, ids] : std::vector<std::pair<Words, std::vector<int64_t>>>{
           {{"--state", "pending"}, {4716}},
           {{"-t", "failed"}, {4650, 4500}},
           {{"--state=ok"}, {4711, 4703}},
           {{"--state", "ended", "--limit", "2"}, {4711, 4703}},
           {{"--gpu", "rtx-2080"}, {4715, 4650}},
           {{"--name", "LORA"}, {4703}},
           {{"--since", "2d"}, {4716, 4715, 4711}},
           {{"--since", "thu"}, {4716, 4715, 4711, 4703}},
           {{"--state", "running", "--gpu", "l40s"}, {}},
           {{"--limit", "1"}, {4716}}}) {
    console.printed.clear();
    Words as_json = words;
    as_json.push_back("--json");
    EXPECT_EQ(Ids(Printed(as_json)), ids) << words.front();
  }
}

TEST_F(JobsCommandTest, TheLimitIsTheApisWhereNothingElseIsLeftOut) {
  Printed({"--limit", "5"});
  EXPECT_EQ(api.asked.back().first, "/v1/advice?limit=5");
  Printed({"--limit", "5", "--name", "gr00t"});
  EXPECT_EQ(api.asked.back().first, "/v1/advice");
}

TEST_F(JobsCommandTest, SortsByTheTimeOfSubmission) {
  json answer = Data("jobs.json");
  std::reverse(answer["jobs"].begin(), answer["jobs"].end());
  api.Answer(answer);
  Jobs({"--json"});
  EXPECT_EQ(Ids(console.printed), (std::vector<int64_t>{4716, 4715, 4711, 4703, 4650, 4500}));
}

TEST_F(JobsCommandTest, ATimeThatIsNoneIsAUsageError) {
  EXPECT_EQ(Jobs({"--since", "soon"}), kExitUsage);
  EXPECT_THAT(console.complained, HasSubstr("--since: \"soon\" is not a time"));
}

TEST_F(JobsCommandTest, WhatDoesNotGoTogetherIsAUsageError) {
  EXPECT_EQ(Jobs({"--csv", "--json"}), kExitUsage);
  EXPECT_EQ(Jobs({"--csv", "--import"}), kExitUsage);
  EXPECT_EQ(Jobs({"7", "--import"}), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(JobsCommandTest, AnEmptyLogSaysHowItBegins) {
  api.Answer({{"jobs", json::array()}});
  EXPECT_EQ(Jobs({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("gpuadvise submit"));
  EXPECT_EQ(Jobs({}), kExitUnavailable);
}

TEST_F(JobsCommandTest, HostileAndAbsurdMembersDoNoHarm) {
  json absurd = {
      {"job_id", 1e300},
      {"name", "\x1b[2J\u202e" + std::string(1000, 'x')},
      {"state", "\x1b]0;x\x07"},
      {"gpu", "\n\r"},
      {"gpus_per_node", 9e15},
      {"nodes", 9e15},
      {"micro_batch", -1},
      {"accumulation", 1e308},
      {"submitted_at", 1e300},
      {"wait_p50_seconds", -1e300},
      {"wait_seconds", 1e300},
      {"run_seconds", "long"},
      {"loss", -1e300},
      {"cost", 1e300},
      {"peak_memory_bytes", 1e300},
      {"output_dir", "relative\x1b"},
      {"outcome", {{"attempts", {1, json::object(), {{"steps", 1e300}, {"gpus", {{}}}}}}}}};
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"1"}}) {
    api.Answer({{"jobs", {absurd, 7, nullptr, json::object()}}});
    EXPECT_EQ(Jobs(words), kExitOk);
  }
  EXPECT_EQ(console.printed.find('\x1b'), std::string::npos) << console.printed;
  EXPECT_EQ(console.printed.find("\u202e"), std::string::npos);
}

api::Experiment ReadJob(const json& job) { return ReadExperiments({{"jobs", {job}}}).at(0); }

TEST(StateWords, SlurmsWordWinsWhereSlurmEndedIt) {
  const auto words = [](const json& members) {
    json job = {{"state", "ended"}};
    job.update(members);
    return StateWords(ReadJob(job));
  };
  EXPECT_EQ(words({{"slurm_state", "TIMEOUT"}, {"signal", 15}}), "timeout");
  EXPECT_EQ(words({{"slurm_state", "OUT_OF_MEMORY"}}), "out of memory");
  EXPECT_EQ(words({{"slurm_state", "COMPLETED"}}), "ok");
  EXPECT_EQ(words({{"slurm_state", "FAILED"}, {"exit_code", 7}}), "exit 7");
  EXPECT_EQ(words({{"slurm_state", nullptr}}), "ended");
}

TEST(NextStep, IsSaidOfWhatRanOut) {
  const auto next = [](const json& members) {
    json job = {{"state", "ended"}, {"slurm_state", "FAILED"}, {"exit_code", 1}};
    job.update(members);
    return NextStep(ReadJob(job));
  };
  EXPECT_EQ(next(json::object()), "");
  EXPECT_THAT(next({{"attempts", 1}, {"out_of_memory", 1}, {"final_micro_batch", 8}}),
              testing::HasSubstr("training.retry_on_oom: true"));
  const std::string retried =
      next({{"attempts", 3}, {"out_of_memory", 3}, {"final_micro_batch", 2}});
  EXPECT_THAT(retried, testing::HasSubstr("gpuadvise advise"));
  EXPECT_THAT(retried, testing::Not(testing::HasSubstr("retry_on_oom")));
  EXPECT_THAT(next({{"attempts", 4}, {"out_of_memory", 4}, {"final_micro_batch", 1}}),
              testing::HasSubstr("`gpuadvise fit`"));
  EXPECT_THAT(next({{"slurm_state", "OUT_OF_MEMORY"}}),
              testing::HasSubstr("resources.mem_per_gpu"));
}

TEST(JobsRecord, OfNothingIsANumber) { EXPECT_EQ(JobsRecord({}), "0 jobs"); }

TEST(JobsRecord, ErrorsAreSharesOfWhatWasSaidAsInAJobsDetail) {
  const json job = {{"job_id", 7},
                    {"state", "ended"},
                    {"exit_code", 0},
                    {"run_seconds", 7200},
                    {"run_p50_seconds", 3600.0},
                    {"memory_bytes", 4 << 20},
                    {"peak_memory_bytes", 2 << 20}};
  EXPECT_EQ(JobsRecord({ReadJob(job)}),
            "1 job · run time median error 100 % of 1 · peak memory 50 % of 1");
  EXPECT_NE(JobDetailText(ReadJob(job), 0, {}).find(": 100 % more than forecast"),
            std::string::npos);
}

TEST(JobsRecord, CountsWhatIsKnown) {
  EXPECT_EQ(
      JobsRecord(ReadExperiments(Data("jobs.json"))),
      "6 jobs · 3 of 4 waited within their p90 · run time median error 8 % of 2 · peak memory 8 % "
      "of 2");
}

TEST_F(JobsCommandTest, AFilterBesideAJobIsRefused) {
  EXPECT_EQ(Jobs({"7", "--since", "7d"}), kExitUsage);
  EXPECT_EQ(Jobs({"7", "--limit", "3"}), kExitUsage);
  EXPECT_TRUE(api.asked.empty());
}

TEST_F(JobsCommandTest, AJobSaidToBeginAtOnceIsSaidToStartNow) {
  api.Answer({{"jobs", {{{"job_id", 7}, {"state", "pending"}, {"wait_p50_seconds", 0}}}}});
  EXPECT_EQ(Jobs({"7"}), kExitOk);
  EXPECT_NE(console.printed.find("forecast to start now"), std::string::npos) << console.printed;
}

TEST(ProgressWords, WhatIsLeftIsSaidOnlyWhileItRuns) {
  Attempt attempt;
  attempt.steps = 99;
  attempt.total_steps = 100;
  attempt.seconds_per_step = 2;
  EXPECT_EQ(ProgressWords(attempt, true), "step 99/100 · 2 s a step · 2 s left");
  EXPECT_EQ(ProgressWords(attempt, false), "step 99/100 · 2 s a step");
}

TEST_F(JobsCommandTest, CsvHasEveryFieldOfTheListForm) {
  ExpectGolden("jobs.csv", Printed({"--csv"}));
  const std::string header = console.printed.substr(0, console.printed.find('\r'));
  size_t columns = 0;
  const json first = Data("jobs.json")["jobs"][0];
  for (const auto& [key, value] : first.items()) {
    EXPECT_THAT("," + header + ",", HasSubstr("," + key + ","));
    ++columns;
  }
  EXPECT_EQ(std::count(header.begin(), header.end(), ','), static_cast<int64_t>(columns) - 1);
}

TEST(CsvCell, QuotesAndDisarms) {
  EXPECT_EQ(CsvCell("plain text"), "plain text");
  EXPECT_EQ(CsvCell("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvCell("say \"so\""), "\"say \"\"so\"\"\"");
  EXPECT_EQ(CsvCell("=1+1"), "'=1+1");
  EXPECT_EQ(CsvCell("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(CsvCell("@sum"), "'@sum");
  EXPECT_EQ(CsvCell("-2+3"), "'-2+3");
  EXPECT_EQ(CsvCell("-"), "'-");
  EXPECT_EQ(CsvCell("+inf"), "'+inf");
  EXPECT_EQ(CsvCell("-2.5e3"), "-2.5e3");
  EXPECT_EQ(CsvCell("\t=1"), "'?=1");
  EXPECT_EQ(CsvCell("a\r\nb"), "a??b");
}

}  // namespace
}  // namespace gpuadvise::client
