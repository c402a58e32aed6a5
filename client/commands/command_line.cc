#include "client/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

#include "client/api/exit_code.h"
#include "client/commands/given_flags.h"
#include "client/commands/help_text.h"
#include "client/commands/option_checks.h"
#include "client/commands/record_options.h"
#include "client/sbatch/sbatch_options.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/base/words.h"
#include "common/training/train_keys.h"

namespace gpuadvise::client {
namespace {

bool GivesOneOf(const std::string& word, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return word.starts_with(name + "="); });
}

void AddQuestion(CLI::App* app, AdviceQuestion* question, SlurmFlags* flags) {
  app->add_option("FILE", question->file, "The training file (train.yaml); - is standard input")
      ->required();
  app->add_option("--section", question->section, "Use this section of FILE")->option_text("NAME");
  app->add_option("--objective", question->objective,
                  "Rank by finish (default), start, cost or deadline")
      ->option_text("WORD")
      ->check(CLI::Validator(CheckObjective, "", ""));
  app->add_option("--deadline", question->deadline,
                  "Deadline: fri, 18:00, 2026-11-27T18:00, now+2days")
      ->option_text("TIME");
  flags->AddTo(app);
}

void AddFromScript(CLI::App* app, FromScript* from, const char* help) {
  app->add_option("--from", from->script, help)->option_text("JOB.SH");
  app->add_option("--model", from->hints.model, "With --from: the model (see `gpuadvise models`)")
      ->option_text("NAME");
  app->add_option("--max-steps", from->hints.max_steps, "With --from: number of optimizer steps")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e12));
  app->add_option("--num-samples", from->hints.num_samples,
                  "With --from: number of samples in the data set")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e12));
  app->add_option("--effective-batch", from->hints.effective_batch_size,
                  "With --from: samples per optimizer step, all GPUs together")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e6));
}

void AddGpusFile(CLI::App* app, OwnCatalogues* own) {
  app->add_option("--gpus-file", own->gpus_file, "File with more GPUs, in the format of gpus.yaml")
      ->option_text("FILE");
}

void AddModelsFile(CLI::App* app, OwnCatalogues* own) {
  app->add_option("--models-file", own->models_file,
                  "File with more model presets, in the format of models.yaml")
      ->option_text("FILE");
}

void AddSource(CLI::App* app, TrainingSource* source) {
  app->add_option(
         "FILE|MODEL", source->file,
         "A training file (- is standard input), or a model: a name of `gpuadvise models`, "
         "a Hugging Face id, or the folder of its config.json")
      ->required();
  app->add_option("--section", source->section, "Use this section of FILE")->option_text("NAME");
  AddGpusFile(app, &source->own);
  AddModelsFile(app, &source->own);
}

void AddMaxAge(CLI::App* app, std::optional<double>* max_age) {
  app->add_option("--max-age", *max_age, "Exit with 5 if the data is older than this many seconds")
      ->option_text("SECONDS")
      ->check(NumberFrom(0, kMostSeconds));
}

void AddSocket(CLI::App* app, std::string* socket) {
  app->add_option("--socket", *socket, "Socket of gpuadvised")->option_text("PATH");
}

void AddCommon(CLI::App* app, std::string* socket, bool* as_json) {
  app->add_flag("--json", *as_json, "Print the API's JSON");
  AddSocket(app, socket);
}

void AddClusters(CLI::App* app, std::string* clusters) {
  app->add_option("-M,--clusters", *clusters, "Ask these clusters of client.yaml, or all")
      ->option_text("NAME,...");
}

void AddFilter(CLI::App* jobs, JobsCommand& command) {
  jobs->add_option("-t,--state", command.filter.state,
                   "Only pending, running, ended, ok or failed jobs")
      ->option_text("STATE")
      ->check(CLI::IsMember({"pending", "running", "ended", "ok", "failed"}));
  jobs->add_option("--gpu", command.filter.gpu, "Only on this GPU")->option_text("NAME");
  jobs->add_option("--name", command.filter.name, "Only jobs with this in their name")
      ->option_text("TEXT");
  jobs->add_option("--since", command.since, "Submitted since: 7d, yesterday, fri, 2026-11-27")
      ->option_text("TIME");
  jobs->add_option("--limit", command.filter.limit, "The newest N jobs")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
}

