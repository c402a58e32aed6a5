#include "client/commands/outcome_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/run/outcome_file.h"
#include "client/views/experiment_words.h"
#include "tests/client/fake_process.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string OutcomeOf(const std::string& job_id, bool running = false) {
  json document = ToJson({0, "a-1", "gpu01", {}, {Attempt{}}, running});
  document["job_id"] = job_id;
  return document.dump();
}

class OutcomeImport : public testing::Test, protected FakeProcess {
 protected:
  // A job as the log lists it, with an output folder in `folder`.
  json Job(int64_t id, const std::string& subfolder, const std::string& state = "ended") const {
    return {{"job_id", id},
            {"state", state},
            {"has_outcome", false},
            {"outcome_running", false},
            {"output_dir", folder.Path(subfolder)}};
  }
  int Import(std::vector<std::string> words) {
    words.insert(words.begin(), {"jobs", "--import"});
    return Gpuadvise(std::move(words));
  }
  std::string Write(const std::string& subfolder, const std::string& text) const {
    return folder.Write(subfolder + "/" + kOutcomeFile, text);
  }

  TemporaryFolder folder;
};

TEST_F(OutcomeImport, ReportsAFile) {
  const std::string path = Write("a", OutcomeOf("12"));
  api.Answer({{"job_id", 12}});
  EXPECT_EQ(Import({path}), kExitOk);
  EXPECT_EQ(console.printed, path + ": job 12 taken\n");
  EXPECT_EQ(api.asked.back().first, "/v1/outcomes");
  EXPECT_EQ(api.asked.back().second, json::parse(OutcomeOf("12")));
}

TEST_F(OutcomeImport, AFolderMeansItsOwnFileAndThoseOfTheFoldersInIt) {
  const std::vector<std::string> files = {Write("runs", OutcomeOf("1")),
                                          Write("runs/1", OutcomeOf("2")),
                                          Write("runs/2", OutcomeOf("3"))};
  folder.Write("runs/3/other.json", "{}");
  EXPECT_EQ(OutcomeFilesAt({folder.Path("runs")}), files);
  EXPECT_EQ(OutcomeFilesAt({folder.Path("runs/3/")}),
            (std::vector<std::string>{folder.Path("runs/3/") + kOutcomeFile}));
}

TEST_F(OutcomeImport, EveryFileThatIsNotTakenHasItsSentence) {
  const std::string cut = Write("cut", OutcomeOf("1").substr(0, 50));
  const std::string forged = Write("forged", R"({"version": 1, "job_id": "1", "attempts": 7})");
  const std::string alone = Write("alone", OutcomeOf(""));
  const std::string good = Write("good", OutcomeOf("5"));
  const std::string other = Write("other", OutcomeOf("6"));
  const std::string fifo = folder.Path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  api.Answer({{"job_id", 5}});
  api.AnswerError({ErrorCode::kNotFound, "no job 6 of yours is known", ""});
  EXPECT_EQ(Import({cut, forged, alone, good, other, fifo, folder.Path("none")}), kExitError);
  for (const std::string& line :
       {cut + ": it is not valid JSON", forged + ": at /attempts:",
        alone + ": it was written outside a Slurm job", good + ": job 5 taken",
        other + ": no job 6 of yours is known", fifo + ": it is not a regular file",
        folder.Path("none") + ": it cannot be opened: No such file"}) {
    EXPECT_THAT(console.printed, HasSubstr(line));
  }
}

TEST_F(OutcomeImport, JsonHasOneEntryPerFile) {
  const std::string path = Write("a", OutcomeOf("12"));
  api.Answer({{"job_id", 12}});
  EXPECT_EQ(Import({path, folder.Path("x\x1b"), "--json"}), kExitError);
  const json printed = json::parse(console.printed);
  EXPECT_EQ(printed["imported"][0], (json{{"path", path}, {"job_id", "12"}, {"error", nullptr}}));
  EXPECT_EQ(printed["imported"][1]["job_id"], nullptr);
}

TEST_F(OutcomeImport, PathsAreShownHarmless) {
  EXPECT_EQ(Import({"/nowhere/\x1b[2J"}), kExitError);
  EXPECT_EQ(console.printed.find('\x1b'), std::string::npos);
}

