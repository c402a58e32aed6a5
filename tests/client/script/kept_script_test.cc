// A script that is kept whole: random bodies, started with stand-ins, do in the job what they do by
// themselves, with the figures of the row.
#include "client/script/kept_script.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/sbatch/job_runner.h"
#include "client/sbatch/sbatch_script.h"
#include "client/script/command_conflicts.h"
#include "client/script/train_yaml_from_script.h"
#include "common/yaml/yaml_document.h"
#include "embedded/default_sbatch_template.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

class KeptScripts : public testing::Test {
 protected:
  KeptScripts() {
    for (const char* name : {"torchrun", "python", "srun", "mpirun"}) {
      folder.WriteProgram(name,
                          std::string("#!/bin/bash\necho ") + name + " \"$@\" >> \"$STARTS\"\n");
    }
    row.rank = 1;
    row.gpu = "l40s";
    row.gpus_per_node = 2;
    row.nodes = 1;
    row.micro_batch = 3;
    row.accumulation = 4;
    row.effective_batch_size = 24;
    row.steps = 100;
    row.precision = "bf16";
    row.time_limit_seconds = 3600;
    row.sbatch.nodes = 1;
    row.sbatch.ntasks_per_node = 1;
    row.sbatch.cpus_per_task = 16;
    row.sbatch.gres = "gpu:l40s:2";
  }

  // The training file that `script` becomes.
  json FileOf(const std::string& script) {
    ScriptSource source;
    source.text = script;
    source.file = "job.sh";
    source.read = [](const std::string&) { return std::optional<std::string>(); };
    source.preset_of = [](const std::string&) { return std::string(); };
    const Result<ConvertedScript> made = TrainYamlFromScript(source);
    if (!made) return json(made.error().message);
    report = made->report;
    return ParseYaml(made->yaml, "train.yaml")->root;
  }

  // What a script starts, a line each.
  std::string Starts(const std::string& script) {
    const std::string starts = folder.Path("starts");
    std::filesystem::remove(starts);
    const std::string lead = "export PATH=" + folder.Path("") + ":/usr/bin:/bin STARTS=" + starts +
                             " SLURM_JOB_ID=7 HOME=" + folder.Path("") + "\ncd " + folder.Path("") +
                             "\n";
    const auto ran = RunProgram("/bin/bash", {"-s"}, lead + script, ChildErrors::kInherited);
    EXPECT_TRUE(ran.has_value());
    std::ifstream lines(starts);
    std::stringstream text;
    text << lines.rdbuf();
    return text.str();
  }

  std::string JobOf(const json& file) {
    const auto job = MakeJobScript(DefaultSbatchTemplate(), file, row, {"a-1", ""}, {});
    EXPECT_TRUE(job.has_value());
    return job ? job->text : "";
  }

  TemporaryFolder folder;
  api::Strategy row;
  ScriptReport report;
};

constexpr const char* kHeader = "#!/bin/bash\n#SBATCH --gres=gpu:4\n";
constexpr const char* kTraining =
    "torchrun --nproc_per_node 4 t.py --per_device_train_batch_size 2 "
    "--gradient_accumulation_steps 3 --max_steps 9";
constexpr const char* kAdvised =
    "torchrun --nproc_per_node 2 t.py --per_device_train_batch_size 3 "
    "--gradient_accumulation_steps 4 --max_steps 9";

TEST_F(KeptScripts, DoInTheJobWhatTheyDoByThemselves) {
  const std::string run = kTraining;
  const std::string scripts[] = {
      "rm no_such_file 2> /dev/null\n" + run + "\npython after.py\n",
      "trap 'python stopped.py' EXIT\n" + run + " &\nwait $!\n",
      "[ -n \"$NONE\" ] && python never.py\n" + run + "\n",
      "train() {\n  " + run + " \"$@\"\n}\ntrain --more\n",
      "if true; then\n  " + run + "\nelse\n  python u.py\nfi\n",
      "(cd /tmp && " + run + ")\n",
      "ARGS=(\n  --per_device_train_batch_size 2  # small\n  --gradient_accumulation_steps 3\n)\n"
      "[ -d /none ] || ARGS+=(--max_steps 9)\ntorchrun --nproc_per_node 4 t.py \"${ARGS[@]}\"\n",
      "bash -c 'true; torchrun --nproc_per_node 4 t.py --per_device_train_batch_size 2 "
      "--gradient_accumulation_steps 3 --max_steps $1' bash 9\n",
      "BATCH=2\nGPUS=4\ncat > /dev/null << END\n{not ours}\nEND\ntorchrun --nproc_per_node $GPUS "
      "t.py "
      "--per_device_train_batch_size $BATCH --gradient_accumulation_steps 3 --max_steps 9\n"
      "false\npython last.py\n"};
  for (const std::string& script : scripts) {
    const json file = FileOf(kHeader + script);
    ASSERT_TRUE(file.is_object()) << script << file;
    EXPECT_TRUE(ConflictsOf(file, row).empty()) << script << file["command"];
    std::string expected = Starts(script);
    const size_t at = expected.find(kTraining);
    ASSERT_NE(at, std::string::npos) << script << expected;
    expected.replace(at, run.size(), kAdvised);
    EXPECT_EQ(Starts(JobOf(file)), expected) << script << file["command"];
  }
}

