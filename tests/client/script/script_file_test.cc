// Where the files that a script names are looked for.
#include "client/script/script_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace gpuadvise::client {
namespace {

namespace fs = std::filesystem;

class ScriptFile : public testing::Test {
 protected:
  ScriptFile()
      : earlier_(fs::current_path()), folder_(fs::path(testing::TempDir()) / "script_file") {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "s/config");
    fs::create_directories(folder_ / "config");
    fs::create_directories(folder_ / "work/config");
    fs::current_path(folder_);
  }
  ~ScriptFile() override {
    fs::current_path(earlier_);
    fs::remove_all(folder_);
  }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  }
  // The sentences under Read and Check of s/x.sh, whose first lines are `head`.
  static std::vector<std::string> Said(const std::string& head) {
    Write("s/x.sh", "#!/bin/bash\n" + head + "python t.py --config config/x.yaml --batch_size 8\n");
    const auto converted = ConvertScriptFile("s/x.sh", {});
    EXPECT_TRUE(converted);
    if (!converted) return {};
    std::vector<std::string> said = converted->report.taken;
    const auto& unclear = converted->report.unclear;
    said.insert(said.end(), unclear.begin(), unclear.end());
    return said;
  }
  static bool Has(const std::vector<std::string>& said, std::string_view sentence) {
    return std::find(said.begin(), said.end(), sentence) != said.end();
  }

 private:
  fs::path earlier_;
  fs::path folder_;
};

TEST_F(ScriptFile, WhatIsNamedIsReadWhereTheJobRuns) {
  Write("s/config/x.yaml", "max_steps: 1\n");
  const auto beside = Said("");
  EXPECT_TRUE(Has(beside, "max_steps 1 (max_steps)"));
  EXPECT_TRUE(
      Has(beside, "s/config/x.yaml is read; the job looks for config/x.yaml where you submit it"));
  Write("config/x.yaml", "max_steps: 2\n");
  const auto both = Said("");
  EXPECT_TRUE(Has(both, "max_steps 2 (max_steps)"));
  EXPECT_TRUE(Has(both,
                  "config/x.yaml and s/config/x.yaml differ: the first is read, as the job "
                  "runs where you submit it"));
  Write("work/config/x.yaml", "max_steps: 3\n");
  EXPECT_TRUE(Has(Said("cd work\n"), "max_steps 3 (max_steps)"));
  EXPECT_TRUE(Has(Said("#SBATCH --chdir=work\n"), "max_steps 3 (max_steps)"));
  EXPECT_TRUE(Has(Said("cd $SLURM_SUBMIT_DIR/work\n"), "max_steps 3 (max_steps)"));
}

}  // namespace
}  // namespace gpuadvise::client