TEST_F(OutcomeImport, WithoutADaemonNothingIsSaidToBeTaken) {
  EXPECT_EQ(Import({Write("a", OutcomeOf("12"))}), kExitUnavailable);
  EXPECT_EQ(console.printed, "");
}

TEST_F(OutcomeImport, WithoutAPathTheFoldersOfOwnJobsAreLookedAt) {
  const std::string path = Write("run", OutcomeOf("12"));
  api.Answer({{"jobs", {Job(12, "run"), Job(11, "empty"), Job(10, "run")}}});
  api.Answer({{"job_id", 12}});
  EXPECT_EQ(Import({}), kExitOk);
  EXPECT_EQ(console.printed, path + ": job 12 taken\n");
  api.Answer({{"jobs", json::array()}});
  EXPECT_EQ(Import({}), kExitOk);
  EXPECT_THAT(console.printed, HasSubstr("Nothing to import"));
}

TEST_F(OutcomeImport, TheLogReportsFirstWhatLiesInItsFolders) {
  Write("run", OutcomeOf("12"));
  api.Answer({{"jobs", {Job(12, "run")}}});
  api.Answer({{"job_id", 12}});
  api.Answer({{"jobs", {Job(12, "run")}}});
  EXPECT_EQ(Gpuadvise({"jobs"}), kExitOk);
  ASSERT_EQ(api.asked.size(), 3u);
  EXPECT_EQ(api.asked[1].first, "/v1/outcomes");
  EXPECT_EQ(api.asked[2].first, "/v1/advice");
  EXPECT_EQ(console.complained, "");
}

std::vector<api::Experiment> Read(const std::vector<json>& jobs) {
  return ReadExperiments({{"jobs", jobs}});
}

TEST_F(OutcomeImport, AFolderThatAnotherJobUsedSinceIsLeftAlone) {
  Write("run", OutcomeOf("13"));
  EXPECT_EQ(ImportOwnOutcomes(Read({Job(12, "run")}), ::geteuid(), api), 0u);
  EXPECT_EQ(ImportOwnOutcomes(Read({Job(13, "run")}), ::geteuid() + 1, api), 0u);
  EXPECT_TRUE(api.asked.empty());
  api.Answer({{"job_id", 13}});
  EXPECT_EQ(ImportOwnOutcomes(Read({Job(13, "run")}), ::geteuid(), api), 1u);
}

TEST_F(OutcomeImport, AnOutcomeThatALaterJobMovedAsideIsFound) {
  Write("run", OutcomeOf("13"));
  folder.Write("run/gpuadvise-outcome-12.json", OutcomeOf("12"));
  api.Answer({{"job_id", 12}});
  EXPECT_EQ(ImportOwnOutcomes(Read({Job(12, "run")}), ::geteuid(), api), 1u);
  ASSERT_EQ(api.asked.size(), 1u);
  EXPECT_EQ(api.asked[0].second["job_id"], "12");
  EXPECT_EQ(OutcomeFilesAt({folder.Path("run")}).size(), 2u);
}

TEST_F(OutcomeImport, OnlyJobsThatLackAnOutcomeAreLookedFor) {
  json known = Job(1, "a");
  known["has_outcome"] = true;
  json running = Job(2, "b", "running");
  running["has_outcome"] = running["outcome_running"] = true;
  json relative = Job(3, "c");
  relative["output_dir"] = "runs/3";
  json none = Job(4, "d");
  none["output_dir"] = nullptr;
  const json jobs = {known, running, relative, none, Job(5, "e", "pending"), 7};
  EXPECT_EQ(OwnOutcomeFiles(Read(jobs)),
            (std::vector<std::string>{folder.Path("b/gpuadvise-outcome.json"),
                                      folder.Path("b/gpuadvise-outcome-2.json")}));
}

TEST_F(OutcomeImport, OnlyTheNewestFiftyJobsAreLookedFor) {
  json jobs = json::array();
  for (int i = 0; i < 80; ++i) jobs.push_back(Job(i + 1, "shared"));
  EXPECT_EQ(OwnOutcomeFiles(Read(jobs)).size(), 51u);
}

}  // namespace
}  // namespace gpuadvise::client
