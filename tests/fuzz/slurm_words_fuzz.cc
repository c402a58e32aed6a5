// Words that Slurm's configuration and jobs hold: scheduler parameters, billing weights,
// dependencies, reasons, features. Any text is answered, within bounds.
#include <cmath>
#include <string>

#include "common/slurm/feature_expression.h"
#include "common/slurm/pending_reason.h"
#include "common/slurm/queue_order.h"
#include "common/slurm/scheduler_options.h"
#include "common/slurm/tres.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const std::string text(AsText(data, size));
  SchedulerConfig config;
  config.scheduler_parameters = text;
  const SchedulerOptions options = OptionsOf(config);
  Require(options.interval_seconds >= 1 && options.resolution_seconds >= 1, "time goes on");
  Require(options.window_seconds >= 0 && options.max_job_test >= 0 && options.queue_depth >= 0 &&
              options.max_job_array_resv >= 0,
          "counts are not negative");
  if (const auto billing = ComputeBilling(text, {{"cpu", 4}, {"mem", 9}, {"gres/gpu", 2}}, false)) {
    Require(std::isfinite(*billing), "billing is a number");
  }
  for (const int64_t id : DependsOn(text)) Require(id > 0, "a dependency names jobs");
  ExplainPendingReason(text);
  IsHoldReason(text);
  IsLimitReason(text);
  const auto features = FeatureExpression::Parse(text);
  if (!features) Require(!features.error().message.empty(), "an error has a sentence");
  if (features) {
    features->Accepts({});
    features->Accepts(features->names());
  }
  return 0;
}
