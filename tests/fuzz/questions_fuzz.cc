// Questions about a small cluster, of keys that there are and values of the bytes: every one gets
// an answer or a sentence, as somebody and as nobody, with much time and with little.
#include <nlohmann/json.hpp>

#include "common/base/work_budget.h"
#include "common/forecast/start_of.h"
#include "daemon/answers/answer_select.h"
#include "daemon/answers/answer_training.h"
#include "daemon/answers/answers.h"
#include "tests/fakes/seed_cluster.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_spec.h"

namespace {

using namespace gpuadvise;
using nlohmann::json;

struct Cluster {
  std::shared_ptr<const Snapshot> snapshot = std::make_shared<const Snapshot>(SnapshotOf(
      std::string(kSeedCluster) +
      "run 1 classt21 gpul40s:6 ends 2h\nrun 2 classt01 gpu2080:4 ends 1h\npend 3 gpul40s:6\n"));
  std::shared_ptr<const QueueModel> queue = PrepareQueue(snapshot);
};

json AnyJob(ByteStream& bytes) {
  constexpr const char* kTexts[] = {"partition", "constraint", "nodelist", "exclude",
                                    "account",   "qos",        "gpus",     "gpus_per_node",
                                    "gres",      "reservation"};
  constexpr const char* kNumbers[] = {"nodes",       "ntasks",          "cpus_per_task",
                                      "mem_mib",     "mem_per_cpu_mib", "time_limit_seconds",
                                      "array_tasks", "array_throttle",  "begin"};
  json job = {{"gres", "gpu:1"}};
  for (size_t left = bytes.Below(6); left > 0; --left) {
    if (bytes.Byte() % 2 == 0) {
      job[bytes.OneOf(kTexts)] = AnyText(bytes);
    } else {
      job[bytes.OneOf(kNumbers)] = AnyNumber(bytes);
    }
  }
  return job;
}

void CheckError(const Error& error) {
  Require(!error.message.empty(), "an error has a sentence");
  Require(error.code != ErrorCode::kInternal, "no question is a bug");
}

constexpr size_t kLargestAnswer = 2'000'000;

void Check(const Result<json>& answer) {
  if (!answer) return CheckError(answer.error());
  const std::string text = answer->dump(-1, ' ', false, json::error_handler_t::replace);
  Require(text.size() < kLargestAnswer, "an answer is bounded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise::daemon;
  static const Cluster kCluster;
  ByteStream bytes(data, size);
  const bool named = bytes.Byte() % 2 == 0;
  const Submitter caller = named ? Submitter{1000, "ann", "", ""} : Submitter{};
  int64_t asked = 0;  // work is counted by how often it is asked for, not by time
  const int64_t most = 1 + bytes.Byte() * 2;
  WorkBudget budget(std::chrono::milliseconds(most),
                    [&] { return std::chrono::milliseconds(++asked); });
  const WorkBudget::Share share(budget);
  const ForEach within = [&](size_t count, const std::function<void(size_t)>& body) {
    for (size_t i = 0; i < count; ++i) {
      if (!budget.Spent()) body(i);
    }
  };
  const AdviceContext context{*kCluster.snapshot, *kCluster.queue, *kCluster.queue, ShippedGpus(),
                              ShippedModels(),    within,          nullptr,         &budget};
  switch (bytes.Byte() % 5) {
    case 0: {
      json jobs = json::array();
      for (size_t left = bytes.Below(4); left > 0; --left) jobs.push_back(AnyJob(bytes));
      Check(AnswerWhen({{"jobs", jobs}}, context, caller));
      break;
    }
    case 1:
      Check(AnswerSelect({{"job", AnyJob(bytes)}, {"groups", {AnyText(bytes)}}}, context, caller));
      break;
    case 2: {
      const json spec = AnySpec(bytes);
      Check(AnswerAdvise({{"spec", spec}, {"constraints", AnyJob(bytes)}}, context, caller));
      break;
    }
    case 3:
      Check(AnswerFitHere({{"spec", AnySpec(bytes)}}, context, caller));
      break;
    default:
      Check(AnswerScaleHere({{"spec", AnySpec(bytes)}, {"most_gpus", AnyNumber(bytes)}}, context,
                            caller));
  }
  return 0;
}
