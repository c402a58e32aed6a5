#include "client/script/train_yaml_from_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "client/sbatch/job_words.h"
#include "client/sbatch/option_values.h"
#include "client/sbatch/sbatch_options.h"
#include "client/script/called_script.h"
#include "client/script/chosen_training.h"
#include "client/script/launch_command.h"
#include "client/script/launch_program.h"
#include "client/script/own_path.h"
#include "client/script/placeholders.h"
#include "client/script/script_doubts.h"
#include "client/script/script_setup.h"
#include "client/script/script_text.h"
#include "client/script/script_variables.h"
#include "client/script/training_flags.h"
#include "client/script/training_section.h"
#include "client/shell/shell_text.h"
#include "common/base/bytes.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/yaml/text_check.h"
#include "common/yaml/yaml_document.h"
#include "common/yaml/yaml_scalar.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostScriptBytes = 1 << 20;
constexpr size_t kMostShownOfOption = 60;  // bytes of it in a message
constexpr size_t kMostOptions = 12;        // named in the report
constexpr size_t kWrapAt = 92;             // columns of the command in the file

std::string Texts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + YamlText(text);
  return joined;
}

class Converter {
 public:
  // `open`: why the command is not the whole of what the script runs; "": it is.
  Converter(const ScriptSource& source, ScriptTraining training, std::string open)
      : source_(source),
        open_(std::move(open)),
        training_(std::move(training)),
        options_(training_.options),
        launch_(training_.launch),
        flags_(training_.flags),
        layout_(training_.layout),
        setup_(training_.setup) {}

  ConvertedScript Convert() {
    training_.config = AddConfig(launch_, Reader(), flags_);
    SayWhatIsNotRead();
    training_.layout = LayoutOf(options_, launch_, flags_);
    yaml_ = "# Made from " + source_.file + " by `gpuadvise init`; look it through.\n";
    const std::string name = options_.Get("job-name").value_or(JobName(source_.file));
    if (options_.Has("job-name") && SafeName(name) != name) {
      report_.changed.push_back(fmt::format("--job-name={} → {}", name, SafeName(name)));
    }
    yaml_ += "name: " + YamlText(SafeName(name)) + "\n\n";
    WriteModel();
    yaml_ += TrainingSectionOf(source_.hints, training_, Reader(), report_);
    WriteResources();
    WriteSlurm();
    WriteOutput();
    PutPlaceholders(training_, report_);
    WriteLaunch();
    if (!training_.kept) {
      for (std::string& sentence : setup_.left) report_.left.push_back(std::move(sentence));
      for (std::string& sentence : setup_.changed) report_.changed.push_back(std::move(sentence));
    }
    for (std::string& flag : flags_.unclear) {
      report_.unclear.push_back(flag + ": sounds like a figure of the advice; it stays as it is");
    }
    SayWhatIsUnknown();
    return {std::move(yaml_), std::move(report_)};
  }

 private:
  // "sft" from "jobs/sft.sh".
  static std::string JobName(const std::string& file) {
    const std::string name = file.substr(file.rfind('/') + 1);
    const std::string stem = name.substr(0, name.rfind('.'));
    return stem.empty() ? "train" : stem;
  }

  void SayWhatIsNotRead() {
    std::vector<std::string> missing, ignored;
    for (const std::string& path : training_.config.unread) {
      (ReadBeside(path) ? ignored : missing).push_back(path);
    }
    for (const auto& [paths, verb] :
         {std::pair{&missing, "cannot be read here"},
          std::pair{&ignored, ignored.size() == 1 ? "is not read" : "are not read"}}) {
      if (paths->empty()) continue;
      report_.unclear.push_back(fmt::format(
          "{} {}: what only {} (GPUs, batch, method, precision, sharding, lengths, …) is not known",
          Join(*paths, ", "), verb, paths->size() == 1 ? "it says" : "they say"));
    }
  }

