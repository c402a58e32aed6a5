#include "client/commands/script_source.h"

#include "client/questions/training_settings.h"
#include "client/script/script_file.h"
#include "client/terminal/printable.h"
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

Result<TrainFile> TrainingFromScript(const std::string& script, const ScriptHints& hints,
                                     const std::string& section, ScriptBatch batch,
                                     Console& console) {
  const Result<ConvertedScript> converted = ConvertScriptFile(script, hints);
  if (!converted) return tl::unexpected<Error>(converted.error());
  if (converted->report.batch_is_missing && batch == ScriptBatch::kRequired) {
    return BadInput(script + ": " + Join(converted->report.missing, "; ") +
                    "; or say --effective-batch N");
  }
  ScriptReport open;
  open.left = converted->report.left;
  open.unclear = converted->report.unclear;
  open.missing = converted->report.missing;
  const std::string points = ReportText(open, console.style().width);
  if (!points.empty()) console.Complain(points.substr(0, points.size() - 1));
  const Result<TrainFile> file =
      TrainFile::FromText(converted->yaml, script, section, console.now());
  if (!file) return file;
  // Nobody sees the lines of that text.
  return TrainFile::FromSpec(file->spec(), script);
}

Result<TrainFile> LoadTraining(const AdviceQuestion& question, const FromScript& from,
                               Console& console) {
  std::string script = from.script;
  if (script.empty() && IsJobScript(question.file)) script = question.file;
  Result<TrainFile> file = script.empty()
                               ? TrainFile::Load(question.file, question.section, console.now())
                               : TrainingFromScript(script, from.hints, question.section,
                                                    ScriptBatch::kRequired, console);
  if (!file) return file;
  std::vector<TrainingSetting> settings;
  if (!question.gpus.empty()) settings.push_back({"resources.gpus", "--gpu", question.gpus});
  if (!question.prices.empty())
    settings.push_back({"resources.prices", "--price", question.prices});
  const Result<std::vector<std::string>> gave_way = ApplySettings(settings, *file);
  if (!gave_way) return tl::unexpected<Error>(gave_way.error());
  for (const std::string& note : *gave_way) console.Complain(Printable(note));
  return file;
}

Result<TrainingQuestion> LoadQuestion(TrainingSource source, RunLength run_length, Api& api,
                                      Console& console) {
  if (IsJobScript(source.file)) {
    Result<TrainFile> training =
        TrainingFromScript(source.file, {}, source.section, ScriptBatch::kOptional, console);
    if (!training) return tl::unexpected<Error>(std::move(training.error()));
    source.training = *std::move(training);
  }
  return TrainingQuestion::Load(source, run_length, api, console.now());
}

}  // namespace gpuadvise::client
