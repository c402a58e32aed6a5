#include "client/commands/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

#include "client/api/exit_code.h"
#include "client/commands/help_text.h"
#include "client/sbatch/sbatch_options.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/base/words.h"
#include "common/training/train_keys.h"

namespace gpuadvise::client {
namespace {

std::string CheckObjective(const std::string& word) {
  if (IsOneOf(word, {"finish", "start", "cost", "deadline"})) return {};
  return "'" + word + "' is no objective; choose finish, start, cost or deadline";
}

constexpr double kMostSeconds = 1e9;  // 30 years
constexpr double kMostPrice = 1e9;    // of a GPU-hour, in any currency

// Whether `word` is a number from `least` to `most`; "nan" and "inf" are none.
bool IsNumberFrom(double least, double most, const std::string& word) {
  char* end = nullptr;
  const double number = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' && std::isfinite(number) && number >= least &&
         number <= most;
}

CLI::Validator NumberFrom(double least, double most) {
  const auto check = [least, most](const std::string& word) {
    return IsNumberFrom(least, most, word)
               ? std::string()
               : fmt::format("'{}' is not a number from {:.12g} to {:.12g}", word, least, most);
  };
  return CLI::Validator(check, "", "");
}

std::string CheckPrice(const std::string& word) {
  return IsNumberFrom(0, kMostPrice, word)
             ? ""
             : "'" + word + "' is no price; write a number such as 2.50";
}

std::string CheckJobId(const std::string& word) {
  const bool digits =
      !word.empty() && word.size() <= 12 && std::all_of(word.begin(), word.end(), IsDigit);
  return digits ? "" : "'" + word + "' is no job id; write its number, as squeue shows it";
}

// Flags of our commands that are sbatch's own: kept as text, read by one parser
// (client/questions/job_question.h).
class SlurmFlags {
 public:
  // REQUIRES: `app` is parsed before this goes.
  void AddTo(CLI::App* app) {
    Add(app, "-p,--partition", "partition", "Partition to stay in");
    Add(app, "-A,--account", "account", "Account to charge");
    Add(app, "-q,--qos", "qos", "Quality of service");
    Add(app, "-t,--time", "time", "Time limit: minutes, HH:MM:SS, D-HH:MM:SS");
    Add(app, "-N,--nodes", "nodes", "Number of nodes");
    Add(app, "-C,--constraint", "constraint", "Features that the nodes must have");
    Add(app, "--gres", "gres", "GPUs per node, like gpu:l40s:6");
    Add(app, "-G,--gpus", "gpus", "GPUs in all, like l40s:12");
    Add(app, "--gpus-per-node", "gpus-per-node", "GPUs per node, like l40s:6");
    Add(app, "-w,--nodelist", "nodelist", "Only these nodes (delays the start; better --exclude)");
    Add(app, "-x,--exclude", "exclude", "Never these nodes");
  }

  // Those that were given.
  SbatchOptions Given() const {
    SbatchOptions options;
    for (const Flag& flag : flags_) {
      if (flag.option->count() > 0) options.Set(flag.name, flag.value);
    }
    return options;
  }

 private:
  struct Flag {
    std::string name;
    std::string value;
    CLI::Option* option = nullptr;
  };

  void Add(CLI::App* app, const char* spelling, const char* name, const char* help) {
    Flag& flag = flags_.emplace_back();  // a deque: the addresses stay
    flag.name = name;
    flag.option = app->add_option(spelling, flag.value, help)->group("What you fix (as in sbatch)");
    flag.option->option_text("X");
  }

  std::deque<Flag> flags_;
};

// Options that say something of the training, by the table of its keys: kept as text, read like the
// file (client/questions/training_settings.h).
class SettingFlags {
 public:
  // REQUIRES: `app` is parsed before this goes.
  void AddTo(CLI::App* app) {
    for (const TrainKey& key : TrainKeys()) {
      if (!key.option.empty()) Add(app, key);
    }
    Flag& precision = NewFlag(kPrecision);
    precision.option = app->add_option("--precision", precision.text, "bf16, fp16 or fp32")
                           ->option_text("WORD")
                           ->check(CLI::IsMember({"bf16", "fp16", "fp32"}))
                           ->group(kGroup);
  }