  // Options that stay as they are and count for nothing, such as the name of a second model.
  void SayWhatIsUnknown() {
    if (flags_.others.empty()) return;
    std::string shown;
    const size_t count = std::min(flags_.others.size(), kMostOptions);
    for (size_t i = 0; i < count; ++i) {
      shown += (i == 0 ? "" : ", ") + flags_.others[i].substr(0, kMostShownOfOption);
    }
    if (count < flags_.others.size()) {
      shown += fmt::format(" and {} more", flags_.others.size() - count);
    }
    report_.unclear.push_back("not counted, as nothing here knows them: " + shown +
                              "; where one changes the model, the batch, the length, precision or "
                              "memory, write that into "
                              "the file");
  }

  // Reads files that the command names, relative to its folder.
  ReadNamedFile Reader() const {
    return [this](const std::string& path) { return ReadBeside(path); };
  }
  std::optional<std::string> ReadBeside(const std::string& path) const {
    return source_.read(BesideWorkdir(path));
  }

  std::string BesideWorkdir(const std::string& path) const {
    std::string beside = path;
    for (const std::string& folder : {setup_.workdir, options_.Get("chdir").value_or("")}) {
      if (!folder.empty() && beside.find_first_of("$~") != 0) beside = PathBeside(folder, beside);
    }
    return beside;
  }

  void Key(const std::string& name, const std::string& value) {
    yaml_ += "  " + name + ": " + value + "\n";
  }

  // ---- model

  void WriteModel() {
    yaml_ += "model:\n";
    std::string said =
        source_.hints.model.empty() ? flags_.Text("model.preset") : source_.hints.model;
    // A program for one model only need not name it.
    if (said.empty() && ProgramOf(launch_).find("gr00t") != std::string::npos) {
      said = "gr00t-n1-2b";
      report_.unclear.push_back("the model: taken as GR00T N1 2B, by the program's name");
    }
    const std::string preset = said.empty() ? "" : source_.preset_of(said);
    if (!preset.empty()) {
      Key("preset", YamlText(preset));
      report_.taken.push_back(fmt::format("model {} (preset {})", said, preset));
    } else if (!said.empty() && ReadBeside(said + "/config.json")) {
      Key("hf_config", YamlText(BesideWorkdir(said + "/config.json")));
      report_.taken.push_back("model " + said + " (its config.json)");
    } else {
      yaml_ +=
          "  # A script does not say how much memory the model takes. Write one of:\n"
          "  #   preset: NAME               (`gpuadvise models` lists them)\n"
          "  #   hf_config: config.json     (of a model folder)\n"
          "  #   memory: {base: 5 GB, per_sample: 1.2 GB, overhead: 2 GB}\n";
      const FlagUse* use = flags_.Find("model.preset");
      const std::string named = said.empty() && use != nullptr ? use->raw : said;
      report_.missing.push_back(
          "the model's memory" + (named.empty() ? std::string() : " (" + named + " is not known)") +
          ": fill in model: with a preset (`gpuadvise models`) or a memory line, or measure it "
          "with `gpuadvise probe`");
    }
    if (LowerCase(ProgramOf(launch_)).find("controlnet") != std::string::npos) {
      report_.unclear.push_back(
          "ControlNet is not counted: the figures are those of training the whole network");
    }
    if (const FlagUse* tower = flags_.Find("vision_tower"); tower != nullptr) {
      report_.unclear.push_back(fmt::format(
          "{} {}: a model with a vision tower; its images are counted only with a preset that has "
          "one, such as llava-1.5-7b, and images_per_sample",
          tower->spelling, tower->raw));
    }
    yaml_ += "\n";
  }

  // ---- resources, slurm, output, command

