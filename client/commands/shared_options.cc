#include "client/commands/shared_options.h"

#include <CLI/CLI.hpp>

namespace gpuadvise::client {

void AddMaxAge(Options& options, std::optional<double>& max_age_seconds) {
  options.Number("--max-age SECONDS", max_age_seconds, 0, kMostSeconds,
                 "Exit with 5 if the data is older than this many seconds");
}

void AddSection(Options& options, std::string& section) {
  options.Value("--section NAME", section, "Use this section of FILE");
}

void AddLogPattern(Options& options, std::string& pattern) {
  options.Value("--pattern REGEX", pattern,
                "Regular expression for steps and loss in the log (RE2)");
}

void AddWord(Options& options, std::string& word) {
  options.Value("WORD", word, "Only names that contain this");
}

void AddGpusFile(Options& options, OwnCatalogues& own) {
  options.Value("--gpus-file FILE", own.gpus_file,
                "File with more GPUs, in the format of gpus.yaml");
}

void AddModelsFile(Options& options, OwnCatalogues& own) {
  options.Value("--models-file FILE", own.models_file,
                "File with more model presets, in the format of models.yaml");
}

void FillFrom(const OwnCatalogues& settings, OwnCatalogues& own) {
  if (own.gpus_file.empty()) own.gpus_file = settings.gpus_file;
  if (own.models_file.empty()) own.models_file = settings.models_file;
}

void AddAdviceQuestion(Options& options, AdviceQuestion& question) {
  options.Value("FILE", question.file, "The training file (train.yaml); - is standard input");
  AddSection(options, question.section);
  options.Value("--objective WORD", question.objective,
                "Rank by finish (default), start, cost or deadline", CheckObjective);
  options.Value("--deadline TIME", question.deadline,
                "Deadline: fri, 18:00, 2026-11-27T18:00, now+2days");
  options.Value("--gpu NAME,...", question.gpus, "Only these kinds of GPU");
  AddPrices(options, question.prices);
  AddSlurmFlags(options, question.fixed);
  AddArray(options, "-a,--array", question.fixed);
}

void AddArray(Options& options, const char* spelling, SbatchOptions& given) {
  options.app()
      .add_option_function<std::string>(
          spelling, [&given](const std::string& value) { given.Set("array", value); },
          "Many runs, as in sbatch: 1-80, 1-80%8; split over GPU types so that the last is done "
          "first")
      ->option_text("TASKS")
      ->group("Fixed by you (as in sbatch)");
}

void AddPrices(Options& options, std::string& prices) {
  options.Value("--price PRICE,...", prices,
                "Price of a GPU-hour: 2.50 for all, or l40s=1.20,rtx4090=0.45");
}

void AddTrainingSource(Options& options, TrainingSource& source) {
  options.Value("FILE|MODEL", source.file,
                "A training file (- is standard input), or a model: a name of `gpuadvise models`, "
                "a Hugging Face id, or the folder of its config.json");
  AddSection(options, source.section);
  AddGpusFile(options, source.own);
  AddModelsFile(options, source.own);
}

void AddSlurmFlags(Options& options, SbatchOptions& given) {
  const auto add = [&](const char* spelling, const std::string& name, const char* help) {
    options.app()
        .add_option_function<std::string>(
            spelling, [&given, name](const std::string& value) { given.Set(name, value); }, help)
        ->option_text("X")
        ->group("Fixed by you (as in sbatch)");
  };
  add("-p,--partition", "partition", "Partition to stay in");
  add("-A,--account", "account", "Account to charge");
  add("-q,--qos", "qos", "Quality of service");
  add("-t,--time", "time", "Time limit: minutes, HH:MM:SS, D-HH:MM:SS");
  add("-N,--nodes", "nodes", "Number of nodes");
  add("-C,--constraint", "constraint", "Node features required");
  add("--gres", "gres", "GPUs per node, such as gpu:l40s:6");
  add("-G,--gpus", "gpus", "GPUs in total, such as l40s:12");
  add("--gpus-per-node", "gpus-per-node", "GPUs per node, such as l40s:6");
  add("-w,--nodelist", "nodelist", "Only these nodes (delays the start; prefer --exclude)");
  add("-x,--exclude", "exclude", "Never these nodes");
}

}  // namespace gpuadvise::client