// `when` and `select` take sbatch's options as they are; only ours go to CLI11.
const OwnWords kWhenWords = {{"--json", "-v", "--verbose", "--limits", "-h", "--help"},
                             {"--socket", "-M", "--clusters"}};
const OwnWords kSelectWords = {
    {"--json", "-h", "--help"},
    {"--socket", "--timeout", "--max-age", "--gpu-memory", "--avoid", "--advice", "--submitted"}};

// Everything the parser writes to, and the subcommands in the order of --help.
struct Parser {
  Parser()
      : app("Find where and how a training job finishes first on this Slurm cluster, and submit "
            "it.") {
    app.name("gpuadvise");
    app.set_version_flag("--version", std::string("gpuadvise ") + kVersion);
    app.require_subcommand(1);
    app.formatter(HelpFormatter());
    app.footer(kExitCodes);
    AddAdvise();
    AddSubmit();
    AddWhen();
    AddSelect();
    AddFit();
    AddScale();
    AddKnown();
    AddRun();
    AddProbe();
    AddSmall();
  }

  void AddAdvise() {
    CLI::App* advise = Add(Verb::kAdvise, "advise", "Rank the strategies for a training job");
    AddQuestion(advise, &line.advise.question, &advise_flags);
    advise->get_option("FILE")->required(false);
    AddFromScript(advise, &line.advise.from, "Use this job script instead of FILE");
    AddMaxAge(advise, &line.advise.max_age_seconds);
    advise->add_flag("--all", line.advise.all,
                     "Show all strategies, also impossible ones, with reasons");
    AddClusters(advise, &line.clusters);
    AddCommon(advise, &line.socket, &line.advise.json);
  }

  void AddSubmit() {
    CLI::App* submit =
        Add(Verb::kSubmit, "submit", "Submit the best strategy, or the one you pick");
    AddQuestion(submit, &line.submit.question, &submit_flags);
    submit->get_option("FILE")->required(false);
    AddFromScript(submit, &line.submit.from, "Use this job script instead of FILE");
    AddMaxAge(submit, &line.submit.max_age_seconds);
    submit->add_option("--pick", line.submit.pick, "Use row N of `advise`")
        ->option_text("N")
        ->check(CLI::PositiveNumber);
    submit->add_flag("-y,--yes", line.submit.yes, "Submit without asking for confirmation");
    submit->add_flag("--dry-run", line.submit.dry_run, "Print the script; submit nothing");
    submit
        ->add_option("--same-as", line.submit.same_as,
                     "Submit only if the script is still the one in FILE, from --dry-run")
        ->option_text("FILE");
    submit->add_flag("--force", line.submit.force, "Submit even if a check fails");
    AddClusters(submit, &line.clusters);
    AddCommon(submit, &line.socket, &line.submit.json);
    submit->footer(kSubmitFooter);
  }

  void AddWhen() {
    CLI::App* when =
        Add(Verb::kWhen, "when", "When a job would start: sbatch options or a job script");
    when->add_flag("--limits", line.when.limits, "Show start and risk for shorter time limits");
    when->add_flag("-v,--verbose", line.when.verbose, "List skipped options");
    AddClusters(when, &line.clusters);
    AddCommon(when, &line.socket, &line.when.json);
    when->footer(kWhenFooter);
  }

  void AddSelect() {
    SelectCommand& command = line.select;
    CLI::App* select =
        Add(Verb::kSelect, "select", "Choose partition and GPU type for a plain sbatch");
    select->add_option("--gpu-memory", command.gpu_memory, "Minimum memory of a GPU, such as 40G")
        ->option_text("SIZE");
    select->add_option("--avoid", command.avoid, "Partitions never to use, such as debug,test")
        ->option_text("NAMES")
        ->delimiter(',');
    select
        ->add_option("--timeout", command.timeout_seconds,
                     "Give up after this many seconds (default 1)")
        ->option_text("SECONDS")
        ->check(NumberFrom(0.01, 3600.0));
    select
        ->add_option("--max-age", command.max_age_seconds,
                     "Exit with 5 if the data is older (default 300)")
        ->option_text("SECONDS")
        ->check(NumberFrom(0, kMostSeconds));
    select->add_option("--advice", command.advice, "With --submitted: the answer's advice_id")
        ->option_text("ID");
    select
        ->add_option("--submitted", command.submitted,
                     "Only report that it was submitted as this job")
        ->option_text("JOBID")
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddCommon(select, &line.socket, &command.json);
    select->footer("\nPrints the options to add so that the job starts first.\n");
  }

