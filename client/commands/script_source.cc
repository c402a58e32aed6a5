#include "client/commands/script_source.h"

#include "client/script/script_file.h"
#include "common/base/text.h"

namespace gpuadvise::client {

void AddFromScript(Options& options, FromScript& from, const char* help) {
  options.Value("--from JOB.SH", from.script, help);
  options.Value("--model NAME", from.hints.model,
                "With --from: the model (see `gpuadvise models`)");
  options.Number("--max-steps N", from.hints.max_steps, 1, 1e12,
                 "With --from: number of optimizer steps");
  options.Number("--num-samples N", from.hints.num_samples, 1, 1e12,
                 "With --from: number of samples in the data set");
  options.Number("--effective-batch N", from.hints.effective_batch_size, 1, 1e6,
                 "With --from: samples per optimizer step, all GPUs together");
}

Result<void> CheckSource(const AdviceQuestion& question, const FromScript& from) {
  if (question.file.empty() && from.script.empty()) {
    return BadInput("FILE is required: a train.yaml, or --from JOB.SH");
  }
  if (!question.file.empty() && !from.script.empty()) {
    return BadInput("FILE and --from JOB.SH cannot be combined");
  }
  return {};
}

Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console) {
  const int64_t now = console.now();
  if (from.script.empty()) return TrainFile::Load(question.file, question.section, now);
  const Result<ConvertedScript> converted = ConvertScriptFile(from.script, from.hints);
  if (!converted) return tl::unexpected<Error>(converted.error());
  if (converted->report.batch_is_missing) {
    return BadInput(from.script + ": " + Join(converted->report.missing, "; ") +
                    "; or say --effective-batch N");
  }
  ScriptReport open;
  open.unclear = converted->report.unclear;
  open.missing = converted->report.missing;
  const std::string points = ReportText(open, console.style().width);
  if (!points.empty()) console.Complain(points.substr(0, points.size() - 1));
  return TrainFile::FromText(converted->yaml, from.script + " as a train.yaml", question.section,
                             now);
}

}  // namespace gpuadvise::client
