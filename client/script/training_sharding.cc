#include "client/script/training_sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "client/script/launch_program.h"
#include "client/script/training_config.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

class Sharding {
 public:
  Sharding(const ScriptTraining& training, const ReadNamedFile& read, SectionWriter& out)
      : launch_(training.launch), flags_(training.flags), read_(read), out_(out) {}

  void Write() {
    const FlagUse* switch_use = flags_.Find("fsdp");
    const bool bare = switch_use != nullptr && switch_use->bare;
    const std::string fsdp = bare ? "true" : LowerCase(flags_.Text("fsdp"));
    if (const std::string words = FsdpWords(fsdp); !words.empty()) return out_.Take("fsdp", words);
    if (WriteStrategy()) return;
    const FlagUse* stage_use = flags_.Find("zero_stage");
    if (stage_use != nullptr && !stage_use->value) {
      out_.report.missing.push_back(
          fmt::format("{} {} has no value in the script: write "
                      "training.deepspeed",
                      stage_use->spelling, stage_use->raw));
      return;
    }
    const std::string file = DeepspeedFile();
    if (const auto stage = ZeroStage(file)) {
      out_.Key("deepspeed", fmt::format("{}{}", *stage,
                                        file.empty() ? "" : "  # ZeRO stage of " + Comment(file)));
      out_.report.taken.push_back(fmt::format("DeepSpeed ZeRO stage {}", *stage));
      WriteOffload(file);
    } else if (!file.empty()) {
      out_.report.missing.push_back(fmt::format(
          "the ZeRO stage of {}, which cannot be read here: write training.deepspeed", file));
    } else if (launch_.launcher == Launcher::kDeepspeed) {
      out_.report.missing.push_back(
          "no flag gives DeepSpeed's configuration: write training.deepspeed, its ZeRO stage");
    }
    for (const std::string& fixed : FixedByDeepspeed(file, read_)) {
      out_.report.unclear.push_back(fmt::format(
          "{} fixes {}: write \"auto\" there, or the advice cannot be submitted", file, fixed));
    }
  }

 private:
  // As written where it holds variables: its name may tell the stage.
  std::string DeepspeedFile() const {
    const FlagUse* use = flags_.Find("deepspeed");
    if (use == nullptr || use->bare) return "";
    std::string file = use->value.value_or(use->raw);
    std::erase(file, '"');
    for (const char* home : {"${HOME}", "$HOME"}) {
      const char* path = std::getenv("HOME");
      if (path != nullptr && file.starts_with(home)) file.replace(0, std::strlen(home), path);
    }
    return file;
  }

  // Lightning's strategy: fsdp, deepspeed_stage_2_offload, ddp; or a trainer class that shards.
  bool WriteStrategy() {
    const std::string said =
        LowerCase(flags_.Text("strategy")) + " " + LowerCase(flags_.Text("trainer"));
    const bool offload = said.find("offload") != std::string::npos;
    if (said.find("fsdp") != std::string::npos) {
      out_.Take("fsdp", offload ? "full_shard offload" : "full_shard");
      return true;
    }
    const size_t at = said.find("deepspeed");
    if (at == std::string::npos) return false;
    const auto stage = ZeroStageOf(said.substr(at), read_);
    out_.Take("deepspeed", std::to_string(stage.value_or(2)));  // Lightning's own
    if (offload) out_.Take("offload", stage == 3 ? "all" : "optimizer");
    return true;
  }

  // "full_shard offload" from "full_shard auto_wrap offload"; "": none given.
  std::string FsdpWords(const std::string& said) const {
    // Accelerate puts FSDP1's strategy there too.
    const std::string of_reshard = LowerCase(flags_.Text("reshard_after_forward"));
    std::string strategy;
    if (IsOneOf(said, {"true", "1", "full", "fully_shard"})) strategy = "full_shard";
    if (said == "hybrid") strategy = "hybrid_shard";
    if (said == "2") strategy = "shard_grad_op";
    for (const char* each : {"full_shard", "shard_grad_op", "hybrid_shard", "hybrid_shard_zero2"}) {
      if ((said + " " + of_reshard).find(each) != std::string::npos) strategy = each;
    }
    const auto reshard = flags_.Switch("reshard_after_forward");
    const bool second = flags_.Number("fsdp_version") == 2;
    const bool titan = ProgramOf(launch_).find("torchtitan") != std::string::npos;
    // torchtune's recipes for several devices shard.
    const bool tune = launch_.launcher == Launcher::kTune &&
                      ProgramOf(launch_).find("distributed") != std::string::npos;
    if (strategy.empty() && (second || reshard || titan || tune)) strategy = "full_shard";
    if (strategy == "full_shard" && reshard == false) strategy = "shard_grad_op";
    if (strategy.empty() || said == "no_shard") return "";
    const bool offload =
        said.find("offload") != std::string::npos || flags_.Switch("fsdp_offload").value_or(false);
    return strategy + (offload ? " offload" : "");
  }

  void WriteOffload(const std::string& file) {
    const OffloadDevices devices = OffloadOf(file, read_);
    const auto is_away = [&](std::string_view setting) {
      return IsOneOf(LowerCase(flags_.Text(setting)), {"cpu", "nvme"});
    };
    if (devices.parameters || is_away("offload_parameters")) return out_.Take("offload", "all");
    if (devices.optimizer || is_away("offload_optimizer")) out_.Take("offload", "optimizer");
  }

  std::optional<int64_t> ZeroStage(const std::string& file) const {
    if (const FlagUse* use = flags_.Find("zero_stage"); use != nullptr && use->value) {
      const std::string& text = *use->value;
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '3') return text[0] - '0';
    }
    return ZeroStageOf(file, read_);
  }

  // A file name made safe for a YAML comment.
  static std::string Comment(const std::string& text) {
    std::string plain;
    for (char c : text) plain += static_cast<unsigned char>(c) < 0x20 ? '_' : c;
    return plain;
  }

  const LaunchCommand& launch_;
  const TrainingFlags& flags_;
  const ReadNamedFile& read_;
  SectionWriter& out_;
};

}  // namespace

int64_t GpusOfCopy(const TrainingFlags& flags) {
  int64_t gpus = 1;
  for (const char* key :
       {"tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size"}) {
    gpus *= std::min<int64_t>(flags.Number(key).value_or(1), 65536);
  }
  return gpus;
}

void WriteSharding(const ScriptTraining& training, const ReadNamedFile& read, SectionWriter& out) {
  Sharding(training, read, out).Write();
}

void WriteParallelism(const ScriptTraining& training, SectionWriter& out) {
  const TrainingFlags& flags = training.flags;
  for (const char* key : {"tensor_parallel_size", "pipeline_parallel_size", "context_parallel_size",
                          "expert_parallel_size"}) {
    const auto size = flags.Number(key);
    if (size && *size > 1) out.Take(key, std::to_string(*size));
  }
  const FlagUse* copies = flags.Find("data_parallel_size");
  const auto count = flags.Number("data_parallel_size");
  if (!count) return;
  const int64_t gpus = *count * GpusOfCopy(flags);
  out.report.unclear.push_back(fmt::format(
      "{} {}{} stays: the program then runs on {} alone{}; write resources.max_gpus: {}, or "
      "change it with the row",
      copies->spelling, *count, copies->file.empty() ? "" : " in " + copies->file,
      Plural(gpus, "GPU"),
      gpus == training.layout.gpus() ? ""
                                     : fmt::format(", the script has {}", training.layout.gpus()),
      gpus));
}

}  // namespace gpuadvise::client
