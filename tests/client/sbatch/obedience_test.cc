// The job that is submitted is the job that was advised: for random rows and commands, either
// ConflictsOf() speaks up, or the script starts trainings with exactly the row's figures. Launchers
// are stand-ins that write down the words they get; srun's runs its command once for each node.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/sbatch/job_runner.h"
#include "client/sbatch/sbatch_script.h"
#include "client/script/command_conflicts.h"
#include "common/base/text.h"
#include "embedded/default_sbatch_template.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// One start of a launcher: its words.
using Start = std::vector<std::string>;

// The last value of an option in any of its spellings, "--name V" or "--name=V"; "" if absent.
std::string ValueOf(const Start& start, std::initializer_list<std::string_view> names) {
  std::string value;
  for (size_t i = 0; i < start.size(); ++i) {
    for (const std::string_view name : names) {
      if (start[i] == name) value = i + 1 < start.size() ? start[i + 1] : "";
      if (start[i].starts_with(std::string(name) + "=")) value = start[i].substr(name.size() + 1);
    }
  }
  return value;
}

class Obedience : public testing::Test {
 protected:
  Obedience() {
    const std::string note =
        "printf '%s\\037' \"$@\" >> \"$STARTS\"; printf '\\n' >> \"$STARTS\"\n";
    for (const char* name : {"torchrun", "python", "accelerate", "deepspeed"}) {
      Program(name, note);
    }
    Program("scontrol", "echo node1\n");
    Program(
        "srun",
        "nodes=1; while case $1 in --nodes=*) nodes=${1#*=};; -*) ;; *) false;; esac; do shift; "
        "done\nfor ((node = 0; node < nodes; ++node)); do SLURM_NODEID=$node \"$@\" || exit; "
        "done\n");
  }

  void Program(const std::string& name, const std::string& lines) {
    folder.WriteProgram(name, "#!/bin/bash\n" + lines);
  }

  // What the job of `script` starts, in its order.
  std::vector<Start> Run(const std::string& script) {
    const std::string starts = folder.Path("starts");
    std::filesystem::remove(starts);
    const std::string lead =
        "export PATH=" + folder.Path("") + ":/usr/bin:/bin STARTS=" + starts +
        " SLURM_JOB_ID=7 SLURM_JOB_NODELIST='node[1-2]' HOME=" + folder.Path("") + "\ncd " +
        folder.Path("") + "\n";
    RC_ASSERT(RunProgram("/bin/bash", {"-s"}, lead + script, ChildErrors::kInherited).has_value());
    std::vector<Start> all;
    std::ifstream lines(starts);
    for (std::string line; std::getline(lines, line);) {
      Start& start = all.emplace_back();
      for (const std::string_view word : SplitAt(line, '\037')) start.emplace_back(word);
    }
    return all;
  }

  TemporaryFolder folder;
};

api::Strategy AnyRow() {
  api::Strategy row;
  row.rank = 1;
  row.gpu = "l40s";
  row.partition = "gpu";
  row.gpus_per_node = *rc::gen::inRange(1, 5);
  row.nodes = *rc::gen::element(1, 1, 2);
  row.micro_batch = *rc::gen::inRange(1, 5);
  row.accumulation = *rc::gen::inRange(1, 4);
  row.effective_batch_size = row.micro_batch * row.accumulation * row.gpus_per_node * row.nodes;
  row.steps = 100;
  row.precision = *rc::gen::element<std::string>("bf16", "fp16", "fp32");
  row.gradient_checkpointing = *rc::gen::element(false, true);
  row.time_limit_seconds = 3600;
  row.sbatch.nodes = row.nodes;
  row.sbatch.gres = "gpu:l40s:" + std::to_string(row.gpus_per_node);
  return row;
}

// Whether a command does for once not do what its row says.
bool Errs() { return *rc::gen::element(0, 1, 2, 3, 4, 5, 6, 7) == 7; }

// A figure as people write it: its placeholder, its variable; where it errs a number, or nothing.
std::string Option(const std::string& name, const std::string& word, const std::string& variable) {
  if (Errs()) return "";
  const std::string number = std::to_string(*rc::gen::inRange(1, 5));
  const std::string value =
      Errs() ? number : *rc::gen::element<std::string>("{" + word + "}", "$" + variable);
  return " " + name + *rc::gen::element<std::string>(" ", "=") + value;
}