  void WriteResources() {
    yaml_ += "resources:\n";
    if (!layout_.types.empty()) {
      yaml_ += "  # gpus: [" + Texts(layout_.types) + "]  # the script's; any GPU may be advised\n";
      report_.changed.push_back("GPU type " + Join(layout_.types, ", ") +
                                " → any; to stay with it, write resources: gpus");
    }
    const bool standalone = flags_.Find("standalone") != nullptr;
    Key("max_nodes", std::to_string(standalone ? 1 : layout_.nodes));
    const bool alone = StartsOneProcess(launch_);
    const bool python = launch_.launcher == Launcher::kPython;
    const std::string program = python ? "python" : ProgramOf(launch_);
    if (layout_.one_process && alone) {
      Key("max_gpus", "1");
      report_.unclear.push_back(
          program + " starts one process, so one GPU is planned; for more " +
          (python ? "start it with torchrun --nproc_per_node={gpus_per_node} and take out max_gpus"
                  : "pass {gpus_per_node} to it, if it takes a number of GPUs, and take out "
                    "max_gpus"));
    }
    const bool counted = flags_.Find("gpus_per_node") != nullptr ||
                         flags_.Find("gpus") != nullptr || flags_.Find("gpu_list") != nullptr;
    if (alone && !layout_.one_process && !layout_.task_per_gpu && !counted && layout_.gpus() > 1) {
      report_.unclear.push_back(fmt::format(
          "{1} starts one process, and the script asks for {0} GPUs: {0} are counted; if the "
          "program uses one, divide effective_batch_size by {0} and write resources.max_gpus: 1; "
          "a number of GPUs in the command must become {{gpus_per_node}}",
          layout_.gpus(), program));
    }
    if (layout_.one_process && launch_.launcher == Launcher::kTune) {
      Key("max_gpus", "1");
      report_.unclear.push_back(
          "the recipe runs on one device, so one GPU is planned; for more write its distributed "
          "form, without max_gpus");
    }
    if (layout_.nodes_are_assumed) {
      report_.unclear.push_back(
          fmt::format("#SBATCH asks for {} and no number of nodes: a GPU each is counted, on {}",
                      Plural(WholeNumber(options_.Get("ntasks")).value_or(1), "task"),
                      Plural(layout_.nodes, "node")));
    }
    const auto asked_nodes = WholeNumber(options_.Get("nodes"));
    if (asked_nodes && *asked_nodes != layout_.nodes && flags_.Find("nodes") != nullptr) {
      report_.unclear.push_back(fmt::format("{} {}, #SBATCH asks for {}: taken is {}",
                                            flags_.Find("nodes")->spelling, layout_.nodes,
                                            Plural(*asked_nodes, "node"), layout_.nodes));
    }
    const bool differs = layout_.gpus_per_node > 0 && layout_.asked_per_node > 0 &&
                         layout_.gpus_per_node != layout_.asked_per_node;
    if (differs) {
      report_.unclear.push_back(fmt::format(
          "the command runs on {} of a node, #SBATCH asks for {}: taken is {}",
          Plural(layout_.gpus_per_node, "GPU"), layout_.asked_per_node, layout_.gpus_per_node));
    }
    if (layout_.asked_per_node > 0) WritePerGpu();
    yaml_ += "\n";
  }

  int64_t TasksOnNode() const {
    const auto all = WholeNumber(options_.Get("ntasks"));
    return WholeNumber(options_.Get("ntasks-per-node"))
        .value_or(all ? std::max<int64_t>(1, *all / std::max<int64_t>(layout_.nodes, 1)) : 1);
  }

  void WritePerGpu() {
    int64_t cpus_per_gpu = 0;
    int64_t cpus_of_node = 0;  // 0: not said
    if (const auto cpus = WholeNumber(options_.Get("cpus-per-gpu"))) {
      cpus_per_gpu = *cpus;
    } else if (const auto per_task = WholeNumber(options_.Get("cpus-per-task"))) {
      cpus_of_node = *per_task * TasksOnNode();
      cpus_per_gpu = (cpus_of_node + layout_.asked_per_node - 1) / layout_.asked_per_node;
    }
    if (cpus_per_gpu > 0) Key("cpus_per_gpu", std::to_string(cpus_per_gpu));
    if (const auto per_gpu = options_.Get("mem-per-gpu")) {
      WriteMemory(*per_gpu, 1);
    } else if (const auto mem = options_.Get("mem")) {
      WriteMemory(*mem, layout_.asked_per_node);
    } else if (const auto per_cpu = options_.Get("mem-per-cpu")) {
      const Result<Bytes> bytes = ParseSlurmMemory(*per_cpu);
      const int64_t cpus = cpus_of_node > 0
                               ? cpus_of_node
                               : std::max<int64_t>(cpus_per_gpu, 1) * layout_.asked_per_node;
      if (bytes) WriteMemory({bytes->count * cpus / layout_.asked_per_node});
    }
  }

