#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/clusters/cluster.h"
#include "client/clusters/cluster_runner.h"
#include "client/clusters/clusters_api.h"
#include "tests/fakes/fake_server.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string WhyNot(const std::string& name, const json& value) {
  const auto read = ReadCluster(name, value, {});
  return read ? "read" : read.error().message;
}

TEST(Clusters, AreASocketAUrlOrAMapping) {
  DaemonAddress usual("/usual");
  usual.ca = "/ca.crt";
  EXPECT_EQ(ReadCluster("a", "/run/a.sock", usual)->daemon.InWords(), "/run/a.sock");
  const Cluster b =
      ReadCluster(
          "b", {{"daemon", "https://b:6829,https://c:6829"}, {"submit_command", "ssh  b sbatch"}},
          usual)
          .value();
  EXPECT_EQ(b.daemon.ca, "/ca.crt");
  EXPECT_EQ(b.daemon.InWords(), "https://b:6829, https://c:6829");
  EXPECT_EQ(b.submit_command, (std::vector<std::string>{"ssh", "b", "sbatch"}));
}

TEST(Clusters, OthersAreRefusedWithTheRemedy) {
  EXPECT_NE(WhyNot("a", json::object()).find("where is its gpuadvised"), std::string::npos);
  EXPECT_NE(WhyNot("a", 5).find("where is its gpuadvised"), std::string::npos);
  EXPECT_NE(WhyNot("a", "http://a").find("clusters.a: 'http://a' is no daemon"), std::string::npos);
  EXPECT_NE(WhyNot("a", {{"deamon", "/x"}}).find("'daemon'"), std::string::npos)
      << WhyNot("a", {{"deamon", "/x"}});
  EXPECT_EQ(WhyNot("a", {{"socket", "/x"}}), "clusters.a: socket is now called daemon");
  EXPECT_EQ(WhyNot("a", {{"ca_file", "/x"}}), "clusters.a: ca_file is now called ca");
  EXPECT_NE(WhyNot("a", {{"daemon", 1}}).find("must be a text"), std::string::npos);
  EXPECT_NE(WhyNot("all", "/x").find("no name of a cluster"), std::string::npos);
  EXPECT_NE(WhyNot("a b", "/x").find("no name of a cluster"), std::string::npos);
  EXPECT_NE(WhyNot("", "/x").find("no name of a cluster"), std::string::npos);
}

TEST(Clusters, AreChosenByNameOnceEach) {
  const std::vector<Cluster> known = {{"alpha", "/a"}, {"beta", "/b"}};
  EXPECT_EQ(ChooseClusters(known, "all")->size(), 2u);
  EXPECT_EQ(ChooseClusters(known, "beta,alpha,beta")->front().name, "beta");
  EXPECT_EQ(ChooseClusters(known, "beta,alpha,beta")->size(), 2u);
  EXPECT_NE(ChooseClusters(known, "alfa").error().message.find("did you mean 'alpha'"),
            std::string::npos);
  EXPECT_FALSE(ChooseClusters(known, "alpha,,beta"));
  EXPECT_NE(ChooseClusters({}, "a").error().message.find("client.yaml"), std::string::npos);
}

class ClustersApiTest : public testing::Test {
 protected:
  // The probe gets the same answer as the question.
  std::unique_ptr<FakeServer> Serve(const char* name, const std::string& answer) {
    return std::make_unique<FakeServer>(folder_.Path(name), ServedBytes{{answer}});
  }
  ClustersApi Api(std::vector<std::string> names) {
    std::vector<Cluster> clusters;
    for (const std::string& name : names) clusters.push_back({name, folder_.Path(name)});
    return ClustersApi(std::move(clusters),
                       [this](const std::string& one) { said_.push_back(one); });
  }

  TemporaryFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(ClustersApiTest, AsksAllAndSaysWhoIsMissing) {
  const auto a = Serve("a", HttpBytes(200, R"({"gpus": [{"gpu": "x"}]})"));
  const auto odd = Serve("odd", HttpBytes(200, "nonsense"));
  ClustersApi api = Api({"a", "gone", "odd"});
  const auto answer = api.Get("/v1/gpus");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ((*answer)["gpus"].size(), 1u);
  ASSERT_EQ(said_.size(), 2u);
  EXPECT_EQ(said_[0].find("cluster gone is left out: cannot reach gpuadvised at"), 0u) << said_[0];
  EXPECT_EQ(said_[0].find("systemctl"), std::string::npos) << "it is another host's";
  EXPECT_NE(said_[1].find("different versions"), std::string::npos) << said_[1];
}

TEST_F(ClustersApiTest, ASilentDaemonIsNotWaitedForBeyondASecond) {
  const auto a = Serve("a", HttpBytes(200, R"({"gpus": []})"));
  const FakeServer silent(folder_.Path("silent"), ServedBytes{{}, true});
  ClustersApi api = Api({"a", "silent"});
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(api.Get("/v1/gpus"));
  EXPECT_NE(said_.at(0).find("silent is left out"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_F(ClustersApiTest, WhereNobodyAnswersTheErrorNamesTheCluster) {
  const auto answer = Api({"gone", "lost"}).Get("/v1/gpus");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message.find("gone: cannot reach"), 0u) << answer.error().message;
  EXPECT_TRUE(said_.empty());
}

class ClusterRunnerTest : public testing::Test {
 protected:
  ClusterRunnerTest() {
    std::ofstream(folder_.Path("login")) << "#!/bin/sh\necho \"$@\" > " << folder_.Path("words")
                                         << "\ncat > " << folder_.Path("script") << "\necho 4711\n";
    ::chmod(folder_.Path("login").c_str(), 0755);
  }
  std::string Text(const char* name) {
    std::ifstream in(folder_.Path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TemporaryFolder folder_;
  ClusterRunner runner_{{{"b", "/b", {folder_.Path("login"), "b", "sbatch"}}}};
};

TEST_F(ClusterRunnerTest, TheSitesCommandGetsTheArgumentsAndTheScript) {
  const auto printed = runner_.Submit({"--parsable", "--time=60", "--clusters=b"}, "#!/bin/bash\n");
  ASSERT_TRUE(printed) << printed.error().message;
  EXPECT_EQ(*printed, "4711\n");
  EXPECT_EQ(Text("words"), "b sbatch --parsable --time=60\n");
  EXPECT_EQ(Text("script"), "#!/bin/bash\n");
  const auto tried = runner_.Test({"--parsable", "--clusters=b"}, "#!/bin/bash\n");
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_TRUE(tried->accepted);
  EXPECT_EQ(Text("words"), "b sbatch --test-only --parsable\n");
}

TEST_F(ClusterRunnerTest, WhatARemoteShellWouldReadAgainIsRefused) {
  for (const char* argument : {"--comment=a b", "--comment=$(id)", "--comment=a;b", "--comment='a'",
                               "--comment=a|b", "--comment=`id`", "--comment=*"}) {
    const auto printed = runner_.Submit({argument, "--clusters=b"}, "#!/bin/bash\n");
    ASSERT_FALSE(printed) << argument;
    EXPECT_NE(printed.error().message.find("slurm: extra"), std::string::npos);
  }
  EXPECT_EQ(Text("words"), "");
}

}  // namespace
}  // namespace gpuadvise::client
