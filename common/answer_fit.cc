#include "common/answer_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "common/assumptions.h"
#include "common/batch_fit.h"
#include "common/fit_tips.h"
#include "common/gpu_requirements.h"
#include "common/known_model.h"
#include "common/measured_memory.h"
#include "common/memory_model.h"
#include "common/precision.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr double kKeyValueBytes = 2;
constexpr std::array<int64_t, 6> kRanks = {128, 64, 32, 16, 8, 4};

/// One stage's model, as memory sees it: counted, or a line that somebody gave.
struct Subject {
  const Stage& stage;
  std::string title;
  const ModelShape* shape = nullptr;
  const MemoryLine* line = nullptr;
  bool fp16_is_safe = true;
};

Result<Subject> SubjectOf(const FitQuestion& question, const Stage& stage) {
  Subject subject{stage, stage.model.preset, nullptr, nullptr, true};
  const auto found = question.presets.Require(stage.model.preset, stage.pointer + "/model/preset");
  if (!found) return tl::unexpected<Error>(found.error());
  const ModelPreset* preset = *found;
  if (preset != nullptr) subject.title = preset->title;
  const KnownModel known = KnownModelOf(stage.model, preset);
  subject.fp16_is_safe = known.fp16_is_safe;
  subject.line = known.line;
  subject.shape = known.counted();
  if (subject.shape == nullptr && subject.line == nullptr) {
    return BadInput(
        "nothing says what this model is made of: give model.preset, hf_config: config.json, "
        "hidden_size and the rest of its shape, or memory {base, per_sample, overhead}",
        stage.pointer + "/model");
  }
  return subject;
}

/// One GPU's view of it.
class Fit {
 public:
  Fit(const FitQuestion& question, const Subject& subject, const GpuModel& gpu,
      std::string precision, double correction)
      : question_(question),
        subject_(subject),
        training_(subject.stage.training),
        gpu_(gpu),
        correction_(correction),
        margin_(kRecommendedMargin),
        setup_(subject.shape != nullptr ? SetupOn(gpu, *subject.shape, training_, precision,
                                                  question.gpus_in_all, margin_)
                                        : SetupFrom(training_, precision, question.gpus_in_all)) {}

  json Row() {
    const int64_t recommended = Largest(setup_, margin_);
    const int64_t most = Largest(setup_, 0);
    json row = {{"gpu", gpu_.id},
                {"gpu_name", gpu_.display_name},
                {"gpu_memory_bytes", gpu_.memory_bytes},
                {"margin", margin_},
                {"max_micro_batch",
                 {{"conservative", Largest(setup_, 2 * margin_)},
                  {"recommended", recommended},
                  {"aggressive", most}}}};
    setup_.micro_batch = question_.micro_batch.value_or(std::max<int64_t>(recommended, 1));
    if (!question_.micro_batch && most > 0) PlanInto(row, std::max<int64_t>(recommended, 1));
    if (!question_.micro_batch && most > 0 && recommended == 0) {
      row["notes"].push_back("one sample fits only into what should be left free");
    }
    if (setup_.zero_stage > 0 && setup_.gpus == 1) {
      row["notes"].push_back("on one GPU ZeRO and FSDP shard nothing");
    }
    row["micro_batch"] = setup_.micro_batch;
    row["fits"] = Bytes(setup_) <= Usable(0);
    row["memory"] = MemoryJson();
    row["settings"] = SettingsJson();
    if (subject_.shape != nullptr) {
      row["eval_micro_batch"] = LargestWithoutTraining(false);
      row["inference_batch"] = LargestWithoutTraining(true);
      if (setup_.method != "full") row["lora_rank_that_fits"] = RankThatFits();
      row["savings"] = Savings();
      if (most == 0) row["would_fit_with"] = Ladder();
    }
    return row;
  }

 private:
  double Usable(double margin) const {
    const double all = subject_.shape != nullptr ? UsableBytes(gpu_) : gpu_.memory_gb * 1e9;
    return all * (1 - margin);
  }

  double Bytes(const TrainingSetup& setup) const {
    if (subject_.shape != nullptr) return correction_ * PeakMemory(*subject_.shape, setup).total();
    return static_cast<double>(MemoryOf(*subject_.line, setup.micro_batch));
  }

  int64_t Largest(const TrainingSetup& setup, double margin) const {
    if (subject_.shape == nullptr) return LargestMicroBatch(*subject_.line, gpu_, margin);
    return LargestMicroBatch(*subject_.shape, setup, Usable(margin) / correction_);
  }

  void PlanInto(json& row, int64_t largest) {
    const auto plan = PlanBatch(training_, question_.gpus_in_all, largest);
    if (!plan) {
      row["notes"].push_back(plan.error().message);
      return;
    }
    setup_.micro_batch = plan->micro_batch;
    row["accumulation"] = plan->accumulation;
    row["effective_batch_size"] = plan->effective;
  }