  void WriteMemory(const std::string& text, int64_t shared_by) {
    const Result<Bytes> bytes = ParseSlurmMemory(text);
    if (bytes) return WriteMemory({bytes->count / shared_by});
    report_.unclear.push_back(
        fmt::format("--mem {}: no size of Slurm's; write resources.mem_per_gpu", text));
  }
  void WriteMemory(Bytes per_gpu) {
    if (per_gpu.count > 0) Key("mem_per_gpu", FormatSlurmMemory(per_gpu));
  }

  void WriteSlurm() {
    SbatchOptions extra = options_;
    std::string keys;
    std::swap(keys, yaml_);
    std::vector<std::string> kept;
    for (const char* name :
         {"account", "qos", "partition", "time", "constraint", "exclude", "nodelist", "array"}) {
      if (const auto value = options_.Get(name)) {
        Key(name, YamlText(*value));
        kept.push_back(fmt::format("--{}={}", name, *value));
      }
      extra.Erase(name);
    }
    extra.Erase("job-name");
    if (extra.Get("mem") == "0") {
      report_.left.push_back(
          "--mem=0, all memory of a node: the job gets Slurm's default, or write "
          "resources.mem_per_gpu");
      extra.Erase("mem");
    }
    std::vector<std::string> replaced, extra_tasks;
    for (const char* name :
         {"gres", "gpus", "gpus-per-node", "gpus-per-task", "nodes", "ntasks", "ntasks-per-node",
          "cpus-per-task", "cpus-per-gpu", "mem", "mem-per-gpu", "mem-per-cpu"}) {
      if (const auto value = extra.Get(name))
        replaced.push_back(fmt::format("--{}={}", name, *value));
      extra.Erase(name);
    }
    if (!options_.Has("output")) {
      report_.changed.push_back("the log slurm-%j.out → NAME-%j.out");
    }
    if (!options_.Has("time")) {
      report_.changed.push_back("no time limit → the advice's own, from the run time");
    }
    if (!replaced.empty()) {
      report_.changed.push_back("#SBATCH " + Join(replaced, " ") + " → the advice's own");
    }
    const bool binds = options_.Get("gpus-per-task") == "1" && !options_.Has("gpu-bind");
    if (training_.kept) {
      for (std::string& option : OptionsOfTasks(binds)) extra_tasks.push_back(std::move(option));
    }
    std::vector<std::string> arguments = extra.ToArguments();
    if (const std::string others = OtherGres(); !others.empty())
      arguments.push_back("--gres=" + others);
    for (std::string& argument : arguments) {
      const size_t value = argument.find('=') + 1;  // 0: none
      if (value == 0 || SplitDirective(argument) == std::vector<std::string>{argument}) continue;
      argument = argument.substr(0, value) + DirectiveQuoted(argument.substr(value));
    }
    arguments.insert(arguments.end(), extra_tasks.begin(), extra_tasks.end());
    for (const std::string& option : training_.plugin_options) arguments.push_back(option);
    kept.insert(kept.end(), arguments.begin(), arguments.end());
    if (!arguments.empty()) Key("extra", "[" + Texts(arguments) + "]");
    std::swap(keys, yaml_);
    if (!keys.empty()) yaml_ += "slurm:\n" + keys + "\n";
    if (!kept.empty()) report_.kept.push_back("#SBATCH " + Join(kept, " "));
  }

  // "nvme:100" of --gres=gpu:v100:4,nvme:100.
  std::string OtherGres() const {
    const std::string gres = options_.Get("gres").value_or("");
    std::string others;
    for (const std::string_view item : SplitAt(gres, ',')) {
      const bool gpus = item == "gpu" || item.starts_with("gpu:") || item.starts_with("gres:gpu");
      if (!gpus && !item.empty()) others += (others.empty() ? "" : ",") + std::string(item);
    }
    return others;
  }