  void AddTrace(CLI::App* fit) {
    const char* group = "With --trace";
    trace = fit->add_flag_function(
        "--trace", [this](int64_t) { line.fit.trace = trace_wishes; },
        "Count memory by running the script without data: -- COMMAND …");
    fit->add_option("--python", trace_wishes.python,
                    "Python that runs the script (default: the command's own)")
        ->option_text("PATH")
        ->needs(trace)
        ->group(group);
    fit->add_option("--trace-minutes", trace_wishes.minutes,
                    "Time limit of a run in minutes (default 5)")
        ->option_text("N")
        ->needs(trace)
        ->check(NumberFrom(0.02, 1'440.0))
        ->group(group);
    fit->add_option("--trace-memory", trace_wishes.memory_gib,
                    "Memory that the script may use, in GiB (default 16)")
        ->option_text("GIB")
        ->needs(trace)
        ->check(CLI::Range(1, 4'096))
        ->group(group);
  }

  void AddFit() {
    CLI::App* fit =
        Add(Verb::kFit, "fit", "What fits on which GPU: batch, memory by part, ways to save");
    AddSource(fit, &line.fit.source);
    fit->get_option("FILE|MODEL")->required(false);
    AddTrace(fit);
    fit->add_option("--gpu", line.fit.source.gpus, "Only this GPU; it need not be in the cluster")
        ->option_text("NAME");
    fit->add_option("-G,--gpus", line.fit.gpus_in_all, "GPUs per job (default 1)")
        ->option_text("N")
        ->check(CLI::Range(1, 100'000));
    fit->add_option("--micro-batch,--batch", line.fit.micro_batch, "Show this micro-batch")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    fit->add_flag("--tips", line.fit.tips,
                  "Show all tips for the first GPU, and why some do not apply");
    fit_flags.AddTo(fit);
    AddCommon(fit, &line.socket, &line.fit.json);
    fit->footer(kFitFooter);
  }

  void AddScale() {
    ScaleCommand& command = line.scale;
    CLI::App* scale =
        Add(Verb::kScale, "scale", "How many GPUs: hours, efficiency, cost, and why not more");
    AddSource(scale, &command.source);
    scale
        ->add_option("--gpu", command.source.gpus,
                     "These GPUs (default: all in the cluster, the best in full)")
        ->option_text("NAME");
    scale->add_option("--max-gpus", command.most_gpus, "Up to N GPUs (default 8, or a whole node)")
        ->option_text("N")
        ->check(CLI::Range(1, 65'536));
    scale
        ->add_option("--gpus-per-node", command.gpus_per_node,
                     "GPUs per node (default: the cluster's, else 8)")
        ->option_text("N")
        ->check(CLI::Range(1, 1'024));
    scale
        ->add_option("--network", command.network_gbit_per_s,
                     "Network between nodes in Gbit/s (default: the site's setting)")
        ->option_text("RATE")
        ->check(NumberFrom(0.001, 1e6));
    scale->add_option("--price", command.price, "Price of a GPU-hour")
        ->option_text("PRICE")
        ->check(CLI::Validator(CheckPrice, "", ""));
    scale->add_option("--objective", command.objective, "finish (default), cost or deadline")
        ->option_text("NAME")
        ->check(CLI::Validator(CheckObjective, "", ""));
    scale->add_option("--deadline", command.deadline, "Done by then with 90 % probability")
        ->option_text("TIME");
    scale_flags.AddTo(scale);
    scale_flags.AddMicroBatch(scale);
    AddCommon(scale, &line.socket, &command.json);
    scale->footer(kScaleFooter);
  }

  void AddKnown() {
    CLI::App* models = Add(Verb::kModels, "models", "List known models");
    models->add_option("WORD", line.list.word, "Only names that contain this");
    AddModelsFile(models, &line.list.own);
    models->add_flag("--json", line.list.json, "Print JSON");
    CLI::App* cards = Add(Verb::kCards, "cards", "List known GPUs and their names");
    cards->add_option("WORD", line.list.word, "Only names that contain this");
    AddGpusFile(cards, &line.list.own);
    AddCommon(cards, &line.socket, &line.list.json);
    CLI::App* reference = Add(Verb::kReference, "reference", "List the keys of a training file");
    reference->add_option("WORD", line.list.word, "Only names that contain this");
    reference->add_flag("--markdown", line.list.markdown, "Print all of them as Markdown");
  }

  void AddRun() {
    RunCommand& command = line.run;
    CLI::App* run = Add(Verb::kRun, "run", "Run a training and monitor it: -- COMMAND …");
    run->add_option("--pattern", command.pattern,
                    "Regular expression for steps and loss in the log (RE2)")
        ->option_text("REGEX");
    run->add_option("--micro-batch", command.micro_batch, "Micro-batch, replaces {micro_batch}")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    run->add_option("--accumulation", command.accumulation,
                    "Accumulation steps, replaces {accumulation}")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    run->add_option("--fit", command.fit,
                    "Take both from this training file, for the GPUs of the job")
        ->option_text("FILE");
    run->add_option("--section", command.section, "Use this section of FILE")->option_text("NAME");
    run->add_flag("--retry-on-oom", command.retry_on_oom,
                  "If out of memory, retry with half the micro-batch and twice the accumulation");
    run->add_option("--output", command.output, "Folder for gpuadvise-outcome.json")
        ->option_text("DIR");
    run->add_option("--hang-minutes", command.hang_minutes,
                    "Report a hang after this many silent minutes (default 10)")
        ->option_text("N")
        ->check(NumberFrom(0.01, 1e6));
    run->add_flag("-q,--quiet", command.quiet, "No progress line and no summary");
    AddSocket(run, &line.socket);
    run->footer(kRunFooter);
  }

  void AddProbe() {
    ProbeCommand& command = line.probe;
    CLI::App* probe =
        Add(Verb::kProbe, "probe", "Measure a few steps on one GPU and write the result into FILE");
    probe->add_option("FILE", command.file, "The training file (train.yaml)")->required();
    probe->add_option("--section", command.section, "Use this section of FILE")
        ->option_text("NAME");
    probe->add_option("--gpu", command.gpus, "Only on this GPU")->option_text("NAME");
    probe
        ->add_option("--micro-batch", command.micro_batches,
                     "Try this micro-batch; give it twice for two (default: chosen)")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000))
        ->expected(1, 2);
    probe->add_option("--steps", command.steps, "Steps per run (default 20)")
        ->option_text("N")
        ->check(CLI::Range(2, 10'000));
    probe->add_option("--minutes", command.minutes, "Total time limit in minutes (default 10)")
        ->option_text("N")
        ->check(NumberFrom(0.05, 1'440.0));
    probe
        ->add_option("--pattern", command.pattern,
                     "Regular expression for steps and loss in the log (RE2)")
        ->option_text("REGEX");
    probe->add_flag("--local", command.local, "Use a GPU of this machine, without Slurm");
    probe->add_flag("--dry-run", command.dry_run, "Measure and show; do not change FILE");
    probe->add_option("--outcome", command.outcome, "Only measure here, write the result into DIR")
        ->option_text("DIR");
    probe_flags.AddTo(probe);
    AddSocket(probe, &line.socket);
    probe->footer(kProbeFooter);
  }

  void AddSmall() {
    CLI::App* gpus =
        Add(Verb::kGpus, "gpus", "GPUs of the cluster: total, usable, free, and waits");
    AddClusters(gpus, &line.clusters);
    AddCommon(gpus, &line.socket, &line.json);
    CLI::App* queue = Add(Verb::kQueue, "queue", "Jobs of the cluster and when each will start");
    AddQueueOptions(queue, &line.queue);
    AddClusters(queue, &line.clusters);
    AddCommon(queue, &line.socket, &line.queue.json);
    CLI::App* why =
        Add(Verb::kWhy, "why", "Why a job waits, when it starts, and what would start it earlier");
    why->add_option("JOBID", line.job_id, "Job id")
        ->required()
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddCommon(why, &line.socket, &line.json);
    CLI::App* accuracy =
        Add(Verb::kAccuracy, "accuracy", "Accuracy of start-time forecasts on this cluster");
    AddCommon(accuracy, &line.socket, &line.json);
    AddJobs();
    AddLimits();
    AddWatch();
    AddSocket(Add(Verb::kTop, "top", "Live view of queue, GPUs and logs, full screen"),
              &line.socket);
    AddLogsOptions(Add(Verb::kLogs, "logs", "Print or follow the output of a job"), &line.logs);
    CLI::App* eff = Add(Verb::kEff, "eff", "What finished jobs used of what they asked for");
    AddEffOptions(eff, &line.eff);
    AddCommon(eff, &line.socket, &line.eff.json);
    AddDoctor();
    CLI::App* init = Add(Verb::kInit, "init", "Write a template of train.yaml");
    init->add_option("FILE", line.init.file, "File to write (default train.yaml)");
    AddFromScript(init, &line.init.from, "Turn this job script into a train.yaml");
    AddSocket(init, &line.socket);
    AddSocket(
        Add(Verb::kMcp, "mcp", "Serve AI assistants: Model Context Protocol on stdin and stdout"),
        &line.socket);
    CLI::App* help = Add(Verb::kHelp, "help", "Explain a topic or a command");
    help->add_option("TOPIC", line.topic, "A topic or a command; without it the list of topics");
  }

  void AddJobs() {
    JobsCommand& command = line.jobs;
    jobs = Add(Verb::kJobs, "jobs", "Your jobs: forecast and actual times, loss, cost");
    jobs->add_option("JOBID", command.job_id, "Show this job in full")
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddFilter(jobs, command);
    jobs->add_option(
            "--import", command.import_paths,
            "Import outcome files, or folders with one (default: your jobs' output folders)")
        ->option_text("[PATH ...]")
        ->expected(0, 100'000);
    jobs->add_flag("--csv", command.csv, "Every field as CSV");
    AddCommon(jobs, &line.socket, &command.json);
    jobs->footer(kJobsFooter);
  }

  void AddLimits() {
    LimitsCommand& command = line.limits;
    CLI::App* limits = Add(Verb::kLimits, "limits", "What shorter time limits would have saved");
    limits->add_option("-u,--user", command.user, "This user's jobs (me: your own, the default)")
        ->option_text("NAME");
    limits
        ->add_option("-S,--since", command.since,
                     "Submitted since: 7d, yesterday, fri, 2026-11-27 (30 days)")
        ->option_text("DATE");
    AddCommon(limits, &line.socket, &command.json);
    limits->footer(kLimitsFooter);
  }

  void AddWatch() {
    WatchCommand& command = line.watch;
    CLI::App* watch =
        Add(Verb::kWatch, "watch", "Follow a job: its start, its progress, how it ended");
    watch->add_option("JOBID", command.job_id, "Job id")
        ->required()
        ->check(CLI::Validator(CheckJobId, "", ""));
    watch
        ->add_option("--interval", command.interval_seconds,
                     "Seconds between checks (default 30, at least 5)")
        ->option_text("SECONDS")
        ->check(CLI::Range(5, 86'400));
    watch->add_flag("--once", command.once, "Check once");
    watch->add_flag("--json", command.json, "Print one JSON object per check");
    watch->add_flag("--notify", command.notify,
                    "Send messages, as ~/.config/gpuadvise/notify.yaml says");
    AddSocket(watch, &line.socket);
    watch->footer(kWatchFooter);
  }

  void AddDoctor() {
    CLI::App* doctor = Add(Verb::kDoctor, "doctor", "Check the installation, or a training file");
    AddQuestion(doctor, &line.doctor.question, &doctor_flags);
    doctor->get_option("FILE")->required(false);
    doctor->add_flag("--site", line.doctor.site,
                     "Show how the forecast uses this site's slurm.conf, key by key");
    AddCommon(doctor, &line.socket, &line.doctor.json);
  }

  CLI::App* Add(Verb verb, const char* name, const char* help) {
    return commands.emplace_back(verb, app.add_subcommand(name, help)).second;
  }

  bool Knows(const std::string& name) const {
    return std::any_of(commands.begin(), commands.end(),
                       [&](const auto& command) { return command.second->get_name() == name; });
  }

  std::vector<std::string> Commands() const {
    std::vector<std::string> names;
    for (const auto& [verb, command] : commands) names.push_back(command->get_name());
    return names;
  }

  // " (did you mean '--gpu'?)" for an option that `verb` has not; "" where none was given.
  std::string NearOption(const std::string& verb) const {
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const auto& each) {
      return each.second->get_name() == verb;
    });
    const CLI::App& of = found == commands.end() ? app : *found->second;
    std::vector<std::string> names = {"--json", "--socket"};  // of all, also before the command
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const std::string& word : app.remaining(true)) {
      if (word.starts_with("--")) return DidYouMean(word.substr(0, word.find('=')), names);
    }
    return {};
  }

  // REQUIRES: the command line was parsed.
  // REQUIRES: `app` was parsed without an error.
  const std::pair<Verb, CLI::App*>& ChosenCommand() const {
    return *std::find_if(commands.begin(), commands.end(),
                         [](const auto& command) { return command.second->parsed(); });
  }

  Verb Chosen() const { return ChosenCommand().first; }

  // Whether --json was given.
  bool Json() const {
    const CLI::Option* flag = ChosenCommand().second->get_option_no_throw("--json");
    return flag != nullptr && flag->count() > 0 && flag->as<bool>();
  }

  CLI::App app;
  CommandLine line;
  SlurmFlags advise_flags;
  SlurmFlags submit_flags;
  SlurmFlags doctor_flags;
  SettingFlags fit_flags;
  CLI::Option* trace = nullptr;
  TraceWishes trace_wishes;
  SettingFlags scale_flags;
  SlurmFlags probe_flags;
  CLI::App* jobs = nullptr;
  std::vector<std::pair<Verb, CLI::App*>> commands;
};

EarlyExit UsageError(const std::string& sentence, const std::string& verb) {
  return {kExitUsage, sentence + " (gpuadvise" + (verb.empty() ? "" : " " + verb) + " --help)"};
}

// A training file or a script, and one of them only.
Result<void> CheckSource(const std::string& file, const FromScript& from) {
  if (file.empty() && from.script.empty()) {
    return BadInput("FILE is required: a train.yaml, or --from JOB.SH");
  }
  if (!file.empty() && !from.script.empty()) {
    return BadInput("FILE and --from JOB.SH cannot be combined");
  }
  return {};
}

Result<void> CheckFitSource(const FitCommand& fit) {
  const bool command = fit.trace && !fit.trace->command.empty();
  if (fit.source.file.empty() && !command) {
    return BadInput(fit.trace ? "--trace needs the command: -- python train.py ARGS, or a "
                                "train.yaml or job script that has one"
                              : "FILE|MODEL is required");
  }
  if (!fit.source.file.empty() && command) {
    return BadInput("FILE and a command after -- cannot be combined");
  }
  return {};
}

Result<void> CheckSources(const CommandLine& line) {
  if (line.verb == Verb::kAdvise) return CheckSource(line.advise.question.file, line.advise.from);
  if (line.verb == Verb::kSubmit) return CheckSource(line.submit.question.file, line.submit.from);
  if (line.verb == Verb::kFit) return CheckFitSource(line.fit);
  return {};
}

// Options of all commands that stand before the command, put behind it.
void MoveGlobalWords(std::vector<std::string>* arguments) {
  auto command = arguments->begin();
  while (command != arguments->end()) {
    const bool names = IsOneOf(*command, {"--socket", "-M", "--clusters"});
    const bool with_value = names && command + 1 != arguments->end();
    const bool joined = command->starts_with("--socket=") || command->starts_with("--clusters=");
    if (*command != "--json" && !with_value && !joined) break;
    command += with_value ? 2 : 1;
  }
  if (command == arguments->end()) return;
  std::rotate(arguments->begin(), command, command + 1);
}

// What follows `--` joins what the flags fix, and wins over it.
Result<void> FixPassedOn(std::vector<std::string> passed_on, SubmitCommand* submit) {
  const Result<ParsedArguments> parsed = ParseSbatchArguments(passed_on);
  if (!parsed) return BadInput("after --: " + parsed.error().message);
  if (!parsed->rest.empty()) {
    return BadInput("after --: '" + parsed->rest.front() +
                    "' is not an sbatch option; gpuadvise writes the script itself");
  }
  submit->question.fixed.OverrideWith(parsed->options);
  submit->passed_on = std::move(passed_on);
  return {};
}

}  // namespace

void WithParser(const std::function<void(const CLI::App&)>& look) {
  const Parser parser;
  look(parser.app);
}

std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments) {
  std::vector<std::string> sbatch;
  std::vector<std::string> ours(arguments->begin(), arguments->begin() + 1);
  for (size_t i = 1; i < arguments->size(); ++i) {
    const std::string& word = (*arguments)[i];
    if (IsOneOf(word, own.flags) || GivesOneOf(word, own.values)) {
      ours.push_back(word);
    } else if (IsOneOf(word, own.values) && i + 1 < arguments->size()) {
      ours.push_back(word);
      ours.push_back((*arguments)[++i]);
    } else {
      sbatch.push_back(word);
    }
  }
  *arguments = std::move(ours);
  return sbatch;
}

std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments) {
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end()) return {};
  std::vector<std::string> after(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
  return after;
}

bool WantsJson(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

tl::expected<CommandLine, EarlyExit> ParseCommandLine(std::vector<std::string> arguments) {
  MoveGlobalWords(&arguments);
  const std::string verb = arguments.empty() ? "" : arguments.front();
  std::vector<std::string> sbatch;
  if (verb == "when") sbatch = TakeSbatchWords(kWhenWords, &arguments);
  if (verb == "select") sbatch = TakeSbatchWords(kSelectWords, &arguments);
  if (verb == "submit" || verb == "run") sbatch = TakeAfterDashes(&arguments);
  if (verb == "fit" && IsOneOf("--trace", arguments)) sbatch = TakeAfterDashes(&arguments);
  Parser parser;
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11's order for vectors
    parser.app.parse(arguments);
  } catch (const CLI::CallForVersion& version) {
    return tl::unexpected(EarlyExit{kExitOk, std::string(version.what()) + "\n"});
  } catch (const CLI::CallForHelp&) {
    return tl::unexpected(EarlyExit{kExitOk, parser.app.help()});
  } catch (const CLI::Error& error) {
    if (!verb.empty() && !verb.starts_with('-') && !parser.Knows(verb)) {
      return tl::unexpected(
          UsageError("unknown command '" + verb + "'" + DidYouMean(verb, parser.Commands()), ""));
    }
    return tl::unexpected(
        UsageError(error.what() + parser.NearOption(verb), verb.starts_with('-') ? "" : verb));
  }
  CommandLine line = std::move(parser.line);
  line.verb = parser.Chosen();
  line.json = parser.Json();
  line.advise.question.fixed = parser.advise_flags.Given();
  line.submit.question.fixed = parser.submit_flags.Given();
  line.fit.source.settings = parser.fit_flags.Given();
  if (line.fit.trace) {
    line.fit.trace = std::move(parser.trace_wishes);
    line.fit.trace->command = sbatch;
  }
  line.scale.source.settings = parser.scale_flags.Given();
  line.jobs.import = parser.jobs->count("--import") > 0;
  std::erase(line.jobs.import_paths, "");  // CLI11's word for no path
  line.doctor.question.fixed = parser.doctor_flags.Given();
  line.probe.fixed = parser.probe_flags.Given();
  line.when.arguments = sbatch;
  line.select.arguments = sbatch;
  line.run.command = sbatch;
  if (line.verb == Verb::kRun && sbatch.empty()) {
    return tl::unexpected(UsageError("nothing to run: gpuadvise run -- COMMAND …", verb));
  }
  if (Result<void> source = CheckSources(line); !source) {
    return tl::unexpected(UsageError(source.error().message, verb));
  }
  if (line.verb == Verb::kSubmit) {
    if (Result<void> fixed = FixPassedOn(sbatch, &line.submit); !fixed) {
      return tl::unexpected(UsageError(fixed.error().message, verb));
    }
  }
  return line;
}

}  // namespace gpuadvise::client
