#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Data(const std::string& name) { return json::parse(TestData(name)); }

using Words = std::vector<std::string>;

// What the command prints of an answer in a terminal of that width.
std::string Printed(const json& answer, int width, const Words& words) {
  FakeProcess process;
  process.console.shown.width = width;
  process.api.Answer(answer);
  EXPECT_EQ(process.Gpuadvise(words), kExitOk);
  return process.console.printed;
}

TEST(QueueCommand, PrintsATableAsWideAsTheTerminal) {
  for (const int width : {80, 160}) {
    ExpectGolden("queue_" + std::to_string(width) + ".txt",
                 Printed(Data("queue.json"), width, {"queue"}));
  }
}

json Sweep(int64_t id) {
  return {{"job_id", id},         {"name", "search"}, {"user", "ann"}, {"arrays", {4712}},
          {"runs", 80},           {"done", 34},       {"running", 12}, {"waiting", 31},
          {"failed", 2},          {"unknown", 1},     {"moved", 6},    {"end_p50", 1790010000},
          {"end_p90", 1790020000}};
}

// Jobs 4712 and 4700 as a sweep.
json WithSweep() {
  json answer = Data("queue.json");
  answer["sweeps"] = {Sweep(4712)};
  for (json& job : answer["jobs"]) {
    if (job["job_id"] != 4713) job["sweep"] = 4712;
  }
  return answer;
}

TEST(QueueCommand, ASweepIsOneRow) {
  for (const int width : {80, 160}) {
    ExpectGolden("queue_sweep_" + std::to_string(width) + ".txt",
                 Printed(WithSweep(), width, {"queue"}));
  }
  const std::string rows = Printed(WithSweep(), 160, {"queue", "--array"});
  EXPECT_NE(rows.find("4700"), std::string::npos) << rows;
  EXPECT_EQ(json::parse(Printed(WithSweep(), 160, {"queue", "--json"})), WithSweep());
}

TEST(QueueCommand, SweepsOfWhichNoJobIsLeftAreLeftOut) {
  const json kept = json::parse(Printed(WithSweep(), 160, {"queue", "-j", "4713", "--json"}));
  EXPECT_EQ(kept["sweeps"], json::array());
  EXPECT_EQ(json::parse(Printed(WithSweep(), 160, {"queue", "-j", "4700", "--json"}))["sweeps"],
            json::array({Sweep(4712)}));
}

TEST(QueueCommand, AsksForWhatIsWanted) {
  FakeProcess process;
  process.api.Answer(Data("queue.json"));
  EXPECT_EQ(
      process.Gpuadvise({"queue", "--user=a b&c", "-p", "gpu", "--state", "pending", "--json"}),
      kExitOk);
  EXPECT_EQ(process.api.asked.back().first, "/v1/queue?user=a%20b%26c&partition=gpu&state=pending");
  EXPECT_EQ(json::parse(process.console.printed), Data("queue.json"));
}

TEST(QueueCommand, ChoosesAsSqueueDoes) {
  const auto ids = [](Words words, std::string* target) {
    FakeProcess process;
    process.user = "ann";
    process.api.Answer(Data("queue.json"));
    words.insert(words.begin(), {"queue", "--json"});
    EXPECT_EQ(process.Gpuadvise(words), kExitOk);
    *target = process.api.asked.back().first;
    std::vector<int64_t> found;
    const json answer = json::parse(process.console.printed);
    for (const json& job : answer["jobs"]) found.push_back(job["job_id"].get<int64_t>());
    if (target->find("limit=") != std::string::npos) {
      EXPECT_EQ(answer["total"], found.size());
    }
    return found;
  };
  const json all = Data("queue.json")["jobs"];
  std::string target;
  ids({"--me"}, &target);
  EXPECT_EQ(target, "/v1/queue?user=ann");
  EXPECT_EQ(ids({"-t", "PD,r"}, &target).size(), all.size());
  EXPECT_EQ(target, "/v1/queue?limit=10000");
  EXPECT_TRUE(ids({"-t", "CG"}, &target).empty());
  const std::string task = std::to_string(all[0]["job_id"].get<int64_t>()) + "_3, 1";
  EXPECT_EQ(ids({"-j", task}, &target).size(), 1u);
  ids({"--start"}, &target);
  EXPECT_EQ(target, "/v1/queue?state=pending");
  EXPECT_TRUE(ids({"-p", "nowhere,elsewhere"}, &target).empty());
}

TEST(QueueCommand, ShowsTheColumnsThatAreNamed) {
  ExpectGolden("queue_format.txt",
               Printed(Data("queue.json"), 60,
                       {"queue", "-O", "JobID:8,Name,TimeLimit,Starts,Ends,PendingTime,Why"}));
  ExpectGolden("queue_long.txt", Printed(Data("queue.json"), 80, {"queue", "--long"}));
}

TEST(QueueCommand, AnUnknownStateOrColumnIsASentence) {
  const auto complaint = [](const char* option, const char* value) {
    FakeProcess process;
    EXPECT_EQ(process.Gpuadvise({"queue", option, value}), kExitUsage);
    EXPECT_TRUE(process.api.asked.empty());
    return process.console.complained;
  };
  EXPECT_NE(complaint("-t", "waiting").find("'waiting' is not a state"), std::string::npos);
  EXPECT_NE(complaint("-O", "jobib").find("did you mean 'jobid'?"), std::string::npos);
  EXPECT_NE(complaint("-O", ",").find("name at least one column"), std::string::npos);
}

TEST(WhyCommand, SaysStartReasonsAndWhatWouldBeEarlier) {
  ExpectGolden("why_80.txt", Printed(Data("why.json"), 80, {"why", "4712"}));
}

TEST(WhyCommand, AnAccuracyThatIsNotKnownIsNotSaidUnderEveryJob) {
  json waiting = Data("why.json");
  waiting["forecast"] = {{"accuracy_known", false}, {"note", "accuracy not known yet"}};
  const std::string printed = Printed(waiting, 120, {"why", "4712"});
  EXPECT_EQ(printed.find("not known yet"), std::string::npos) << printed;
}

TEST(WhyCommand, AJobThatRunsHasNothingToWaitFor) {
  json running = Data("queue.json")["jobs"][2];
  running["meta"] = Data("queue.json")["meta"];
  const std::string printed = Printed(running, 120, {"why", "4700"});
  EXPECT_NE(printed.find("ends by its limit"), std::string::npos) << printed;
  EXPECT_EQ(printed.find('\x1b'), std::string::npos);
}

TEST(AccuracyCommand, PrintsTheRecordBesideSlurms) {
  for (const int width : {80, 160}) {
    ExpectGolden("accuracy_" + std::to_string(width) + ".txt",
                 Printed(Data("accuracy.json"), width, {"accuracy"}));
  }
}

TEST(NewCommands, NoDaemonIsExit4) {
  for (const Words& words : {Words{"queue"}, {"why", "1"}, {"accuracy"}}) {
    EXPECT_EQ(FakeProcess().Gpuadvise(words), kExitUnavailable) << words.front();
  }
}

}  // namespace
}  // namespace gpuadvise::client