  // What the text's srun or mpirun reads of the job: as many tasks on a node as GPUs, each with one
  // where the script binds them.
  std::vector<std::string> OptionsOfTasks(bool binds) {
    const int64_t tasks = TasksOnNode();
    const int64_t gpus = std::max(layout_.asked_per_node, layout_.gpus_per_node);
    const bool alone = gpus == 1 && tasks == 1 && layout_.nodes > 1 && layout_.task_per_gpu;
    if (tasks == 1 && !alone) return {};
    if (tasks != gpus && gpus > 0) {
      report_.unclear.push_back(
          fmt::format("{} for {} on a node: the number of tasks stays, whatever GPUs a row has",
                      Plural(tasks, "task"), Plural(gpus, "GPU")));
      return {fmt::format("--ntasks-per-node={}", tasks)};
    }
    std::vector<std::string> options = {"--ntasks-per-node={gpus_per_node}"};
    if (binds) options.emplace_back("--gpu-bind=single:1");
    return options;
  }

  void WriteOutput() {
    const FlagUse* use = flags_.Find("output.dir");
    if (use == nullptr) return;
    const std::string folder = use->value.value_or(use->raw);
    const bool plain = folder.find_first_of("`(\"':") == std::string::npos && !folder.empty() &&
                       ScriptArgumentIn(folder).empty();
    if (!plain || (!use->value && UsesOwnVariable(folder))) return;
    // Beside a folder that setup changes to, or inside a container, it is another one.
    if (ChangesFolder() && !folder.starts_with('/') && !folder.starts_with('$')) {
      report_.unclear.push_back(use->spelling + " " + folder +
                                ": in a folder that the script goes to; write output.dir in full");
      return;
    }
    if (IsInContainer()) return;
    yaml_ += "output:\n";
    Key("dir", YamlText(folder));
    if (const auto keep = flags_.Number("output.keep")) Key("keep", std::to_string(*keep));
    if (const auto steps = flags_.Number("output.save_steps")) {
      Key("save_steps", std::to_string(*steps));
    }
    yaml_ += "\n";
  }

  bool ChangesFolder() const {
    if (training_.kept && training_.kept->ChangesFolder()) return true;
    return std::any_of(setup_.lines.begin(), setup_.lines.end(), [](const SetupLine& line) {
      return line.text.starts_with("cd ") || line.text.find("\ncd ") != std::string::npos;
    });
  }

  bool IsInContainer() const {
    const auto starts = [](const LaunchWord& word) { return IsContainerWord(word.raw); };
    return std::any_of(launch_.words.begin(),
                       launch_.words.begin() + static_cast<long>(launch_.launcher_at), starts) ||
           (launch_.srun && Join(launch_.srun->left, " ").find("--container") != std::string::npos);
  }