  // For a command where the micro-batch is part of the training.
  void AddMicroBatch(CLI::App* app) {
    Flag& flag = NewFlag("training.per_device_train_batch_size");
    flag.option = app->add_option("--micro-batch,--batch", flag.text, "Fixes the micro-batch")
                      ->option_text("N")
                      ->group(kGroup);
  }

  // Those that were given.
  std::vector<TrainingSetting> Given() const {
    std::vector<TrainingSetting> given;
    for (const Flag& flag : flags_) {
      if (flag.option->count() == 0) continue;
      const std::string spelling = flag.option->get_name();
      if (flag.key != kPrecision) {
        given.push_back({flag.key, spelling, flag.text});
        continue;
      }
      for (const std::string word : {"bf16", "fp16"}) {
        const char* value = flag.text == word ? "true" : "false";
        given.push_back({"training." + word, spelling + " " + flag.text, value});
      }
    }
    return given;
  }

 private:
  static constexpr const char* kGroup = "What the training is, over the file (gpuadvise reference)";
  static constexpr const char* kPrecision = "precision";

  struct Flag {
    std::string key;
    std::string text;
    CLI::Option* option = nullptr;
  };

  Flag& NewFlag(std::string key) {
    Flag& flag = flags_.emplace_back();  // a deque: the addresses stay
    flag.key = std::move(key);
    return flag;
  }

  void Add(CLI::App* app, const TrainKey& key) {
    Flag& flag = NewFlag(std::string(key.path));
    const std::string help =
        key.kind == ValueKind::kOther ? std::string(key.form) : ValueInWords(key);
    const std::string spellings(key.option);
    const bool is_switch = key.kind == ValueKind::kBool || key.kind == ValueKind::kSwitch;
    if (is_switch) {  // a value only as --bf16=false: a word that follows is the file
      flag.option = app->add_flag(spellings, flag.text, "[=" + help + "]")->group(kGroup);
    } else {
      flag.option = app->add_option(spellings, flag.text, help)->option_text("X")->group(kGroup);
    }
  }

  std::deque<Flag> flags_;
};

bool GivesOneOf(const std::string& word, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return word.starts_with(name + "="); });
}

void AddQuestion(CLI::App* app, AdviceQuestion* question, SlurmFlags* flags) {
  app->add_option("FILE", question->file, "The training file (train.yaml); - is standard input")
      ->required();
  app->add_option("--section", question->section, "Section of FILE to take")->option_text("NAME");
  app->add_option("--objective", question->objective,
                  "finish (default), start, cost or deadline: what to rank by")
      ->option_text("WORD")
      ->check(CLI::Validator(CheckObjective, "", ""));
  app->add_option("--deadline", question->deadline,
                  "When it must be done: fri, 18:00, 2026-11-27T18:00, now+2days")
      ->option_text("TIME");
  flags->AddTo(app);
}

void AddFromScript(CLI::App* app, FromScript* from, const char* help) {
  app->add_option("--from", from->script, help)->option_text("JOB.SH");
  app->add_option("--model", from->hints.model, "With --from: the model (see `gpuadvise models`)")
      ->option_text("NAME");
  app->add_option("--max-steps", from->hints.max_steps, "With --from: how many optimizer steps")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e12));
  app->add_option("--num-samples", from->hints.num_samples,
                  "With --from: how many samples the data set has")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e12));
  app->add_option("--effective-batch", from->hints.effective_batch_size,
                  "With --from: samples of one optimizer step on all GPUs")
      ->option_text("N")
      ->check(NumberFrom(1.0, 1e6));
}

