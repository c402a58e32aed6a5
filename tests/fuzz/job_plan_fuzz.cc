// A train.yaml of anybody's beside an advice: the job script says what sbatch was told and no more,
// and the plan of its folders is read whatever stands there.

#include <algorithm>

#include "client/preflight/preflight.h"
#include "client/sbatch/sbatch_script.h"
#include "common/spec/sent_spec.h"
#include "common/yaml/train_file.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  const auto nothing = [](const std::string&) -> Result<std::string> {
    return Fail(ErrorCode::kNotFound, "none");
  };
  const auto file =
      TrainFile::FromText(AsText(data, size), "train.yaml", "", 1'790'000'000, nothing);
  if (!file) return 0;
  api::Strategy strategy;
  strategy.gpu = "l40s";
  strategy.gpus_per_node = 4;
  strategy.nodes = 2;
  strategy.micro_batch = 8;
  strategy.accumulation = 2;
  strategy.precision = "bf16";
  strategy.partition = "gpu";
  strategy.sbatch.partition = "gpu";
  strategy.sbatch.nodes = 2;
  Require(SentSpec(SentSpec(file->spec())) == SentSpec(file->spec()), "what is sent is sent");
  const auto script =
      MakeJobScript("#!/bin/bash\n{sbatch}\n# end\ntrue\n{exports}\n{setup}\n{launch}\n",
                    file->spec(), strategy, {"a-1", "/o"}, {});
  const SbatchOptions options = StrategyOptions(file->spec(), strategy, {});
  (void)ReadJobPlan(file->spec(), strategy, options);
  (void)MakeTrialScript(file->spec(), strategy);
  if (!script) {
    Require(!script.error().message.empty(), "an error has a sentence");
    return 0;
  }
  const auto read = ParseScriptOptions(script->text, "job.sh");
  Require(read.has_value(), "sbatch reads its lines");
  for (const std::string& word : read->unknown) {  // of a plugin
    Require(word.starts_with("--") &&
                script->options.Has(word.substr(2, std::min(word.find('='), word.size()) - 2)),
            "no option but the file's");
  }
  Require(read->options.values().size() + read->unknown.size() == script->options.values().size(),
          "as many as were made");
  for (const auto& [name, value] : read->options.values()) {
    Require(script->options.Has(name), "and no other");
  }
  return 0;
}
