// With stand-ins that print what munge 0.5.15 prints.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/munge/munge.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise {
namespace {

class MungePrograms : public testing::Test {
 protected:
  void SetUp() override { ::setenv("PATH", (folder_.Path("") + ":" + path_).c_str(), 1); }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  // `name` notes its words and input, and does what `script` says.
  void StandIn(const std::string& name, const std::string& script) {
    folder_.WriteScript(name, "echo \"$@\" >" + folder_.Path("words") + "\ncat >" +
                                  folder_.Path("input") + "\n" + script + "\n");
  }
  static std::string Why(const std::string& credential) {
    const Result<MungeProof> proof = ReadCredential(credential, "");
    return proof ? "believed" : proof.error().message;
  }

  const std::string path_ = std::getenv("PATH");
  daemon::TempFolder folder_;
};

TEST_F(MungePrograms, MakeACredentialOfOneLine) {
  StandIn("munge", "echo MUNGE:AwQF:");
  EXPECT_EQ(MungeCredential("gpuadvise abc", "/run/s").value(), "MUNGE:AwQF:");
  EXPECT_EQ(folder_.Read("words"), "--socket=/run/s\n");
  EXPECT_EQ(folder_.Read("input"), "gpuadvise abc");
}

TEST_F(MungePrograms, ReadUserAndPayload) {
  StandIn("unmunge",
          R"(printf 'STATUS:    Success (0)\nUID:   ann (b) (1000)\n\nUID: x (0)\n\nabc')");
  const MungeProof proof = ReadCredential("MUNGE:AwQF:", "").value();
  EXPECT_EQ(proof.uid, 1000);
  EXPECT_EQ(proof.payload, "UID: x (0)\n\nabc");
  EXPECT_EQ(folder_.Read("words"), "--keys=STATUS,UID\n");
  EXPECT_EQ(folder_.Read("input"), "MUNGE:AwQF:");
}

TEST_F(MungePrograms, SayWhyACredentialIsNotTaken) {
  StandIn("unmunge",
          R"(printf 'STATUS:  Replayed credential (17)\nUID: ann (1000)\n\nabc'; exit 17)");
  EXPECT_EQ(Why("x"), "the munge credential is not valid: Replayed credential");
  StandIn("unmunge", "echo 'unmunge: Error: Failed to base64-decode credential' >&2; exit 8");
  EXPECT_EQ(Why("x"), "the munge credential is not valid: Failed to base64-decode credential");
  StandIn("unmunge", "echo 'unmunge: Error: Failed to access \"/s\": Gone' >&2; exit 6");
  EXPECT_EQ(Why("x"), "munged does not answer on the daemon's host: Failed to access \"/s\": Gone");
  for (const char* odd :
       {"true", "echo UID: ann", "echo 'UID: ann (1000'", "printf 'UID: a (x)\\n\\nb'"}) {
    StandIn("unmunge", odd);
    EXPECT_EQ(Why("x"), "unmunge printed what is not known here") << odd;
  }
}

TEST_F(MungePrograms, AreAskedForWhereTheyAreMissing) {
  ::setenv("PATH", "/nothing", 1);
  EXPECT_EQ(MungeCredential("x", "").error().message,
            "munge could not be run: No such file or directory; install munge on this host");
}

}  // namespace
}  // namespace gpuadvise