TEST_F(KeptScripts, ASignalForTheJobsShellReachesTheTextsTrap) {
  const json file = FileOf(
      "#!/bin/bash\n#SBATCH --gres=gpu:4 --signal=B:USR1@60\n"
      "trap 'python stopped.py; exit 3' USR1\n" +
      std::string(kTraining) + " &\nkill -USR1 $PPID_OF_TEST\nwait $!\n");
  EXPECT_NE(JobOf(file).find("\nexec \"${run[@]}\" bash"), std::string::npos) << JobOf(file);
}

TEST_F(KeptScripts, TasksOfTheJobFollowTheRow) {
  const json file = FileOf(
      "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --cpus-per-task=8\n"
      "srun -n 8 -N2 --gres=gpu:4 --label python t.py --batch_size 2 --accumulation 3\n");
  EXPECT_EQ(file["command"],
            "srun -n {gpus} -N {nodes} --gres=gpu:{gpus_per_node} --label python t.py "
            "--batch_size {micro_batch} --accumulation {accumulation}");
  EXPECT_EQ(file["run_on"], "first_node");
  EXPECT_TRUE(ConflictsOf(file, row).empty());
  const SbatchOptions options = StrategyOptions(file, row, {});
  EXPECT_EQ(options.Get("ntasks-per-node"), "2");
  EXPECT_EQ(options.Get("cpus-per-task"), "8") << "16 of the node for two tasks";
  row.nodes = row.sbatch.nodes = 2;
  EXPECT_EQ(Starts(JobOf(file)),
            "srun -n 4 -N 2 --gres=gpu:2 --label python t.py --batch_size 3 --accumulation 4\n");
}

TEST_F(KeptScripts, ProcessesOfMpirunFollowTheRow) {
  const json file = FileOf(
      "#!/bin/bash\n#SBATCH --ntasks-per-node=4 --gres=gpu:4\n"
      "mpirun -np 4 python t.py --batch_size 2 --accumulation 3 --max_steps 9\n");
  EXPECT_TRUE(ConflictsOf(file, row).empty());
  EXPECT_EQ(Starts(JobOf(file)),
            "mpirun -np 2 python t.py --batch_size 3 --accumulation 4 --max_steps 9\n");
  json fixed = file;
  fixed["command"] = "mpirun -np 4 python t.py --batch_size {micro_batch}";
  ASSERT_FALSE(ConflictsOf(fixed, row).empty());
  EXPECT_EQ(ConflictsOf(fixed, row)[0].cause, "mpirun starts 4 ranks");
}

TEST_F(KeptScripts, AnotherTrainingAndAnArgumentAreSaid) {
  FileOf(kHeader + std::string(kTraining) +
         "\ntorchrun --nproc_per_node 4 train2.py --max_steps 5 --data $1\n");
  ASSERT_GE(report.unclear.size(), 2U);
  std::string all;
  for (const std::string& sentence : report.unclear) all += sentence + "\n";
  EXPECT_NE(all.find("line 3: torchrun --nproc_per_node 4 t.py"), std::string::npos) << all;
  EXPECT_NE(all.find("line 4: $1 is what you write after the script's name"), std::string::npos);
}

TEST_F(KeptScripts, WhatThePlainFormCanSayStaysPlain) {
  for (const char* before :
       {"module load cuda\nsource env.sh\nexport A=1\ncd /tmp\n",
        "set -e\nrm -f x\npython get.py\n", "mkdir -p out\nBATCH=2\necho hello\n"}) {
    const json file = FileOf(kHeader + std::string(before) + kTraining + "\necho done\n");
    EXPECT_EQ(file["command"].get<std::string>().find('\n'), std::string::npos) << before;
  }
}

TEST_F(KeptScripts, GetSlurmsCountOfGpus) {
  const json file = FileOf(
      "#!/bin/bash\n#SBATCH --gpus-per-node=4\ntrap 'true' EXIT\n"
      "torchrun --nproc_per_node $SLURM_GPUS_PER_NODE t.py --world $SLURM_GPUS_PER_NODE "
      "--batch_size 2 --max_steps 9\n");
  EXPECT_NE(Starts(JobOf(file)).find("--world 2 --batch_size 3"), std::string::npos)
      << file["command"];
}

