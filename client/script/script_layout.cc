#include "client/script/script_layout.h"

#include <algorithm>

#include "client/sbatch/option_values.h"
#include "client/script/launch_program.h"
#include "common/base/text.h"
#include "common/slurm/gres.h"

namespace gpuadvise::client {
namespace {

// Reads the request of the #SBATCH lines.
void ReadAsked(const SbatchOptions& options, ScriptLayout& layout) {
  if (const auto nodes = options.Get("nodes")) layout.nodes = ParseNodeCount(*nodes).value_or(1);
  const auto tasks_in_all = WholeNumber(options.Get("ntasks"));
  const auto tasks_per_node = WholeNumber(options.Get("ntasks-per-node"));
  if (!options.Has("nodes") && tasks_in_all && tasks_per_node) {
    layout.nodes = std::max<int64_t>(1, *tasks_in_all / *tasks_per_node);
  }
  GpuCounts counts;
  if (const auto gres = options.Get("gres")) {
    if (const auto parsed = ParseGres(*gres)) counts = parsed->gpus;
  }
  int64_t share = 1;  // divisor from `counts` to one node
  if (const auto per_node = options.Get("gpus-per-node")) {
    if (const auto parsed = ParseGpusOption(*per_node)) counts = *parsed;
  }
  if (const auto all = options.Get("gpus"); all && counts.empty()) {
    if (const auto parsed = ParseGpusOption(*all)) counts = *parsed;
    share = layout.nodes;
  }
  int64_t tasks = 1;
  if (const auto each = options.Get("gpus-per-task"); each && counts.empty()) {
    if (const auto parsed = ParseGpusOption(*each)) counts = *parsed;
    const int64_t of_all = std::max<int64_t>(1, tasks_in_all.value_or(1) / layout.nodes);
    tasks = tasks_per_node.value_or(of_all);
  }
  layout.asked_per_node = TotalGpus(counts) * tasks / share;
  for (const GpuCount& gpu : counts) {
    if (!gpu.type.empty()) layout.types.push_back(gpu.type);
  }
}

// "-n 16 --gpus-per-node=4" alone, and srun starts a process in each task: Slurm takes as many
// nodes as the tasks' cores need, and each task wants a GPU.
void SpreadTasks(const SbatchOptions& options, const LaunchCommand& launch, ScriptLayout& layout) {
  const int64_t tasks = WholeNumber(options.Get("ntasks")).value_or(1);
  const bool said = options.Has("nodes") || options.Has("ntasks-per-node") || options.Has("gpus") ||
                    options.Has("gpus-per-task");
  const bool spreads = !said && launch.srun && StartsOneProcess(launch) &&
                       layout.asked_per_node > 1 && tasks > layout.asked_per_node;
  if (!spreads) return;
  layout.nodes = (tasks + layout.asked_per_node - 1) / layout.asked_per_node;
  layout.nodes_are_assumed = true;
}

// From srun's options, else from the #SBATCH lines; 1 without srun.
int64_t TasksPerNode(const SbatchOptions& options, const LaunchCommand& launch, int64_t nodes) {
  if (!launch.srun) return 1;
  for (const SbatchOptions* each : {&launch.srun->options, &options}) {
    if (const auto per_node = WholeNumber(each->Get("ntasks-per-node"))) return *per_node;
    if (const auto all = WholeNumber(each->Get("ntasks")))
      return std::max<int64_t>(1, *all / nodes);
  }
  return 1;
}

// GPUs in "0,1,2,3" of --gpu_ids, --devices, --include or CUDA_VISIBLE_DEVICES; 0: none.
int64_t ListedGpus(const LaunchCommand& launch, const TrainingFlags& flags) {
  std::string list = flags.Text("gpu_list");
  if (list.empty()) list = launch.visible_devices;
  for (const auto& [name, raw] : launch.env) {
    if (name == "CUDA_VISIBLE_DEVICES") list = raw;
  }
  const size_t colon = list.find(':');
  if (colon != std::string::npos) list = list.substr(colon + 1);
  if (list.empty() || list.find_first_not_of("0123456789,") != std::string::npos) return 0;
  return 1 + std::count(list.begin(), list.end(), ',');
}

}  // namespace

ScriptLayout LayoutOf(const SbatchOptions& options, const LaunchCommand& launch,
                      const TrainingFlags& flags) {
  ScriptLayout layout;
  ReadAsked(options, layout);
  SpreadTasks(options, launch, layout);
  layout.nodes = flags.Number("nodes").value_or(layout.nodes);
  const int64_t tasks = TasksPerNode(options, launch, layout.nodes);
  layout.tasks_per_node = tasks;
  const bool python = launch.launcher == Launcher::kPython;
  const bool alone = StartsOneProcess(launch);
  const bool one_each = tasks == 1 && layout.asked_per_node == 1 && layout.nodes > 1;
  layout.task_per_gpu = alone && launch.srun && (tasks > 1 || one_each);
  layout.one_process =
      launch.launcher == Launcher::kTorchrun || (alone && tasks <= 1 && layout.asked_per_node <= 1);
  // ms-swift starts NPROC_PER_NODE processes, one where nothing is said; torchtune's recipes for a
  // single device are one process.
  const bool runs_alone = launch.launcher == Launcher::kSwift ||
                          (launch.launcher == Launcher::kTune &&
                           ProgramOf(launch).find("single_device") != std::string::npos);
  layout.one_process = layout.one_process || runs_alone;
  // Of a file of settings alone, what the job cannot have is an unused default, and one process of
  // one device is what python starts.
  const int64_t asked = layout.asked_per_node * layout.nodes;
  const auto counts = [&](std::string_view setting) -> std::optional<int64_t> {
    const auto number = flags.Number(setting);
    const bool of_file = number && flags.Find(setting)->in_config && python && !launch.srun;
    const bool unused = of_file && asked > 0 && (*number > asked || (asked == 1 && *number == 1));
    return unused ? std::nullopt : number;
  };
  const auto per_node = counts("gpus_per_node");
  auto all = counts("gpus");
  if (!all && flags.Find("gpus") == nullptr && flags.accelerate_processes > 0) {
    all = flags.accelerate_processes;
  }
  const int64_t listed = ListedGpus(launch, flags);
  if (layout.task_per_gpu) {
    layout.gpus_per_node = tasks;
  } else if (per_node) {
    // "--num_gpus 16" on 4 nodes of 4 GPUs is the total.
    const bool total = layout.nodes > 1 && *per_node == layout.asked_per_node * layout.nodes;
    layout.gpus_per_node = total ? layout.asked_per_node : *per_node;
  } else if (all) {
    layout.gpus_per_node = std::max<int64_t>(1, *all / layout.nodes);
  } else if (listed > 0 && !runs_alone) {
    layout.gpus_per_node = listed;
  } else {
    // The number of processes may be given by an unknown value ($GPUS).
    const auto is_said = [&](std::string_view setting) {
      return flags.Find(setting) != nullptr && !flags.Number(setting);
    };
    const bool said = is_said("gpus_per_node") || is_said("gpus");
    layout.one_process = layout.one_process && !said;
    layout.gpus_per_node = layout.one_process ? 1 : layout.asked_per_node;
    return layout;
  }
  layout.one_process = false;
  return layout;
}

}  // namespace gpuadvise::client