std::string AnyLauncher(const api::Strategy& row) {
  const std::string processes =
      Option("--nproc_per_node", "gpus_per_node", "GPUADVISE_GPUS_PER_NODE");
  const std::string torchrun =
      *rc::gen::element<std::string>("torchrun", "python -m torch.distributed.run");
  std::string launcher =
      torchrun + (row.nodes > 1 ? " --nnodes={nodes}" : "") + processes + " t.py";
  if (*rc::gen::inRange(0, 4) == 0 && row.nodes == 1) {
    launcher = "accelerate launch" + Option("--num_processes", "gpus", "GPUADVISE_GPUS_PER_NODE") +
               " t.py";
  }
  return *rc::gen::element<std::string>("", "", "OMP_NUM_THREADS=4 ", "echo start && ") + launcher;
}

std::string AnyCommand(const api::Strategy& row) {
  std::string command = AnyLauncher(row);
  command += Option(*rc::gen::element<std::string>("--per_device_train_batch_size", "--batch_size"),
                    "micro_batch", "GPUADVISE_MICRO_BATCH");
  command += Option("--gradient_accumulation_steps", "accumulation", "GPUADVISE_ACCUMULATION");
  std::string precision = row.precision == "fp32" ? "" : " --" + row.precision + " True";
  command += Errs() ? *rc::gen::element<std::string>("", " --bf16 True", " --fp16 True", " --bf16")
                    : *rc::gen::element(precision, precision + " --tf32 True");
  const std::string on = *row.gradient_checkpointing ? "True" : "False";
  command += Errs() ? "" : " --gradient_checkpointing " + on;
  command += " --logging_steps 10";
  command += *rc::gen::element<std::string>("", " --max_steps {steps}", " --note 'it''s {name}'",
                                            " 2>&1 | cat", " && echo done");
  return command;
}

bool IsOn(const Start& start, const std::string& option) {
  const bool bare = std::find(start.begin(), start.end(), option) != start.end();
  const std::string value = ValueOf(start, {option});
  return bare && value != "False";
}

TEST_F(Obedience, AJobTrainsAsItsRowSaysOrTheConflictIsSaid) {
  int64_t obeyed = 0;
  const bool good = rc::check([&] {
    const api::Strategy row = AnyRow();
    json spec = {{"name", "x"}, {"command", AnyCommand(row)}, {"training", {{"max_steps", 100}}}};
    if (!Errs()) spec["training"]["gradient_checkpointing"] = *row.gradient_checkpointing;
    if (*rc::gen::element(0, 1, 2) == 0) spec["training"]["retry_on_oom"] = true;
    RC_LOG() << spec["command"] << std::endl;
    if (!ConflictsOf(spec, row).empty()) return;
    const auto script = MakeJobScript(DefaultSbatchTemplate(), spec, row, {"a-1", ""}, {});
    RC_ASSERT(script.has_value());
    const std::vector<Start> starts = Run(script->text);
    RC_ASSERT(starts.size() == static_cast<size_t>(row.nodes));
    ++obeyed;
    for (const Start& start : starts) {
      const std::string batch = ValueOf(start, {"--per_device_train_batch_size", "--batch_size"});
      const std::string accumulation = ValueOf(start, {"--gradient_accumulation_steps"});
      const std::string processes = ValueOf(start, {"--nproc_per_node", "--num_processes"});
      RC_ASSERT(batch == std::to_string(row.micro_batch));
      RC_ASSERT((accumulation.empty() ? "1" : accumulation) == std::to_string(row.accumulation));
      // accelerate takes all GPUs of the node and a precision of its own where nothing is said.
      const bool accelerate = start.front() == "launch";
      if (!accelerate || !processes.empty()) {
        RC_ASSERT((processes.empty() ? "1" : processes) == std::to_string(row.gpus_per_node));
      }
      const bool bf16 = IsOn(start, "--bf16"), fp16 = IsOn(start, "--fp16");
      const bool is_known =
          !accelerate && !ValueOf(start, {"--per_device_train_batch_size"}).empty();
      if (is_known || bf16 || fp16) {
        RC_ASSERT(row.precision == (bf16 ? "bf16" : fp16 ? "fp16" : "fp32"));
      }
      RC_ASSERT(!*row.gradient_checkpointing || IsOn(start, "--gradient_checkpointing"));
    }
  });
  EXPECT_TRUE(good);
  EXPECT_GT(obeyed, 10);  // of 100
}

}  // namespace
}  // namespace gpuadvise::client
