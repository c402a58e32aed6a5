#include "client/script/own_path.h"

#include <gtest/gtest.h>

namespace gpuadvise::client {
namespace {

std::string Of(const std::string& text) { return WithOwnPath(text, "/home/ann/job.sh"); }

TEST(OwnPath, StandsWhereAScriptLooksForItsFolder) {
  EXPECT_EQ(Of("cd $(dirname \"$0\")"), "cd $(dirname \"/home/ann/job.sh\")");
  EXPECT_EQ(Of("DIR=$( cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" && pwd )"),
            "DIR=$( cd -- \"$( dirname -- \"/home/ann/job.sh\" )\" && pwd )");
  EXPECT_EQ(Of("cd `dirname $0`/.."), "cd `dirname /home/ann/job.sh`/..");
  EXPECT_EQ(Of("x=$(readlink -f ${0})"), "x=$(readlink -f /home/ann/job.sh)");
}

TEST(OwnPath, StandsWhereverTheShellExpandsIt) {
  const std::string path = "/home/ann/job.sh";
  EXPECT_EQ(Of("cp $0 out/"), "cp " + path + " out/");
  EXPECT_EQ(Of("cat \"$0\"; echo done"), "cat \"" + path + "\"; echo done");
  EXPECT_EQ(Of("x=\"$(cat $0 | awk '{print $0}')\""),
            "x=\"$(cat " + path + " | awk '{print $0}')\"");
  EXPECT_EQ(Of("# it's\necho \"it's $0\""), "# it's\necho \"it's " + path + "\"");
  EXPECT_EQ(Of("cat << END\nit's $0\nEND\n"), "cat << END\nit's " + path + "\nEND\n");
  EXPECT_EQ(Of("cat << 'END'\nit's $0\nEND\necho $0"), "cat << 'END'\nit's $0\nEND\necho " + path);
}

TEST(OwnPath, IsNotPutElsewhere) {
  for (const char* text :
       {"awk '{print $0}' x", "awk \"{print \\$0}\" x", "dirname $01", "dirname $OTHER", "echo '",
        "echo \\", "# $0", "x=\"`awk '{print $0}' y`\"", "cat <<'END'\n$0"}) {
    EXPECT_EQ(Of(text), text);
  }
  EXPECT_EQ(WithOwnPath("dirname $0", "/home/ann/my job.sh"), "dirname $0");
  EXPECT_EQ(WithOwnPath("dirname $0", ""), "dirname $0");
}

TEST(OwnPath, IsSeenInFormsThatAreNotReplaced) {
  for (const char* text : {"cd ${0%/*}", "cd \"${BASH_SOURCE%/*}\"", "HERE=\"$0\"", "dirname $0"}) {
    EXPECT_TRUE(UsesOwnPath(text)) << text;
  }
  for (const char* text : {"awk '{print $0}' x", "cd /home/ann", "echo $01 ${01}"}) {
    EXPECT_FALSE(UsesOwnPath(text)) << text;
  }
}

}  // namespace
}  // namespace gpuadvise::client
