#include "common/slurm/site_keys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "common/slurm/scheduler_options.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise {
namespace {

std::string SettingsIn(const std::string& world) {
  std::string text;
  for (const SiteSetting& each : FindSiteSettings(SnapshotOf(world))) {
    if (each.place == "slurm.conf" && each.key != "Licenses") continue;
    text += each.key + "=" + each.value + " " + std::string(ToWords(each.treatment)) + "\n";
  }
  return text;
}

TEST(SiteKeys, AreThoseThatTheSiteHasSet) {
  EXPECT_EQ(SettingsIn("node n1 a:4"), "");
  EXPECT_EQ(SettingsIn("config parameters bf_max_job_test=1000,defer,bf_new_word=3\nnode n1 a:4\n"
                       "licence matlab 4 remote\npartition p n1 over-subscribe FORCE:2\n"
                       "reserve r n1 from 0h to 1h flags MAGNETIC tres cpu=4\n"),
            "bf_max_job_test=1000 simulated\n"
            "defer=yes approximated\n"
            "Licenses=matlab: 4 (remote) simulated\n"
            "OverSubscribe=p: FORCE:2 approximated\n"
            "part of a node=r: yes approximated\n"
            "MAGNETIC=r: yes simulated\n"
            "bf_new_word=3 not known\n");
}

TEST(SiteKeys, HiddenTablesAreNotKnown) {
  const auto settings =
      FindSiteSettings(SnapshotOf("config hidden jobs,usage private jobs,usage\nnode n1"));
  const auto hidden = std::find_if(settings.begin(), settings.end(), [](const SiteSetting& each) {
    return each.key == "hidden by PrivateData";
  });
  ASSERT_NE(hidden, settings.end());
  EXPECT_EQ(hidden->value, "jobs and usage");
  EXPECT_EQ(hidden->treatment, Treatment::kNotKnown);
}

TEST(SiteKeys, EachIsThereOnce) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const SiteKey& key : SiteKeys()) {
    EXPECT_TRUE(seen.emplace(key.place, key.key).second) << key.key;
    EXPECT_FALSE(key.effect.empty()) << key.key;
  }
}

// A word that is simulated changes the simulation.
TEST(SiteKeys, WordsThatArePlayedAreReadAndOthersAreNot) {
  SchedulerConfig plain;
  for (const SiteKey& key : SiteKeys()) {
    if (key.value != nullptr) continue;
    SchedulerConfig config;
    config.scheduler_parameters = std::string(key.key) + "=7";
    const bool is_read = OptionsOf(config) != OptionsOf(plain);
    if (key.treatment == Treatment::kApproximated) continue;
    EXPECT_EQ(is_read, key.treatment == Treatment::kSimulated) << key.key;
  }
}

// GPUADVISE_UPDATE_GOLDEN=1 writes the table.
TEST(SiteKeys, TheDocumentHasTheProgramsTable) {
  const std::string path = DOCS_DIR "/slurm-conf.md";
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty()) << path;
  const std::string before = text.substr(0, text.find("| where |"));
  if (std::getenv("GPUADVISE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << before << SiteKeysAsMarkdown();
    return;
  }
  EXPECT_EQ(text, before + SiteKeysAsMarkdown());
}

}  // namespace
}  // namespace gpuadvise
