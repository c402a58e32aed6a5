#include "daemon/collector/sources.h"

#include <gtest/gtest.h>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using Words = std::vector<std::string>;

TEST(PlanFor, AutoTriesLibslurmThenTheCommands) {
  Settings settings;
  settings.slurm_conf = "/etc/slurm-llnl/slurm.conf";
  settings.slurm_bin_dir = "/opt/slurm/bin";
  const CollectorPlan plan = PlanFor(settings, "/x/gpuadvise-collect");
  ASSERT_EQ(plan.candidates.size(), 2u);
  EXPECT_EQ(plan.candidates[0].command.words,
            (Words{"/x/gpuadvise-collect", "slurm-api", "--poll-interval", "30",
                   "--policy-interval", "300", "--bin-dir", "/opt/slurm/bin"}));
  EXPECT_EQ(plan.candidates[1].command.words,
            (Words{"/x/gpuadvise-collect", "slurm-cli", "--poll-interval", "30",
                   "--policy-interval", "300", "--bin-dir", "/opt/slurm/bin"}));
  for (const CollectorCandidate& candidate : plan.candidates) {
    EXPECT_EQ(candidate.command.environment, (Words{"SLURM_CONF=/etc/slurm-llnl/slurm.conf"}));
    EXPECT_FALSE(candidate.may_finish);
  }
}

TEST(PlanFor, AutoTriesSlurmrestdLastWhereItIsNamed) {
  Settings settings;
  settings.slurmrestd.url = "http://h:6820";
  const CollectorPlan plan = PlanFor(settings, "c");
  ASSERT_EQ(plan.candidates.size(), 3u);
  EXPECT_EQ(plan.candidates[2].name, "slurm-rest");
}

TEST(PlanFor, ASourceThatIsNamedIsTheOnlyOne) {
  Settings settings;
  settings.source = "slurm-cli";
  const CollectorPlan plan = PlanFor(settings, "c");
  ASSERT_EQ(plan.candidates.size(), 1u);
  EXPECT_EQ(plan.candidates[0].name, "slurm-cli");
  EXPECT_TRUE(plan.candidates[0].command.environment.empty());
}

TEST(PlanFor, SlurmrestdIsNamedWithTheFileOfItsTokenNeverTheToken) {
  Settings settings;
  settings.source = "slurm-rest";
  settings.slurmrestd.url = "unix:/run/slurmrestd.sock";
  EXPECT_EQ(PlanFor(settings, "c").candidates.at(0).command.words,
            (Words{"c", "slurm-rest", "--poll-interval", "30", "--policy-interval", "300", "--url",
                   "unix:/run/slurmrestd.sock"}));
  settings.slurmrestd = {"https://h:6820", "/etc/gpuadvise/jwt", "root", "/etc/ssl/site.pem"};
  const Words words = PlanFor(settings, "c").candidates.at(0).command.words;
  EXPECT_EQ(Words(words.end() - 8, words.end()),
            (Words{"--url", "https://h:6820", "--jwt-file", "/etc/gpuadvise/jwt", "--rest-user",
                   "root", "--ca-file", "/etc/ssl/site.pem"}));
}

TEST(PlanFor, TheSimulationGetsItsSeedAndSpeed) {
  Settings settings;
  settings.source = "sim";
  settings.simulation = {7, 2.5};
  settings.poll_interval = std::chrono::milliseconds(1500);
  EXPECT_EQ(PlanFor(settings, "c").candidates.at(0).command.words,
            (Words{"c", "sim", "--poll-interval", "1.5", "--seed", "7", "--speed", "2.5"}));
  settings.simulation = {1, 1, "/srv/jobs of people"};
  const Words words = PlanFor(settings, "c").candidates.at(0).command.words;
  EXPECT_EQ(Words(words.end() - 2, words.end()), (Words{"--jobs-dir", "/srv/jobs of people"}));
}

TEST(PlanFor, ARecordingMayEnd) {
  Settings settings;
  settings.source = "replay:/var/log/a b.jsonl";
  const CollectorPlan plan = PlanFor(settings, "c");
  EXPECT_EQ(plan.candidates.at(0).command.words,
            (Words{"c", "replay", "/var/log/a b.jsonl", "--poll-interval", "30"}));
  EXPECT_TRUE(plan.candidates.at(0).may_finish);
}

TEST(PlanFor, SilenceIsThreePollsButNeverLessThanHalfAMinute) {
  Settings settings;
  settings.poll_interval = std::chrono::seconds(60);
  EXPECT_EQ(PlanFor(settings, "c").silence, std::chrono::seconds(180));
  settings.poll_interval = std::chrono::seconds(1);
  EXPECT_EQ(PlanFor(settings, "c").silence, std::chrono::seconds(30));
}

TEST(PlanFor, EqualSettingsMakeEqualPlans) {
  Settings settings;
  EXPECT_TRUE(PlanFor(settings, "c") == PlanFor(settings, "c"));
  Settings other = settings;
  other.poll_interval = std::chrono::seconds(31);
  EXPECT_FALSE(PlanFor(settings, "c") == PlanFor(other, "c"));
  other = settings;
  other.slurm_conf = "/x";
  EXPECT_FALSE(PlanFor(settings, "c") == PlanFor(other, "c"));
}

TEST(FindCollector, LooksBesideTheDaemonThenInLibexec) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.Path("bin"));
  std::filesystem::create_directories(folder.Path("libexec/gpuadvise"));
  const std::string own = folder.Path("bin/gpuadvised");
  EXPECT_FALSE(FindCollector("", own));
  const std::string libexec = folder.WriteScript("libexec/gpuadvise/gpuadvise-collect", "");
  EXPECT_EQ(FindCollector("", own), libexec);
  const std::string beside = folder.WriteScript("bin/gpuadvise-collect", "");
  EXPECT_EQ(FindCollector("", own), beside);
}

TEST(FindCollector, AnOneThatIsSetIsTheOnlyPlace) {
  const TempFolder folder;
  folder.WriteScript("gpuadvise-collect", "");
  const auto found = FindCollector("/nowhere/collect", folder.Path("gpuadvised"));
  ASSERT_FALSE(found);
  EXPECT_EQ(
      found.error().message,
      "gpuadvise-collect cannot be run from /nowhere/collect; install it there or set collector:");
}

TEST(OwnPath, IsTheRunningProgram) {
  EXPECT_EQ(OwnPath().substr(OwnPath().rfind('/')), "/daemon_test");
}

}  // namespace
}  // namespace gpuadvise::daemon