TEST_F(KeptScripts, AListOfGpusStaysAList) {
  const json file = FileOf(
      "#!/bin/bash\n#SBATCH --gres=gpu:4\n"
      "python t.py --gpus '0,1,2,3,' --batch_size 2 --max_steps 9\nfalse\npython after.py\n");
  EXPECT_NE(Starts(JobOf(file)).find("python t.py --gpus 0,1, --batch_size 3"), std::string::npos)
      << file["command"];
}

TEST_F(KeptScripts, OtherCommandsKeepTheirWords) {
  const std::string flags = " --per_device_train_batch_size 2 --max_steps 9 --output_dir out";
  const std::string scripts[] = {
      "python prep.py --per_device_train_batch_size 2\ntorchrun --nproc_per_node 4 t.py" + flags +
          " && python merge.py out\necho \"using NGPUS=4\"\npython end.py\n",
      "if true; then torchrun --nproc_per_node 4 t.py" + flags + "; else sleep out; fi\n",
      "touch t.py\ntorchrun t.py" + flags + " && cp t.py out && python after.py\n"};
  const std::string advised =
      "t.py --per_device_train_batch_size 3 --max_steps 9 --output_dir out "
      "--gradient_accumulation_steps 4\n";
  for (const std::string& script : scripts) {
    const json file = FileOf(kHeader + script);
    std::string starts = Starts(JobOf(file));
    EXPECT_NE(starts.find(advised), std::string::npos) << file["command"] << starts;
    EXPECT_EQ(starts.find("prep.py --per_device_train_batch_size 3"), std::string::npos);
    EXPECT_EQ(starts.find("merge.py out --"), std::string::npos) << starts;
  }
  EXPECT_NE(FileOf(kHeader + scripts[0])["command"].get<std::string>().find("\"using NGPUS=4\""),
            std::string::npos);
}

TEST_F(KeptScripts, TheShellsOptionsAndInnerHeadersStay) {
  const json file = FileOf(
      "#!/bin/bash -eu\n#SBATCH --gres=gpu:1\ncat > next.sh <<END\n#!/bin/sh\n#SBATCH "
      "--time=1\nEND\n"
      "python t.py --batch_size 2 --max_steps 9 &\nwait\n");
  EXPECT_EQ(
      file["command"].get<std::string>().find("set +e +o pipefail  # as in a script\nset -eu\n"
                                              "cat > next.sh <<END\n#!/bin/sh\n#SBATCH"),
      0U)
      << file["command"];
}

TEST(KeptScript, PutsValuesNotInCommentsAndOnlyWholeOnes) {
  const std::string text =
      "# --batch 4\nA=(--batch 4 --batch_size 4 --batch 42)\nrun \"${A[@]}\"\n";
  const auto statements = ReadStatements(text);
  ASSERT_TRUE(statements);
  LaunchCommand launch;
  launch.statement = 1;
  KeptScript kept(text, *statements, launch);
  EXPECT_EQ(kept.Put("--batch", "4", "{b}"), 1);
  EXPECT_EQ(kept.PutOfTraining("--batch", "4", "{b}"), 0);
  EXPECT_EQ(kept.text(),
            "# --batch 4\nA=(--batch {b} --batch_size 4 --batch 42)\nrun \"${A[@]}\"\n");
}

TEST(KeptScript, AssignsAVariableThatHasOneValueOnly) {
  const auto after = [](const std::string& text) {
    LaunchCommand launch;
    launch.statement = ReadStatements(text)->size() - 1;
    KeptScript kept(text, *ReadStatements(text), launch);
    kept.Assign("N", "{n}");
    return kept.text();
  };
  EXPECT_EQ(after("N=4\nrun\n"), "N={n}\nrun\n");
  EXPECT_EQ(after("export N=${N:-4}; run\n"), "export N={n}; run\n");
  EXPECT_EQ(after("N=$((SLURM_NNODES * 4)) run\n"), "N={n} run\n");
  EXPECT_EQ(after("N=4\n[ x ] && N=8\nrun\n"), "N=4\n[ x ] && N=8\nrun\n");
  EXPECT_EQ(after("N=$(count)\nrun\n"), "N=$(count)\nrun\n");
  EXPECT_EQ(after("N=4\nX=$(awk -F'(' '{print $1}')\nrun\n"),
            "N={n}\nX=$(awk -F'(' '{print $1}')\nrun\n");
  EXPECT_EQ(after("N=${N:-$(awk -F'(' '{print}' f)}\nrun\n"), "N={n}\nrun\n");
}

}  // namespace
}  // namespace gpuadvise::client