void AddGpusFile(CLI::App* app, OwnCatalogues* own) {
  app->add_option("--gpus-file", own->gpus_file, "Your own cards, in the form of gpus.yaml")
      ->option_text("FILE");
}

void AddModelsFile(CLI::App* app, OwnCatalogues* own) {
  app->add_option("--models-file", own->models_file, "Your own presets, in the form of models.yaml")
      ->option_text("FILE");
}

void AddSource(CLI::App* app, TrainingSource* source) {
  app->add_option(
         "FILE|MODEL", source->file,
         "A training file (- is standard input), or a model: a name of `gpuadvise models`, "
         "a Hugging Face id, or the folder of its config.json")
      ->required();
  app->add_option("--section", source->section, "Section of FILE to take")->option_text("NAME");
  AddGpusFile(app, &source->own);
  AddModelsFile(app, &source->own);
}

void AddMaxAge(CLI::App* app, std::optional<double>* max_age) {
  app->add_option("--max-age", *max_age, "Exit 5 when the data is older than so many seconds")
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

void AddFilter(CLI::App* jobs, JobsCommand& command) {
  jobs->add_option("-t,--state", command.filter.state,
                   "Only pending, running, ended, ok or failed ones")
      ->option_text("STATE")
      ->check(CLI::IsMember({"pending", "running", "ended", "ok", "failed"}));
  jobs->add_option("--gpu", command.filter.gpu, "Only on this GPU")->option_text("NAME");
  jobs->add_option("--name", command.filter.name, "Only with this in their name")
      ->option_text("TEXT");
  jobs->add_option("--since", command.since, "Submitted since: 7d, yesterday, fri, 2026-11-27")
      ->option_text("TIME");
  jobs->add_option("--limit", command.filter.limit, "The N newest of them")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
}

constexpr const char* kWhenFooter =
    "\ngpuadvise when [OPTIONS] [SBATCH OPTIONS] [job.sh]\n"
    "Asks when a job with these sbatch options would start. Understood: -p -A -q -t -N -n -c -C\n"
    "-G --gres --gpus-per-node --gpus-per-task --mem --mem-per-cpu --mem-per-gpu -w/--nodelist\n"
    "-x/--exclude --exclusive -b/--begin --reservation -a/--array (the first and the last task).\n"
    "Other options are skipped (-v lists them).\n"
    "With a job script its #SBATCH lines are read first; options here win.\n"
    "With --limits: no limit below --time-min is advised; -J tells which of your runs are alike.\n"
    "\nExample: gpuadvise when -p gpu --gres gpu:l40s:6 -t 600 --limits\n";

constexpr const char* kSubmitFooter =
    "\nWhat follows -- goes to sbatch untouched and wins over the advice:\n"
    "  gpuadvise submit train.yaml -- --mail-type=END --time=12:00:00\n";

constexpr const char* kFitFooter =
    "\nExamples:\n"
    "  gpuadvise fit train.yaml --gpu l40s\n"
    "  gpuadvise fit llama-3.1-8b --method lora --seq 2048 --gpu l40s\n"
    "  gpuadvise fit --trace -- python train.py --batch-size {micro_batch}\n";

constexpr const char* kScaleFooter =
    "\nExamples:\n"
    "  gpuadvise scale train.yaml --gpu h100 --max-gpus 16\n"
    "  gpuadvise scale llama-3.1-8b --method lora --seq 2048 --effective 64 --max-steps 1000\n";

constexpr const char* kRunFooter =
    "\nThe exit status is the command's own. Example:\n"
    "  gpuadvise run --micro-batch 8 --accumulation 4 --retry-on-oom -- \\\n"
    "    torchrun train.py --batch-size {micro_batch} --accumulation {accumulation}\n";

constexpr const char* kProbeFooter =
    "\nRuns the command of FILE for some 20 steps at two micro-batches, on one GPU: in a short job "
    "(srun),\n"
    "or with --local here. Then writes the memory: line and a measured: line into FILE, and shows "
    "the\n"
    "ranking before and after. The old file is kept as FILE.bak. Where the command has "
    "{max_steps}, it\n"
    "gets the number of steps; otherwise it is ended (SIGTERM) after them.\n";

constexpr const char* kJobsFooter =
    "\nOutcomes that lie in the output folders of your own jobs are reported first.\n"
    "--import exits 1 when a file was not taken.\n";

constexpr const char* kWatchFooter =
    "\nExits 0 when the job ended well, 1 when it did not; with --once 0 while it waits or runs.\n";

constexpr const char* kExitCodes =
    "\nExit codes: 0 ok, 1 error, 2 wrong flag or file, 3 nothing can run it, 4 gpuadvised does "
    "not\n"
    "answer, 5 answered from data older than --max-age.\n";

// `when` and `select` take sbatch's options as they are; only ours go to CLI11.
const OwnWords kWhenWords = {{"--json", "-v", "--verbose", "--limits", "-h", "--help"},
                             {"--socket"}};
const OwnWords kSelectWords = {
    {"--json", "-h", "--help"},
    {"--socket", "--timeout", "--max-age", "--gpu-memory", "--avoid", "--advice", "--submitted"}};

// Everything the parser writes to, and the subcommands in the order of --help.
struct Parser {
  Parser()
      : app("Where and how to run a training job on this Slurm cluster, and when it is done.") {
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
    CLI::App* advise = Add(Verb::kAdvise, "advise", "Rank the ways to run a training file");
    AddQuestion(advise, &line.advise.question, &advise_flags);
    advise->get_option("FILE")->required(false);
    AddFromScript(advise, &line.advise.from, "Take this job script instead of FILE");
    AddMaxAge(advise, &line.advise.max_age_seconds);
    advise->add_flag("--all", line.advise.all, "Every row and every impossible one, with reasons");
    AddCommon(advise, &line.socket, &line.advise.json);
  }

  void AddSubmit() {
    CLI::App* submit = Add(Verb::kSubmit, "submit", "Submit it the best way (or the one you pick)");
    AddQuestion(submit, &line.submit.question, &submit_flags);
    submit->get_option("FILE")->required(false);
    AddFromScript(submit, &line.submit.from, "Take this job script instead of FILE");
    AddMaxAge(submit, &line.submit.max_age_seconds);
    submit->add_option("--pick", line.submit.pick, "Take row N of `advise`")
        ->option_text("N")
        ->check(CLI::PositiveNumber);
    submit->add_flag("-y,--yes", line.submit.yes, "Submit without asking");
    submit->add_flag("--dry-run", line.submit.dry_run, "Print the script and submit nothing");
    submit->add_flag("--force", line.submit.force, "Submit also where a check failed");
    AddCommon(submit, &line.socket, &line.submit.json);
    submit->footer(kSubmitFooter);
  }

  void AddWhen() {
    CLI::App* when =
        Add(Verb::kWhen, "when", "When any job would start: sbatch options or a job script");
    when->add_flag("--limits", line.when.limits,
                   "What a shorter time limit is worth: the start and the risk at each");
    when->add_flag("-v,--verbose", line.when.verbose, "List the options that were skipped");
    AddCommon(when, &line.socket, &line.when.json);
    when->footer(kWhenFooter);
  }

  void AddSelect() {
    SelectCommand& command = line.select;
    CLI::App* select =
        Add(Verb::kSelect, "select", "Partition and GPU type for a plain sbatch (its plugin)");
    select->add_option("--gpu-memory", command.gpu_memory, "Least memory of a GPU, like 40G")
        ->option_text("SIZE");
    select->add_option("--avoid", command.avoid, "Partitions never to choose, like debug,test")
        ->option_text("NAMES")
        ->delimiter(',');
    select->add_option("--timeout", command.timeout_seconds, "Give up after so long (default 1)")
        ->option_text("SECONDS")
        ->check(NumberFrom(0.01, 3600.0));
    select->add_option("--max-age", command.max_age_seconds, "Exit 5 when the data is older (300)")
        ->option_text("SECONDS")
        ->check(NumberFrom(0, kMostSeconds));
    select->add_option("--advice", command.advice, "With --submitted: the answer's advice_id")
        ->option_text("ID");
    select->add_option("--submitted", command.submitted, "Only report that it became this job")
        ->option_text("JOBID")
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddCommon(select, &line.socket, &command.json);
    select->footer("\nPrints what to add to these sbatch options so that the job starts first.\n");
  }

  void AddTrace(CLI::App* fit) {
    const char* group = "With --trace";
    trace = fit->add_flag_function(
        "--trace", [this](int64_t) { line.fit.trace = trace_wishes; },
        "Count by running the script without values: -- COMMAND …");
    fit->add_option("--python", trace_wishes.python, "Runs the script (default: the command's own)")
        ->option_text("PATH")
        ->needs(trace)
        ->group(group);
    fit->add_option("--trace-minutes", trace_wishes.minutes, "At most so long a run (default 5)")
        ->option_text("N")
        ->needs(trace)
        ->check(NumberFrom(0.02, 1'440.0))
        ->group(group);
    fit->add_option("--trace-memory", trace_wishes.memory_gib,
                    "GiB of this machine that the script may fill (default 16)")
        ->option_text("GIB")
        ->needs(trace)
        ->check(CLI::Range(1, 4'096))
        ->group(group);
  }

  void AddFit() {
    CLI::App* fit =
        Add(Verb::kFit, "fit", "What fits on which GPU: batch, memory by part, what saves some");
    AddSource(fit, &line.fit.source);
    fit->get_option("FILE|MODEL")->required(false);
    AddTrace(fit);
    fit->add_option("--gpu", line.fit.source.gpus, "Only this GPU, also one that the cluster lacks")
        ->option_text("NAME");
    fit->add_option("-G,--gpus", line.fit.gpus_in_all, "GPUs that one job has (default 1)")
        ->option_text("N")
        ->check(CLI::Range(1, 100'000));
    fit->add_option("--micro-batch,--batch", line.fit.micro_batch, "Show this micro-batch")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    fit->add_flag("--tips", line.fit.tips,
                  "All the tips, for the first GPU: which apply, and why others do not");
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
                     "This GPU, or several; else all of the cluster, the best in full")
        ->option_text("NAME");
    scale->add_option("--max-gpus", command.most_gpus, "Up to N GPUs (default 8, or a whole node)")
        ->option_text("N")
        ->check(CLI::Range(1, 65'536));
    scale
        ->add_option("--gpus-per-node", command.gpus_per_node,
                     "GPUs of a node (the cluster's, else 8)")
        ->option_text("N")
        ->check(CLI::Range(1, 1'024));
    scale
        ->add_option("--network", command.network_gbit_per_s,
                     "Gbit/s between nodes (the site's settings)")
        ->option_text("RATE")
        ->check(NumberFrom(0.001, 1e6));
    scale->add_option("--price", command.price, "Price of a GPU-hour")
        ->option_text("PRICE")
        ->check(CLI::Validator(CheckPrice, "", ""));
    scale->add_option("--objective", command.objective, "finish (default), cost or deadline")
        ->option_text("NAME")
        ->check(CLI::Validator(CheckObjective, "", ""));
    scale->add_option("--deadline", command.deadline, "Done by then, nine times out of ten")
        ->option_text("TIME");
    scale_flags.AddTo(scale);
    scale_flags.AddMicroBatch(scale);
    AddCommon(scale, &line.socket, &command.json);
    scale->footer(kScaleFooter);
  }

  void AddKnown() {
    CLI::App* models = Add(Verb::kModels, "models", "The models that are known by name");
    models->add_option("WORD", line.list.word, "Only those with this in a name");
    AddModelsFile(models, &line.list.own);
    models->add_flag("--json", line.list.json, "Print JSON");
    CLI::App* cards = Add(Verb::kCards, "cards", "The GPUs that are known, with their names");
    cards->add_option("WORD", line.list.word, "Only those with this in a name");
    AddGpusFile(cards, &line.list.own);
    AddCommon(cards, &line.socket, &line.list.json);
    CLI::App* reference =
        Add(Verb::kReference, "reference", "The keys of a training file and what they mean");
    reference->add_option("WORD", line.list.word, "Only those with this in their name");
    reference->add_flag("--markdown", line.list.markdown, "All of them as a page");
  }

  void AddRun() {
    RunCommand& command = line.run;
    CLI::App* run = Add(Verb::kRun, "run", "Run a training and watch it: -- COMMAND …");
    run->add_option("--pattern", command.pattern, "How its log tells steps and loss (RE2)")
        ->option_text("REGEX");
    run->add_option("--micro-batch", command.micro_batch, "Its micro-batch, as {micro_batch}")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    run->add_option("--accumulation", command.accumulation, "Its steps, as {accumulation}")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000));
    run->add_option("--fit", command.fit, "Both for the GPUs it got, from this training file")
        ->option_text("FILE");
    run->add_option("--section", command.section, "Section of FILE to take")->option_text("NAME");
    run->add_flag("--retry-on-oom", command.retry_on_oom,
                  "Out of memory: again with half the micro-batch, twice the accumulation");
    run->add_option("--output", command.output, "Folder for gpuadvise-outcome.json")
        ->option_text("DIR");
    run->add_option("--hang-minutes", command.hang_minutes, "Silence that is a hang (default 10)")
        ->option_text("N")
        ->check(NumberFrom(0.01, 1e6));
    run->add_flag("-q,--quiet", command.quiet,
                  "No progress line on the terminal, no summary at the end");
    AddSocket(run, &line.socket);
    run->footer(kRunFooter);
  }

  void AddProbe() {
    ProbeCommand& command = line.probe;
    CLI::App* probe =
        Add(Verb::kProbe, "probe", "Measure a few steps on one GPU and write them into the file");
    probe->add_option("FILE", command.file, "The training file (train.yaml)")->required();
    probe->add_option("--section", command.section, "Section of FILE to take")->option_text("NAME");
    probe->add_option("--gpu", command.gpus, "Only on this GPU")->option_text("NAME");
    probe
        ->add_option("--micro-batch", command.micro_batches,
                     "Try this one; give it twice for two (chosen otherwise)")
        ->option_text("N")
        ->check(CLI::Range(1, 1'000'000))
        ->expected(1, 2);
    probe->add_option("--steps", command.steps, "Steps of each run (default 20)")
        ->option_text("N")
        ->check(CLI::Range(2, 10'000));
    probe->add_option("--minutes", command.minutes, "At most so long, in all (default 10)")
        ->option_text("N")
        ->check(NumberFrom(0.05, 1'440.0));
    probe->add_option("--pattern", command.pattern, "How its log tells steps and loss (RE2)")
        ->option_text("REGEX");
    probe->add_flag("--local", command.local, "On a GPU of this machine, without Slurm");
    probe->add_flag("--dry-run", command.dry_run, "Measure and show, but leave FILE as it is");
    probe->add_option("--outcome", command.outcome, "Only measure here, for a file in DIR")
        ->option_text("DIR");
    probe_flags.AddTo(probe);
    AddSocket(probe, &line.socket);
    probe->footer(kProbeFooter);
  }

  void AddSmall() {
    CLI::App* gpus =
        Add(Verb::kGpus, "gpus", "GPUs of the cluster: total, usable, free, and the wait");
    AddCommon(gpus, &line.socket, &line.json);
    CLI::App* queue =
        Add(Verb::kQueue, "queue", "The jobs of the cluster and when each will start");
    queue->add_option("-u,--user", line.queue.user, "Only this user's")->option_text("NAME");
    queue->add_option("-p,--partition", line.queue.partition, "Only of this partition")
        ->option_text("NAME");
    queue->add_option("-t,--state", line.queue.state, "Only pending or running ones")
        ->option_text("STATE")
        ->check(CLI::IsMember({"pending", "running"}, CLI::ignore_case));
    AddCommon(queue, &line.socket, &line.queue.json);
    CLI::App* why =
        Add(Verb::kWhy, "why", "Why a job waits, when it starts, what would start it earlier");
    why->add_option("JOBID", line.job_id, "The job's number")
        ->required()
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddCommon(why, &line.socket, &line.json);
    CLI::App* accuracy =
        Add(Verb::kAccuracy, "accuracy", "How right forecasts of starts have been here");
    AddCommon(accuracy, &line.socket, &line.json);
    AddJobs();
    AddWatch();
    AddDoctor();
    CLI::App* init = Add(Verb::kInit, "init", "Write a train.yaml to start from");
    init->add_option("FILE", line.init.file, "File to write (default train.yaml)");
    AddFromScript(init, &line.init.from, "Turn this job script into a train.yaml");
    AddSocket(init, &line.socket);
  }

  void AddJobs() {
    JobsCommand& command = line.jobs;
    jobs = Add(Verb::kJobs, "jobs", "Your experiments: forecast beside real, loss, cost");
    jobs->add_option("JOBID", command.job_id, "Everything about this one")
        ->check(CLI::Validator(CheckJobId, "", ""));
    AddFilter(jobs, command);
    jobs->add_option("--import", command.import_paths,
                     "Report outcome files, or folders with one; without PATH those of your jobs")
        ->option_text("[PATH ...]")
        ->expected(0, 100'000);
    jobs->add_flag("--csv", command.csv, "Every field as CSV");
    AddCommon(jobs, &line.socket, &command.json);
    jobs->footer(kJobsFooter);
  }

  void AddWatch() {
    WatchCommand& command = line.watch;
    CLI::App* watch =
        Add(Verb::kWatch, "watch", "Follow a job: its start, its progress, how it ended");
    watch->add_option("JOBID", command.job_id, "The job's number")
        ->required()
        ->check(CLI::Validator(CheckJobId, "", ""));
    watch
        ->add_option("--interval", command.interval_seconds,
                     "Look every so many seconds (default 30, at least 5)")
        ->option_text("SECONDS")
        ->check(CLI::Range(5, 86'400));
    watch->add_flag("--once", command.once, "Look once");
    watch->add_flag("--json", command.json, "One JSON object a look");
    AddSocket(watch, &line.socket);
    watch->footer(kWatchFooter);
  }

  void AddDoctor() {
    CLI::App* doctor =
        Add(Verb::kDoctor, "doctor", "Check what an answer, or a training file, needs");
    AddQuestion(doctor, &line.doctor.question, &doctor_flags);
    doctor->get_option("FILE")->required(false);
    doctor->add_flag("--site", line.doctor.site,
                     "What forecasts make of this site's slurm.conf, key by key");
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
    if (found == commands.end()) return {};
    std::vector<std::string> names;
    for (const CLI::Option* option : found->second->get_options()) {
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
    return BadInput("FILE and --from JOB.SH are both given: keep one");
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
    return BadInput("FILE and a command after -- are both given: keep one");
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
    const bool with_value = *command == "--socket" && command + 1 != arguments->end();
    if (*command != "--json" && !with_value && !command->starts_with("--socket=")) break;
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
                    "' is no option of sbatch; the script is gpuadvise's own");
  }
  submit->question.fixed.OverrideWith(parsed->options);
  submit->passed_on = std::move(passed_on);
  return {};
}

}  // namespace

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
      return tl::unexpected(UsageError(
          "there is no command '" + verb + "'" + DidYouMean(verb, parser.Commands()), ""));
    }
    return tl::unexpected(UsageError(error.what() + parser.NearOption(verb), verb));
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
