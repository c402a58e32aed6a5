#include "daemon/collect/slurm_api_program.h"

#include <gtest/gtest.h>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::collect {
namespace {

// What glibc's loader printed.
constexpr const char* kGone =
    "/usr/bin/gpuadvise-collect-api: error while loading shared libraries: libslurm.so.37: cannot "
    "open shared object file: No such file or directory\n";
constexpr const char* kNewer =
    "/usr/bin/gpuadvise-collect-api: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not "
    "found (required by /opt/slurm/lib/libslurm.so.38)\n";
constexpr const char* kOther =
    "/usr/bin/gpuadvise-collect-api: symbol lookup error: /usr/bin/gpuadvise-collect-api: "
    "undefined symbol: slurm_load_reservations\n";

TEST(WhyNotLoaded, NamesTheLibraryOrWhatItLacks) {
  EXPECT_EQ(WhyNotLoaded(kGone), "libslurm.so.37 cannot be loaded on this host");
  EXPECT_EQ(WhyNotLoaded(kNewer), "this host's libraries have no version GLIBC_2.38");
  EXPECT_EQ(WhyNotLoaded(kOther), "this host's libslurm has no slurm_load_reservations");
}

TEST(WhyNotLoaded, OtherWordsAreNotTheLoaders) {
  EXPECT_EQ(WhyNotLoaded("Killed\n"), "");
  EXPECT_EQ(WhyNotLoaded(""), "");
}

std::string WhyNot(const std::string& program) {
  const Result<void> checked = CheckApiProgram(program);
  return checked ? "" : checked.error().message;
}

TEST(CheckApiProgram, OneThatStartsIsGood) {
  const TemporaryFolder folder;
  EXPECT_EQ(WhyNot(folder.WriteProgram("api", "#!/bin/sh\n[ \"$*\" = --help ]\n")), "");
}

TEST(CheckApiProgram, AMissingOneSaysHowToGetIt) {
  EXPECT_EQ(WhyNot("/usr/bin/no-such-api"),
            "there is no /usr/bin/no-such-api: this gpuadvise was built without libslurm; install "
            "libslurm and its headers and build it again, or use slurm-cli");
}

TEST(CheckApiProgram, OneWhoseLibraryIsGoneSaysWhatToInstall) {
  const TemporaryFolder folder;
  const std::string said = folder.Write("said", kGone);
  EXPECT_EQ(
      WhyNot(folder.WriteProgram("api", "#!/bin/sh\ncat " + said + " >&2\nexit 127\n")),
      "libslurm.so.37 cannot be loaded on this host, though gpuadvise was built with it; install "
      "the libslurm of the cluster's Slurm here and build gpuadvise again with it, or use "
      "slurm-cli");
}

TEST(CheckApiProgram, OneThatFailsOtherwiseIsQuoted) {
  const TemporaryFolder folder;
  const std::string program = folder.WriteProgram("api", "#!/bin/sh\necho Killed >&2\nexit 1\n");
  EXPECT_EQ(WhyNot(program).rfind(program + " does not start: Killed,", 0), 0u) << WhyNot(program);
}

TEST(HostsRelease, IsWhatScontrolSays) {
  const TemporaryFolder folder;
  folder.WriteProgram("scontrol", "#!/bin/sh\n[ \"$*\" = --version ] && echo slurm-wlm 24.11.5\n");
  EXPECT_EQ(HostsRelease(folder.Path("")), "24.11.5");
  EXPECT_EQ(HostsRelease("/no/such/folder"), "");
}

TEST(OtherRelease, IsSaidWhereTheMajorReleasesDiffer) {
  EXPECT_EQ(OtherRelease("22.05.8", "22.05.11"), "");
  EXPECT_EQ(OtherRelease("22.05.8", ""), "");
  EXPECT_EQ(OtherRelease("22.05.8", "24.11.5"),
            "this host's Slurm is 24.11.5, but gpuadvise-collect-api was built with libslurm "
            "22.05.8; build gpuadvise here again with the libslurm of this host's Slurm, or use "
            "slurm-cli");
}

}  // namespace
}  // namespace gpuadvise::collect