  json MemoryJson() const {
    const auto whole = [](double bytes) { return std::llround(std::min(bytes, 9e18)); };
    if (subject_.shape == nullptr) {
      return {{"total_bytes", whole(Bytes(setup_))},
              {"weights_bytes", subject_.line->base_bytes},
              {"activations_bytes", subject_.line->per_sample_bytes * setup_.micro_batch},
              {"framework_bytes", subject_.line->overhead_bytes},
              {"basis", "line"}};
    }
    const MemoryParts parts = PeakMemory(*subject_.shape, setup_);
    const auto part = [&](double bytes) { return whole(correction_ * bytes); };
    return {{"total_bytes", part(parts.total())},
            {"weights_bytes", part(parts.weights)},
            {"gradients_bytes", part(parts.gradients)},
            {"optimizer_bytes", part(parts.optimizer)},
            {"activations_bytes", part(parts.activations)},
            {"logits_bytes", part(parts.logits)},
            {"workspace_bytes", part(parts.workspace)},
            {"framework_bytes", part(parts.framework)},
            {"peak_in", parts.in_step ? "optimizer step" : "backward pass"},
            {"basis", correction_ == 1 ? "counted" : "counted, corrected by measured peaks"}};
  }

  json SettingsJson() const {
    json settings = {{"precision", setup_.precision}, {"method", setup_.method}};
    if (subject_.shape == nullptr) return settings;
    settings["gradient_checkpointing"] = setup_.checkpointing == Checkpointing::kFull ? json(true)
                                         : setup_.checkpointing == Checkpointing::kSelective
                                             ? json("selective")
                                             : json(false);
    settings["optim"] = setup_.optim;
    settings["zero_stage"] = setup_.zero_stage;
    settings["pure_bf16"] = setup_.pure_half;
    settings["max_seq_length"] = setup_.seq_length;
    if (setup_.method != "full") settings["lora_rank"] = setup_.lora_rank;
    return settings;
  }

  /// Forward passes alone: weights, a layer at work, and scores or the keys and values of what was
  /// said so far.
  int64_t LargestWithoutTraining(bool generating) const {
    const ModelShape& model = *subject_.shape;
    TrainingSetup setup = setup_;
    setup.method = "lora";
    setup.lora_rank = 1;
    setup.gpus = 1;
    setup.zero_stage = 0;
    setup.deepspeed = false;
    setup.checkpointing = Checkpointing::kFull;
    setup.chunked_cross_entropy = true;
    setup.micro_batch = 0;
    const double fixed = correction_ * PeakMemory(model, setup).total();
    setup.micro_batch = 1;
    const double layers = static_cast<double>(model.layers.num_hidden_layers);
    const auto length = static_cast<double>(setup.seq_length);
    double sample = correction_ * PeakMemory(model, setup).total() - fixed;
    if (generating) {
      sample += 2 * kKeyValueBytes * layers * static_cast<double>(model.layers.key_size()) * length;
    } else if (model.lm_head) {
      sample += 4 * static_cast<double>(model.vocab_size) * length;  // scores in fp32
    }
    const double left = Usable(margin_) - fixed;
    if (left < sample) return 0;
    return std::min<int64_t>(static_cast<int64_t>(left / std::max(sample, 1.0)),
                             kMostModelledBatch);
  }

  int64_t RankThatFits() const {
    for (const int64_t rank : kRanks) {
      TrainingSetup setup = setup_;
      setup.lora_rank = rank;
      if (Bytes(setup) <= Usable(margin_)) return rank;
    }
    return 0;
  }

  struct Change {
    std::string change;
    std::string cost;
    TrainingSetup setup;
  };

  /// What could be asked for less, in the order of harm (S1, S3).
  std::vector<Change> ChangesOf(const TrainingSetup& now) const {
    std::vector<Change> changes;
    const auto add = [&](std::string change, std::string cost, const auto& apply) {
      TrainingSetup setup = now;
      apply(setup);
      changes.push_back({std::move(change), std::move(cost), std::move(setup)});
    };
    if (now.checkpointing != Checkpointing::kFull) {
      add("gradient_checkpointing: true", "about 20 % slower",
          [](TrainingSetup& s) { s.checkpointing = Checkpointing::kFull; });
    }
    if (!now.chunked_cross_entropy && subject_.shape->lm_head) {
      add("chunked_cross_entropy: true", "none, where the trainer has it",
          [](TrainingSetup& s) { s.chunked_cross_entropy = true; });
    }
    if (!now.pure_half && now.precision == "bf16" && !now.deepspeed && now.method == "full") {
      add("pure_bf16: true", "small updates may be lost",
          [](TrainingSetup& s) { s.pure_half = true; });
    }
    if (now.optim.find("8bit") == std::string::npos && now.optim != "adafactor") {
      add("optim: adamw_8bit", "little", [](TrainingSetup& s) { s.optim = "adamw_8bit"; });
    }
    if (now.gpus > 1 && now.zero_stage < 3) {
      add("deepspeed: 3", "more traffic between the GPUs", [](TrainingSetup& s) {
        s.deepspeed = true;
        s.zero_stage = 3;
      });
    }
    if (now.method == "full") {
      add("method: lora", "another training: adapters only",
          [](TrainingSetup& s) { s.method = "lora"; });
    } else if (now.method == "lora") {
      add("method: qlora", "slower, and the frozen weights are rounded to 4 bits",
          [](TrainingSetup& s) { s.method = "qlora"; });
    }
    if (now.seq_length > 256) {
      add(fmt::format("max_seq_length: {}", now.seq_length / 2), "longer texts are cut",
          [](TrainingSetup& s) { s.seq_length /= 2; });
    }
    if (now.offload == Offload::kNone && now.method == "full") {
      add("offload: optimizer", "several times slower steps",
          [](TrainingSetup& s) { s.offload = Offload::kOptimizer; });
    }
    return changes;
  }

