#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

json Node(const char* name, const char* condition) {
  return {{"name", name},
          {"condition", condition},
          {"partitions", {"gpu"}},
          {"jobs_total", 2},
          {"gpus", {{{"gpu_name", "L40S"}, {"total", 6}, {"free", 2}}}}};
}

json Nodes(json nodes) {
  const size_t total = nodes.size();
  return {{"nodes", std::move(nodes)},
          {"total", total},
          {"conditions", {{"partly", 1}, {"drained", 1}}}};
}

TEST(NodesCommand, ShowsWhatIsFreeAndWhyTheRestIsNot) {
  FakeProcess process;
  json partly = Node("n1", "partly");
  partly["promised"] = {{"job_id", 1644}, {"start", process.console.now() + 3600}};
  json drained = Node("n2", "drained");
  drained["reason"] = "fan\x1b[31m";
  drained["gpus"] = json::array();
  process.api.Answer(Nodes({partly, drained}));
  process.console.shown.width = 120;
  EXPECT_EQ(process.Gpuadvise({"nodes"}), kExitOk);
  const std::string& text = process.console.printed;
  EXPECT_NE(text.find("2 nodes · 1 partly, 1 drained"), std::string::npos) << text;
  EXPECT_NE(text.find("2 of 6 L40S"), std::string::npos) << text;
  EXPECT_NE(text.find("kept for job 1644 until "), std::string::npos) << text;
  EXPECT_NE(text.find("fan"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(NodesCommand, OptionsAreTheApisFilters) {
  FakeProcess process;
  process.api.Answer(Nodes(json::array()));
  EXPECT_EQ(process.Gpuadvise({"nodes", "-p", "a b", "--condition", "drained"}), kExitOk);
  EXPECT_EQ(process.api.asked.back().first,
            "/v1/nodes?limit=1000&partition=a%20b&condition=drained");
}

}  // namespace
}  // namespace gpuadvise::client