  // Whether `text` uses a variable that setup or the kept text, which run later, assign.
  bool UsesOwnVariable(const std::string& text) const {
    for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
      const std::string name(ReferenceAt(std::string_view(text).substr(at + 1)).name);
      for (const char* end : {"=", " ", "\n"}) {  // NAME=x, read NAME
        if (training_.kept && training_.kept->Mentions(name + end)) return true;
      }
      const bool own = std::any_of(
          setup_.lines.begin(), setup_.lines.end(),
          [&](const SetupLine& line) { return line.text.find(name + "=") != std::string::npos; });
      if (name.empty() || own) return true;
    }
    return false;
  }

  void WriteLaunch() {
    if (training_.kept) return WriteText();
    std::erase_if(launch_.words, [](const LaunchWord& word) { return word.raw.empty(); });
    std::string command;
    for (const auto& [name, raw] : launch_.env) command += name + "=" + raw + " ";
    command += TextOf(launch_);
    if (open_.empty()) DropUnused(setup_, command);  // what is still to be written may use them
    command.insert(0, WordsAlone(setup_));
    if (!setup_.env.empty()) yaml_ += "env:\n";
    for (const auto& [name, value] : setup_.env) Key(name, YamlText(value));
    if (!setup_.workdir.empty()) yaml_ += "workdir: " + YamlText(setup_.workdir) + "\n";
    if (!setup_.lines.empty()) yaml_ += "setup:\n";
    for (const SetupLine& line : setup_.lines) yaml_ += SetupItem(line.text);
    const size_t lines = setup_.lines.size() + setup_.env.size();
    if (lines > 0)
      report_.kept.push_back(Plural(static_cast<int64_t>(lines), "line") + " of setup" +
                             (setup_.lines.empty() ? "" : "; one that fails ends the job"));
    const std::string line = "command: " + Folded(command) + "\n";
    if (open_.empty()) {
      yaml_ += line;
      return;
    }
    yaml_ += "# One of its trainings; submit needs a command that is whole.\n";
    std::string_view rest = line;
    while (!rest.empty()) yaml_ += "# " + std::string(TakeLine(rest)) + "\n";
    report_.missing.push_back("command: " + open_);
  }

  // "eu" of "#!/bin/bash -leu"; another shell than bash is said.
  std::string OptionsOfShebang() {
    std::string_view line = source_.text.substr(0, source_.text.find('\n'));
    if (!line.starts_with("#!")) return {};
    if (line.find("bash") == std::string_view::npos && !line.ends_with("/sh")) {
      report_.unclear.push_back(std::string(line) + ": the job runs the text in bash");
    }
    const size_t dash = line.find(" -");
    if (dash == std::string_view::npos || line[dash + 2] == '-') return {};
    std::string options;
    for (const char c : line.substr(dash + 2)) {
      if (c == ' ' || c == '\r') break;
      if (c != 'l' && c != 'S') options += c;
    }
    return options;
  }

  // Variables of Slurm's that come with options that submit does not use.
  std::vector<std::pair<std::string, std::string>> TakeSlurmsCounts(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> counts = {
        {"SLURM_GPUS_PER_NODE", "{gpus_per_node}"}, {"SLURM_GPUS", "{gpus}"}};
    if (const auto each = training_.options.Get("gpus-per-task")) {
      counts.emplace_back("SLURM_GPUS_PER_TASK",
                          layout_.tasks_per_node > 1 ? *each : "{gpus_per_node}");
    }
    std::erase_if(counts, [&](const auto& count) { return !UsesName(text, count.first); });
    for (const auto& [name, figure] : counts) report_.changed.push_back(name + " → " + figure);
    return counts;
  }

  // The script itself as the command, in the shell that a job script has.
  void WriteText() {
    const std::string text = training_.kept->Body();
    const auto counts = TakeSlurmsCounts(text);
    if (!counts.empty()) yaml_ += "env:\n";
    for (const auto& [name, figure] : counts) yaml_ += fmt::format("  {}: \"{}\"\n", name, figure);
    const bool many = text.find('\n') != std::string::npos;
    const std::string options = OptionsOfShebang();
    const std::string body = (many ? "set +e +o pipefail  # as in a script\n" : "") +
                             (options.empty() ? "" : "set -" + options + "\n") + text;
    if (layout_.nodes > 1 && flags_.Find("standalone") == nullptr) yaml_ += "run_on: first_node\n";
    const std::string block = "command: |-\n  " + ReplaceAll(body, "\n", "\n  ") + "\n";
    const Result<YamlDocument> read = ParseYaml(block, "train.yaml");
    const bool same = read && read->root.is_object() && read->root.value("command", "") == body;
    yaml_ += same ? block : "command: " + json(body).dump() + "\n";
    report_.kept.push_back(
        fmt::format("{} of the script as command: they run as they are, with the changes above",
                    Plural(1 + std::count(text.begin(), text.end(), '\n'), "line")));
  }

  static bool IsPlainBlock(const std::string& text) {
    if (text.empty() || text[0] == ' ' || text[0] == '\t' || text.back() == ' ') return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) {
                         return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
                       }) &&
           text.find(" \n") == std::string::npos && text.find("\t\n") == std::string::npos &&
           text.back() != '\n';
  }

  static std::string SetupItem(const std::string& text) {
    if (text.find('\n') == std::string::npos) return "  - " + YamlText(text) + "\n";
    if (!IsPlainBlock(text)) return "  - " + json(text).dump() + "\n";
    return "  - |-\n    " + ReplaceAll(text, "\n", "\n    ") + "\n";
  }

  // Folded at single blanks if that reads back as the same text.
  static std::string Folded(const std::string& text) {
    const bool folds = text.find_first_of("\n\r\t") == std::string::npos &&
                       text.find("  ") == std::string::npos && text.size() > kWrapAt &&
                       IsPlainBlock(text);
    if (!folds) return YamlText(text);
    std::string lines = ">-\n ";
    size_t column = 1;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      if (column + end - at + 1 > kWrapAt && column > 1) {
        lines += "\n ";
        column = 1;
      }
      lines += " " + text.substr(at, end - at);
      column += end - at + 1;
      at = end + 1;
    }
    return lines;
  }

  const ScriptSource& source_;
  std::string open_;
  ScriptTraining training_;
  const SbatchOptions& options_;  // these refer to training_
  LaunchCommand& launch_;
  TrainingFlags& flags_;
  const ScriptLayout& layout_;
  ScriptSetup& setup_;
  std::string yaml_;
  ScriptReport report_;
};

