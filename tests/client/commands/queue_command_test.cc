#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Data(const std::string& name) { return json::parse(TestData(name)); }

// What the command prints in a terminal of that width.
template <typename Command>
std::string Printed(const std::string& data, int width, const Command& command) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = width;
  api.Answer(Data(data));
  EXPECT_EQ(command(api, console), kExitOk);
  return console.printed;
}

TEST(QueueCommand, PrintsATableAsWideAsTheTerminal) {
  for (const int width : {80, 160}) {
    ExpectGolden("queue_" + std::to_string(width) + ".txt",
                 Printed("queue.json", width,
                         [](Api& api, Console& console) { return RunQueue({}, api, console); }));
  }
}

TEST(QueueCommand, AsksForWhatIsWanted) {
  FakeApi api;
  FakeConsole console;
  api.Answer(Data("queue.json"));
  QueueCommand command;
  command.user = "a b&c";
  command.partition = "gpu";
  command.state = "pending";
  command.json = true;
  EXPECT_EQ(RunQueue(command, api, console), kExitOk);
  EXPECT_EQ(api.asked.back().first, "/v1/queue?user=a%20b%26c&partition=gpu&state=pending");
  EXPECT_EQ(json::parse(console.printed), Data("queue.json"));
}

TEST(QueueCommand, ChoosesAsSqueueDoes) {
  const auto ids = [](const QueueCommand& command, std::string* target) {
    FakeApi api;
    FakeConsole console;
    api.Answer(Data("queue.json"));
    QueueCommand as_json = command;
    as_json.json = true;
    as_json.own_user = "ann";
    EXPECT_EQ(RunQueue(as_json, api, console), kExitOk);
    *target = api.asked.back().first;
    std::vector<int64_t> found;
    const json answer = json::parse(console.printed);
    for (const json& job : answer["jobs"]) found.push_back(job["job_id"].get<int64_t>());
    if (api.asked.back().first.find("limit=") != std::string::npos) {
      EXPECT_EQ(answer["total"], found.size());
    }
    return found;
  };
  const json all = Data("queue.json")["jobs"];
  std::string target;
  QueueCommand command;
  command.me = true;
  ids(command, &target);
  EXPECT_EQ(target, "/v1/queue?user=ann");
  command = {};
  command.state = "PD,r";
  EXPECT_EQ(ids(command, &target).size(), all.size());
  EXPECT_EQ(target, "/v1/queue?limit=10000");
  command.state = "CG";
  EXPECT_TRUE(ids(command, &target).empty());
  command = {};
  command.jobs = std::to_string(all[0]["job_id"].get<int64_t>()) + "_3, 1";
  EXPECT_EQ(ids(command, &target).size(), 1u);
  command = {};
  command.start = true;
  ids(command, &target);
  EXPECT_EQ(target, "/v1/queue?state=pending");
  command = {};
  command.partition = "nowhere,elsewhere";
  EXPECT_TRUE(ids(command, &target).empty());
}

TEST(QueueCommand, ShowsTheColumnsThatAreNamed) {
  QueueCommand command;
  command.format = "JobID:8,Name,TimeLimit,Starts,Ends,PendingTime,Why";
  ExpectGolden("queue_format.txt", Printed("queue.json", 60, [&](Api& api, Console& console) {
                 return RunQueue(command, api, console);
               }));
  command = {};
  command.is_long = true;
  ExpectGolden("queue_long.txt", Printed("queue.json", 80, [&](Api& api, Console& console) {
                 return RunQueue(command, api, console);
               }));
}

TEST(QueueCommand, AnUnknownStateOrColumnIsASentence) {
  const auto complaint = [](const QueueCommand& command) {
    FakeApi api;
    FakeConsole console;
    EXPECT_EQ(RunQueue(command, api, console), kExitUsage);
    EXPECT_TRUE(api.asked.empty());
    return console.complained;
  };
  QueueCommand command;
  command.state = "waiting";
  EXPECT_NE(complaint(command).find("'waiting' is not a state"), std::string::npos);
  command = {};
  command.format = "jobib";
  EXPECT_NE(complaint(command).find("did you mean 'jobid'?"), std::string::npos);
  command.format = ",";
  EXPECT_NE(complaint(command).find("name at least one column"), std::string::npos);
}

TEST(WhyCommand, SaysStartReasonsAndWhatWouldBeEarlier) {
  ExpectGolden("why_80.txt", Printed("why.json", 80, [](Api& api, Console& console) {
                 return RunWhy("4712", false, api, console);
               }));
}

TEST(WhyCommand, AnAccuracyThatIsNotKnownIsNotSaidUnderEveryJob) {
  json waiting = Data("why.json");
  waiting["forecast"] = {{"accuracy_known", false}, {"note", "accuracy not known yet"}};
  FakeApi api;
  FakeConsole console;
  api.Answer(waiting);
  EXPECT_EQ(RunWhy("4712", false, api, console), kExitOk);
  EXPECT_EQ(console.printed.find("not known yet"), std::string::npos) << console.printed;
}

TEST(WhyCommand, AJobThatRunsHasNothingToWaitFor) {
  json running = Data("queue.json")["jobs"][2];
  running["meta"] = Data("queue.json")["meta"];
  FakeApi api;
  FakeConsole console;
  api.Answer(running);
  EXPECT_EQ(RunWhy("4700", false, api, console), kExitOk);
  EXPECT_NE(console.printed.find("ends by its limit"), std::string::npos) << console.printed;
  EXPECT_EQ(console.printed.find('\x1b'), std::string::npos);
}

TEST(AccuracyCommand, PrintsTheRecordBesideSlurms) {
  for (const int width : {80, 160}) {
    ExpectGolden("accuracy_" + std::to_string(width) + ".txt",
                 Printed("accuracy.json", width, [](Api& api, Console& console) {
                   return RunAccuracy(false, api, console);
                 }));
  }
}

TEST(NewCommands, NoDaemonIsExit4) {
  FakeApi api;
  FakeConsole console;
  EXPECT_EQ(RunQueue({}, api, console), kExitUnavailable);
  EXPECT_EQ(RunWhy("1", false, api, console), kExitUnavailable);
  EXPECT_EQ(RunAccuracy(false, api, console), kExitUnavailable);
}

}  // namespace
}  // namespace gpuadvise::client
