#include "client/doctor_command.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/exit_code.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/golden.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

Surroundings Healthy() {
  return {"0.1.0",
          "/run/gpuadvise/gpuadvised.sock",
          "/usr/bin/sbatch",
          "slurm 22.05.8",
          "/etc/slurm/slurm.conf",
          true,
          {}};
}

json Health() {
  return json::parse(R"({"status": "ok", "snapshot_age_seconds": 12,
      "history": {"problem": null, "file": "/var/lib/gpuadvise/history.db", "bytes": 3210000, "jobs": 1204,
                  "oldest_age_seconds": 1040000, "newest_age_seconds": 40},
      "meta": {"version": "0.1.0", "cluster": "seed", "source": "slurm-api", "stale_cause": null}})");
}

std::string Doctor(const json& health, const Surroundings& around, int expected) {
  FakeApi api;
  FakeConsole console;
  console.shown.width = 80;
  if (!health.is_null()) api.Answer(health);
  EXPECT_EQ(RunDoctor(false, api, around, console), expected);
  return console.printed;
}

TEST(Doctor, AHealthySiteIsAllOk) {
  ExpectGolden("doctor_ok.txt", Doctor(Health(), Healthy(), kExitOk));
}

TEST(Doctor, EveryTroubleHasItsRemedy) {
  Surroundings around = Healthy();
  around.sbatch = "";
  around.slurm_conf_readable = false;
  around.settings_files = {"/home/me/.config/gpuadvise/client.yaml"};
  ExpectGolden("doctor_down.txt", Doctor(nullptr, around, kExitError));
}

TEST(Doctor, OldDataAndAnotherVersionAreWarnings) {
  json health = Health();
  health["status"] = "stale";
  health["cause"] = "slurmctld does not answer";
  health["meta"]["version"] = "0.2.0";
  Surroundings around = Healthy();
  around.slurm_conf = "";
  ExpectGolden("doctor_warnings.txt", Doctor(health, around, kExitOk));
}

TEST(Doctor, AHistoryThatIsNotKeptIsAWarning) {
  json health = Health();
  health["history"] = {{"problem", "/var/lib/gpuadvise/history.db: database or disk is full"}};
  EXPECT_NE(Doctor(health, Healthy(), kExitOk).find("warning  history     /var/lib/gpuadvise"),
            std::string::npos);
}

TEST(Doctor, AnSbatchThatDoesNotRunIsAnError) {
  Surroundings around = Healthy();
  around.sbatch_version = "";
  EXPECT_NE(Doctor(Health(), around, kExitError).find("does not run"), std::string::npos);
}

TEST(Doctor, JsonListsTheChecks) {
  FakeApi api;
  FakeConsole console;
  api.Answer(Health());
  EXPECT_EQ(RunDoctor(true, api, Healthy(), console), kExitOk);
  const json printed = json::parse(console.printed);
  EXPECT_EQ(printed["checks"][0]["check"], "socket");
  EXPECT_EQ(printed["checks"][0]["health"], "ok");
}

}  // namespace
}  // namespace gpuadvise