Result<void> CheckText(const ScriptSource& source) {
  if (source.text.size() > kMostScriptBytes) {
    return BadInput(fmt::format("{}: {} bytes is too large for a job script (1 MiB at most)",
                                source.file, source.text.size()));
  }
  const size_t nul = source.text.find('\0');
  auto invalid = FirstInvalidUtf8(source.text);
  if (!invalid && nul != std::string_view::npos) invalid = nul;
  if (invalid) {
    return BadInput(fmt::format("{}:{}: not UTF-8 text; give the job's shell script", source.file,
                                LineAt(source.text, *invalid)));
  }
  return {};
}

// Outside a job, `srun --gres=gpu:8 …` requests the job: adds its options.
void TakeSrunsRequest(const SbatchOptions& srun, SbatchOptions& options) {
  constexpr std::array<const char*, 17> kOfTheJob = {
      "account",   "constraint",    "cpus-per-gpu",  "cpus-per-task", "exclude",
      "gpus",      "gpus-per-node", "gpus-per-task", "gres",          "job-name",
      "mem",       "mem-per-gpu",   "nodes",         "ntasks",        "ntasks-per-node",
      "partition", "time"};
  const bool asked = options.Has("nodes") || options.Has("gres") || options.Has("gpus") ||
                     options.Has("gpus-per-node") || options.Has("gpus-per-task") ||
                     options.Has("ntasks");
  if (asked) return;
  for (const char* name : kOfTheJob) {
    if (const auto value = srun.Get(name); value && !options.Has(name)) options.Set(name, *value);
  }
}

// Whether the script already contains a placeholder, which would be filled in by mistake.
bool HoldsPlaceholder(std::string_view text) {
  Placeholders words = StrategyWords(json::object(), {});
  words["resume"] = "";
  for (const auto& [name, value] : words) {
    const std::string word = "{" + name + "}";
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      if (at == 0 || text[at - 1] != '$') return true;
    }
  }
  return false;
}

// "--signal=TERM@120", unlike "B:TERM@120": Slurm sends it to what srun has started.
bool SignalsSteps(const SbatchOptions& options) {
  const std::string signal = options.Get("signal").value_or("");
  return !signal.empty() && signal.substr(0, signal.find(':')).find('B') == std::string::npos;
}

// Checks that the written file can be read back.
Result<void> CheckYaml(const std::string& yaml, const std::string& file, bool has_command) {
  const Result<YamlDocument> document = ParseYaml(yaml, "train.yaml");
  if (document && document->root.contains("command") == has_command) return {};
  return Fail(ErrorCode::kInternal,
              file + ": it cannot be written as a train.yaml" +
                  (document ? std::string() : " (" + document.error().message + ")"));
}

}  // namespace