  json Savings() const {
    constexpr double kWorth = 0.02;
    json list = json::array();
    const double now = Bytes(setup_);
    for (const Change& each : ChangesOf(setup_)) {
      const double saved = now - Bytes(each.setup);
      if (saved < kWorth * now) continue;
      list.push_back({{"change", each.change},
                      {"saves_bytes", std::llround(std::min(saved, 9e18))},
                      {"max_micro_batch", Largest(each.setup, margin_)},
                      {"costs", each.cost}});
    }
    return list;
  }

  /// Changes, one after the other, until a single sample fits; empty when none does it.
  json Ladder() const {
    json changes = json::array();
    TrainingSetup setup = setup_;
    setup.micro_batch = 1;
    constexpr int kMostChanges = 12;
    for (int i = 0; i < kMostChanges; ++i) {
      if (Bytes(setup) <= Usable(margin_)) return changes;
      const auto next = ChangesOf(setup);
      const auto better = std::find_if(next.begin(), next.end(), [&](const Change& each) {
        return Bytes(each.setup) < 0.98 * Bytes(setup);
      });
      if (better == next.end()) break;
      changes.push_back(better->change);
      setup = better->setup;
    }
    return json::array();
  }

  const FitQuestion& question_;
  const Subject& subject_;
  const TrainingSpec& training_;
  const GpuModel& gpu_;
  const double correction_;
  const double margin_;
  TrainingSetup setup_;
};

json RowOn(const FitQuestion& question, const Subject& subject, const GpuModel& gpu,
           double correction) {
  const TrainingSpec& training = subject.stage.training;
  const auto impossible = [&](const std::string& why) -> json {
    return {{"gpu", gpu.id},
            {"gpu_name", gpu.display_name},
            {"gpu_memory_bytes", gpu.memory_bytes},
            {"fits", false},
            {"notes", {why}}};
  };
  const std::string why = WhyUnfit(question.spec, gpu);
  if (!why.empty()) return impossible(why);
  const auto precision = PrecisionOn(gpu, training, subject.fp16_is_safe);
  if (!precision) return impossible(precision.error().message);
  if (gpu.is_mig_slice && question.gpus_in_all > 1) {
    return impossible("MIG slices have no peer-to-peer: one slice a job");
  }
  return Fit(question, subject, gpu, *precision, correction).Row();
}

Result<json> StageJson(const FitQuestion& question, const Stage& stage) {
  const auto subject = SubjectOf(question, stage);
  if (!subject) return tl::unexpected<Error>(subject.error());
  const Result<void> measured = CheckMeasured(stage, question.catalogue);
  if (!measured) return tl::unexpected<Error>(measured.error());
  const double correction = subject->shape == nullptr
                                ? 1
                                : PeakCorrection(*subject->shape, stage.training,
                                                 subject->fp16_is_safe, question.catalogue);
  const TrainingSetup usual = SetupFrom(stage.training, "bf16", question.gpus_in_all);
  const double trained = subject->shape == nullptr ? 1 : TrainedParameters(*subject->shape, usual);
  if (trained <= 0) {
    return BadInput("lora.target_modules names no layer of this model, so nothing would be trained",
                    stage.pointer + "/training/lora/target_modules");
  }
  json answer = {
      {"name", stage.name}, {"model", subject->title}, {"gpus_in_all", question.gpus_in_all}};
  if (subject->shape != nullptr) {
    answer["parameters"] = std::llround(std::min(subject->shape->Parameters(), 9e18));
    answer["trained_parameters"] = std::llround(std::min(trained, 9e18));
    answer["assumed"] = AssumptionsOf(stage);
  }
  json rows = json::array();
  for (const GpuModel* gpu : question.gpus)
    rows.push_back(RowOn(question, *subject, *gpu, correction));
  if (question.tips && !rows.empty())
    answer["tips"] = FitTips(question, stage, rows[0], correction);
  answer["gpus"] = std::move(rows);
  return answer;
}

}  // namespace

Result<json> AnswerFit(const FitQuestion& question) {
  json stages = json::array();
  for (const Stage& stage : question.spec.stages) {
    auto answer = StageJson(question, stage);
    if (!answer) return answer;
    stages.push_back(std::move(*answer));
  }
  json answer = {{"name", question.spec.name}, {"stages", stages}};
  if (stages.size() == 1) {  // what there is one of lies at hand
    answer.update(stages[0]);
    answer["name"] = question.spec.name;
    if (question.gpus.size() == 1) answer.update(stages[0]["gpus"][0]);
  }
  return answer;
}

}  // namespace gpuadvise
