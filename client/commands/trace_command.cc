#include "client/commands/trace_command.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/sbatch/job_words.h"
#include "client/script/script_file.h"
#include "client/shell/shell_text.h"
#include "client/terminal/display.h"
#include "client/trace/script_trace.h"
#include "common/base/text.h"
#include "common/memory/memory_constants.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kPlaceholder = "{micro_batch}";

// Options that say something of the batch, not of the model or of how it is trained.
bool IsOfBatch(const TrainingSetting& setting) {
  return setting.key == "training.effective_batch_size" ||
         setting.key == "training.gradient_accumulation_steps";
}

// What a shell would be given; braces stay as they are written.
std::string InShell(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + ShellQuoted(word);
  return text;
}

bool IsTrainYaml(const std::string& file) {
  return file.ends_with(".yaml") || file.ends_with(".yml") || file == "-";
}

// The file of the question, or one of nothing but the script's name.
Result<TrainFile> FileOf(const TrainingSource& source, const TraceWishes& wishes, int64_t now) {
  if (!wishes.command.empty()) {
    return TrainFile::FromSpec(json::object(), "--trace");
  }
  if (IsTrainYaml(source.file)) return TrainFile::Load(source.file, source.section, now);
  const Result<ConvertedScript> script = ConvertScriptFile(source.file, {});
  if (!script) return tl::unexpected<Error>(script.error());
  return TrainFile::FromText(script->yaml, source.file + " as a train.yaml", source.section, now);
}

// With every placeholder filled in for one GPU.
std::string Filled(const std::string& command, int64_t micro_batch) {
  const std::string batch = std::to_string(micro_batch);
  return FillPlaceholders(command, {{"micro_batch", batch},
                                    {"effective_batch_size", batch},
                                    {"accumulation", "1"},
                                    {"gpus_per_node", "1"},
                                    {"gpus", "1"},
                                    {"nodes", "1"},
                                    {"node_rank", "0"},
                                    {"cpus_per_task", "1"},
                                    {"steps", "1000"},
                                    {"samples", "1000000"},
                                    {"precision", "bf16"},
                                    {"output_dir", "gpuadvise-trace"},
                                    {"name", "gpuadvise-trace"},
                                    {"master_addr", "127.0.0.1"},
                                    {"master_port", "29500"},
                                    {"resume", ""}});
}

json SizeJson(int64_t bytes) { return fmt::format("{} B", bytes); }

// Puts what was traced into the file. `name`: of the script, where there is no other file than
// that.
Result<void> PutMemory(const TracedMemory& traced, const std::string& name, TrainFile& file) {
  const MemoryLine& line = traced.line;
  const json memory = {{"base", SizeJson(line.base_bytes)},
                       {"per_sample", SizeJson(line.per_sample_bytes)},
                       {"overhead", SizeJson(line.overhead_bytes)},
                       {"floor", SizeJson(line.floor_bytes)}};
  auto done = file.Override("model.memory", memory, "--trace");
  if (!name.empty()) {
    if (done) done = file.Override("name", name, "--trace");
    for (const char* word : {"bf16", "fp16"}) {
      if (!done) break;
      done = file.Override(std::string("training.") + word, traced.report.precision == word,
                           "--trace");
    }
  }
  if (!done) return tl::unexpected<Error>(done.error());
  return {};
}

// What the file asks for and one traced process has not.
void NoteSharding(const TrainFile& file, TracedMemory& traced) {
  const json& training = ObjectOf(file.spec(), "training");
  for (const char* key : {"deepspeed", "fsdp"}) {
    if (training.contains(key)) {
      traced.notes.push_back(fmt::format(
          "training.{} is not included: one process was traced, without sharding", key));
    }
  }
}

}  // namespace

Result<TracedTraining> TraceTraining(const TrainingSource& source, const TraceWishes& wishes,
                                     Console& console) {
  for (const TrainingSetting& setting : source.settings) {
    if (!IsOfBatch(setting)) {
      return BadInput(
          setting.option +
          " has no effect here: a trace runs the script unchanged; pass it to the script");
    }
  }
  Result<TrainFile> file = FileOf(source, wishes, console.now());
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  const bool is_file = wishes.command.empty();
  const std::string shell = is_file ? TextOf(file->spec(), "command") : InShell(wishes.command);
  if (shell.empty()) {
    return file->Refuse("has no command to trace; give it as -- python train.py ARGS", "/command");
  }
  const TraceLimits limits{std::chrono::seconds(static_cast<int64_t>(wishes.minutes * 60)),
                           wishes.memory_gib};
  const auto named = ReadTracedCommand(Filled(shell, 1), wishes.python, std::getenv("PATH"));
  if (!named) return tl::unexpected<Error>(named.error());
  const auto run = [&](int64_t micro_batch, int64_t scale) -> Result<TraceReport> {
    if (micro_batch == 0) return TraceOnce(*named, scale, limits);
    const auto filled =
        ReadTracedCommand(Filled(shell, micro_batch), wishes.python, std::getenv("PATH"));
    if (!filled) return tl::unexpected<Error>(filled.error());
    return TraceOnce(*filled, 1, limits);
  };
  console.Complain("Running the script without data on the CPU for two optimizer steps …");
  const bool has_place = shell.find(kPlaceholder) != std::string::npos;
  Result<TracedMemory> memory = TraceMemory(has_place, run);
  if (!memory) return tl::unexpected<Error>(std::move(memory.error()));
  NoteSharding(*file, *memory);
  const std::string name = is_file ? "" : named->program;
  if (const Result<void> put = PutMemory(*memory, name, *file); !put) {
    return tl::unexpected<Error>(put.error());
  }
  const auto set = ApplySettings(source.settings, *file);
  if (!set) return tl::unexpected<Error>(set.error());
  return TracedTraining{std::move(*file), std::move(*memory)};
}

std::string TraceText(const TracedMemory& traced, const TerminalStyle& style) {
  std::vector<std::string> batches;
  for (const int64_t batch : traced.micro_batches) batches.push_back(std::to_string(batch));
  std::string text = "\n";
  text += Indented(fmt::format("Traced with PyTorch {}: two optimizer steps at micro-batch {}.",
                               traced.report.torch, Join(batches, " and ")),
                   0, style.width);
  text += Indented(
      fmt::format("Not counted: workspaces of kernels (cuDNN), NCCL. Added: {:.0f} % for "
                  "fragmentation, {:.1f} GB for the CUDA context.",
                  100 * kMemoryConstants.fragmentation_share, kMemoryConstants.context_bytes / 1e9),
      0, style.width);
  for (const std::string& note : traced.notes) text += Indented("Note: " + note, 0, style.width);
  return text + "\nFor a train.yaml, so that advise and scale know it too:\n" + YamlOf(traced);
}

}  // namespace gpuadvise::client