Result<ConvertedScript> TrainYamlFromScript(const ScriptSource& source) {
  const std::string& file = source.file;
  if (Result<void> text = CheckText(source); !text) return tl::unexpected<Error>(text.error());
  const Result<ParsedArguments> options = ParseScriptOptions(source.text, file);
  if (!options) return tl::unexpected<Error>(options.error());
  for (const char* separator : {"hetjob", "packjob"}) {
    if (!IsOneOf(separator, options->unknown)) continue;
    const size_t at = source.text.find(fmt::format("#SBATCH {}", separator));
    const std::string place =
        at == std::string_view::npos ? file : fmt::format("{}:{}", file, LineAt(source.text, at));
    return BadInput(
        fmt::format("{}: #SBATCH {} makes it a heterogeneous job of several parts, which "
                    "a train.yaml cannot say: submit it with sbatch; `gpuadvise when` "
                    "says when it starts",
                    place, separator));
  }
  bool holds_placeholder = HoldsPlaceholder(source.text);
  const ReadNamedFile read = [&](const std::string& path) {
    std::optional<std::string> called = source.read(path);
    const bool usable = called && called->size() <= kMostScriptBytes && !FirstInvalidUtf8(*called);
    if (!usable) return std::optional<std::string>();
    holds_placeholder = holds_placeholder || HoldsPlaceholder(*called);
    return called;
  };
  const std::string text = WithOwnPath(std::string(source.text), source.path);
  const Result<ReadScript> script = FindTraining(text, options->options, file, read);
  if (!script) return tl::unexpected<Error>(script.error());
  const std::vector<ScriptStatement>& statements = script->statements;
  const FoundTraining& chosen = script->chosen;
  const LaunchCommand* const launch = &chosen.launch;
  if (holds_placeholder) {
    return BadInput(file +
                    ": it contains a word in braces like {name}, which submit would fill in: "
                    "start from `gpuadvise init` without --from, and write another word");
  }
  ScriptTraining training;
  training.options = options->options;
  if (launch->srun) TakeSrunsRequest(launch->srun->options, training.options);
  training.launch = *launch;
  training.flags = ReadTrainingFlags(*launch);
  const FlagUse* rank = training.flags.Find("node_rank");
  if (rank != nullptr && rank->raw.find("SLURM_ARRAY_TASK_ID") != std::string::npos) {
    return BadInput(
        fmt::format("{}:{}: {} {}: the tasks of the array are the nodes of one training, and may "
                    "start at different times: ask for the nodes in one job (--nodes)",
                    file, launch->line, rank->spelling, rank->raw));
  }
  training.setup = ReadSetup(statements, *launch, script->found, script->variables);
  std::copy_if(options->unknown.begin(), options->unknown.end(),
               std::back_inserter(training.plugin_options),
               [](const std::string& option) { return option.starts_with("--"); });
  const int64_t nodes = LayoutOf(training.options, *launch, training.flags).nodes;
  const bool must_stay = !script->called.empty() || MustStayWhole(statements, *launch, nodes) ||
                         (launch->srun && SignalsSteps(options->options));
  const bool stays = chosen.is_unknown || (chosen.open.empty() && must_stay);
  if (stays) training.kept.emplace(script->text, statements, *launch);
  const std::vector<SetupLine> setup = training.setup.lines;
  ConvertedScript converted = Converter(source, std::move(training), chosen.open).Convert();
  if (text != source.text) {
    converted.report.changed.push_back("the script's own path ($0) → " + source.path);
  }
  AddDoubts({source.text, *options, *script, setup, nodes, stays}, converted.report);
  if (Result<void> whole = CheckYaml(converted.yaml, file, chosen.open.empty()); !whole) {
    return tl::unexpected<Error>(whole.error());
  }
  return converted;
}

}  // namespace gpuadvise::client
