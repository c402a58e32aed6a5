#include "common/plan/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "common/base/words.h"
#include "common/memory/activations.h"
#include "common/memory/batch_fit.h"
#include "common/memory/measured_memory.h"
#include "common/models/optimizer_bytes.h"
#include "common/plan/observed_batches.h"
#include "common/spec/stage_needs.h"
#include "common/time/step_time_model.h"

namespace gpuadvise {
namespace {

constexpr double kKeyValueBytes = 2;
constexpr double kForwardScores = 2;  // bytes per vocabulary entry and token: half-precision logits
constexpr double kLayerForward = 1.3;  // of a layer's training activations, while in work
constexpr std::array<int64_t, 6> kRanks = {128, 64, 32, 16, 8, 4};

// Forward-only use: scoring every token, or generating text.
enum class Forward { kScoring, kGenerating };

// Bytes of forward passes with `batch` samples: weights, a layer in work, and logits, or keys and
// values of the generated text (for an encoder-decoder also of the input).
double ForwardBytes(const ModelShape& model, TrainingSetup setup, int64_t batch, Forward forward) {
  if (setup.method != Method::kQlora) setup.method = Method::kLora;  // QLoRA's base has 4 bits
  setup.lora_rank = 1;
  setup.gpus = 1;
  setup.tensor_parallel = setup.pipeline_parallel = setup.context_parallel = 1;
  setup.trainer = Trainer::kSft;
  setup.zero_stage = 0;
  setup.deepspeed = false;
  setup.checkpointing = Checkpointing::kFull;
  setup.chunked_cross_entropy = true;
  setup.micro_batch = batch;
  const TextRow row = RowOfLayers(model, setup, InputTokens(model, setup));
  const double tokens = static_cast<double>(batch) * static_cast<double>(row.tokens);
  MemoryConstants constants;
  constants.layer_at_work = kLayerForward;
  constants.chunked_logits_bytes = constants.compiled_logits_bytes = kForwardScores;
  double bytes = PeakMemory(model, setup, constants).total();
  if (forward == Forward::kGenerating) {
    const auto layers = static_cast<double>(model.layers.num_hidden_layers);
    const double caches = model.encoder ? 1 + row.SeenPerToken() : 1;
    bytes += caches * 2 * kKeyValueBytes * layers * static_cast<double>(model.layers.key_size()) *
             tokens;
  } else if (model.lm_head) {
    bytes += 4 * static_cast<double>(model.vocab_size) * tokens;  // logits in fp32
  }
  return bytes;
}

// Memory per sample without training, relative to training. Both grow with the length, so the ratio
// hardly depends on it.
double ShareOfTraining(const ModelShape& model, TrainingSetup setup, Forward forward) {
  constexpr int64_t kMany = 512;  // large enough for a peak in the backward pass
  setup.micro_batch = kMany;
  const double some = PeakMemory(model, setup).total();
  setup.micro_batch = 2 * kMany;
  const double training = (PeakMemory(model, setup).total() - some) / kMany;
  const double sample =
      ForwardBytes(model, setup, 1, forward) - ForwardBytes(model, setup, 0, forward);
  return std::min(sample / training, 1.0);
}

// One stage on one GPU that can train it.
class RowCounter {
 public:
  RowCounter(const FitQuestion& question, const StageFit& subject, const GpuModel& gpu,
             Precision precision)
      : question_(question),
        subject_(subject),
        training_(subject.stage->training),
        gpu_(gpu),
        correction_(subject.correction),
        setup_(subject.shape != nullptr
                   ? SetupGivenMeasured(gpu, *subject.shape, training_, precision,
                                        question.gpus_in_all, question.catalogue)
                   : SetupFrom(training_, precision, question.gpus_in_all)),
        margin_(subject.shape != nullptr ? SafetyMargin(setup_, HasOwnPeak(training_))
                                         : kRecommendedMargin),
        seen_(BatchesSeenOn(gpu, training_, setup_, question.catalogue)) {}

  FitRow Count() {
    FitRow row;
    row.gpu = &gpu_;
    row.possible = true;
    row.margin = margin_;
    row.conservative = Largest(setup_, ConservativeMargin(margin_));
    row.recommended = Largest(setup_, margin_);
    row.aggressive = Largest(setup_, 0);
    const bool is_counted_to_fit = row.aggressive > 0;
    GoByWhatRan(row);
    ChooseBatch(row);
    row.setup = setup_;
    row.total_bytes = Bytes(setup_);
    row.range = {row.total_bytes, row.total_bytes};
    if (subject_.shape != nullptr) {
      const MemoryParts parts = PeakMemory(*subject_.shape, setup_);
      const double highest = correction_ * HighestBytes(parts, setup_);
      if (highest > row.total_bytes) row.highest_bytes = highest;
      row.range = RangeOfPeak(row.total_bytes, highest, setup_, HasOwnPeak(training_));
    }
    row.fits = setup_.micro_batch < seen_.ran_out &&
               (row.total_bytes <= Usable(0) || setup_.micro_batch <= ran_);
    if (subject_.shape != nullptr) NoteWhatIsAssumed(row);
    if (subject_.shape != nullptr) row.shape = CountShape(!is_counted_to_fit);
    row.eval = WithoutTraining(Forward::kScoring);
    row.inference = WithoutTraining(Forward::kGenerating);
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
    const double most = Usable(0) / correction_;
    return LargestMicroBatch(*subject_.shape, setup, Usable(margin) / correction_,
                             margin > 0 ? most : std::numeric_limits<double>::infinity());
  }

  // What ran is recommended as far as advise does so; what ran out of memory is not.
  void GoByWhatRan(FitRow& row) {
    const int64_t fixed = std::min(training_.micro_batch.value_or(0), row.aggressive);
    const int64_t wanted = std::max({row.recommended, fixed, question_.micro_batch.value_or(0)});
    if (wanted >= seen_.ran_out) row.notes.push_back(seen_.how_it_ran_out);
    if (seen_.ran > 0 && row.aggressive == 0) {
      row.notes.push_back(TimedAnyway(subject_.shape == nullptr));
    }
    const int64_t in_doubt = Largest(setup_, -kMemoryDoubt);
    if (IsTaken(seen_, row.recommended, row.aggressive, in_doubt))
      row.recommended = ran_ = seen_.ran;
    row.aggressive = std::max(row.aggressive, row.recommended);
    for (int64_t* largest : {&row.conservative, &row.recommended, &row.aggressive}) {
      *largest = std::min(*largest, seen_.ran_out - 1);
    }
  }

  void ChooseBatch(FitRow& row) {
    const std::optional<int64_t>& fixed = training_.micro_batch;
    int64_t largest = std::max<int64_t>(row.recommended, 1);
    if (row.recommended == 0 && row.aggressive > 0) {
      largest = LargestAtPeakOfOne(row.aggressive, [this](int64_t batch) {
        TrainingSetup setup = setup_;
        setup.micro_batch = batch;
        return Bytes(setup);
      });
    }
    // A batch that the user chose may use the margin, as in advise.
    if (fixed) largest = std::max(largest, std::min(*fixed, row.aggressive));
    setup_.micro_batch = question_.micro_batch.value_or(fixed.value_or(largest));
    if (!question_.micro_batch && row.aggressive > 0) {
      const auto plan = PlanBatch(training_, DataParallelGpus(setup_), largest);
      if (plan) {
        row.batch = *plan;
        setup_.micro_batch = plan->micro_batch;
      } else {
        row.notes.push_back(plan.error().message);
      }
      if (row.recommended == 0 && seen_.ran_out > 1) {
        row.notes.push_back("one sample fits, but only inside the safety margin");
      }
    }
    if (setup_.zero_stage > 0 && setup_.gpus == 1) {
      row.notes.push_back("ZeRO and FSDP shard nothing on one GPU");
    }
  }

  // Assumptions behind the computed memory, one sentence each.
  void NoteWhatIsAssumed(FitRow& row) const {
    const auto note = [&](std::string text) { row.notes.push_back(std::move(text)); };
    if (!LookUpOptimizerBytes(setup_.optim, false, 0).known) {
      note(fmt::format("unknown optim {}: computed with Adam's states, two numbers per parameter",
                       Quoted(setup_.optim)));
    }
    if (row.highest_bytes > 0) {
      note(fmt::format(
          "lengths vary: up to {:.1f} GiB may be reserved, which BATCH and SAFE allow for",
          row.highest_bytes / (1 << 30)));
    }
    if (setup_.trainer == Trainer::kGrpo || setup_.trainer == Trainer::kPpo) {
      note("not included: the texts that are generated, and whatever generates them on this GPU");
    }
    if (setup_.tensor_parallel > 1) {
      note(
          "tensor parallelism is counted with sequence parallelism, which splits the inputs of "
          "norms as well");
    }
    const int64_t share =
        setup_.tensor_parallel * setup_.pipeline_parallel * setup_.context_parallel;
    if (share > setup_.gpus || setup_.gpus % std::max<int64_t>(share, 1) != 0) {
      note(fmt::format("tensor × pipeline × context parallelism is {}, which does not divide {}",
                       share, Plural(setup_.gpus, "GPU")));
    }
  }

  ShapeFit CountShape(bool nothing_fits) const {
    ShapeFit fit;
    fit.memory = PeakMemory(*subject_.shape, setup_);
    if (setup_.method != Method::kFull) fit.lora_rank_that_fits = RankThatFits();
    fit.savings = Savings();
    if (nothing_fits) fit.would_fit_with = Ladder();
    return fit;
  }

  // Forward passes only. Computed if memory is computed. With a line: weights, the line's overhead,
  // and the likeness's forward share of its bytes per sample, which keeps the (unknown) lengths
  // behind the line.
  std::optional<ForwardFit> WithoutTraining(Forward forward) const {
    double fixed = 0;
    double sample = 0;
    if (subject_.shape != nullptr) {
      fixed = correction_ * ForwardBytes(*subject_.shape, setup_, 0, forward);
      sample = correction_ * ForwardBytes(*subject_.shape, setup_, 1, forward) - fixed;
    } else if (subject_.likeness) {
      const ModelShape& model = *subject_.likeness;
      TrainingSetup setup = setup_;
      if (model.vision) setup.images = training_.images_per_sample.value_or(1);
      const double number = NumberBytes(setup);
      fixed = number * model.Parameters() + static_cast<double>(subject_.line->overhead_bytes);
      sample = static_cast<double>(subject_.line->per_sample_bytes) *
               ShareOfTraining(model, setup, forward);
    } else {
      return {};
    }
    const double most = (Usable(margin_) - fixed) / std::max(sample, 1.0);
    const double batch = std::clamp(most, 0.0, static_cast<double>(kMaxModelledBatch));
    return ForwardFit{static_cast<int64_t>(batch), fixed + sample};
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

  // Changes that save memory, least harmful first.
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
    if (now.gpus > 1 && now.zero_stage < 3) {
      add("deepspeed: 3", "more communication between GPUs", [](TrainingSetup& s) {
        s.deepspeed = true;
        s.zero_stage = 3;
        if (s.method == Method::kFull) s.pure_half = false;  // it keeps them in float32 beside
      });
    }
    if (!now.pure_half && now.precision == Precision::kBf16 && !now.deepspeed &&
        now.method == Method::kFull) {
      add("pure_bf16: true", "small updates may be lost",
          [](TrainingSetup& s) { s.pure_half = true; });
    }
    if (now.optim.find("8bit") == std::string::npos && now.optim != "adafactor") {
      add("optim: adamw_8bit", "little", [](TrainingSetup& s) { s.optim = "adamw_8bit"; });
    }
    TrainingSetup adapted = now;
    adapted.method = Method::kLora;
    const bool can_be_adapted = TrainedParameters(*subject_.shape, adapted) > 0;
    if (now.method == Method::kFull && can_be_adapted) {
      add("method: lora", "another training: adapters only",
          [](TrainingSetup& s) { s.method = Method::kLora; });
    } else if (now.method == Method::kLora) {
      add("method: qlora", "slower, and the frozen weights are rounded to 4 bits",
          [](TrainingSetup& s) { s.method = Method::kQlora; });
    }
    AddMediaChanges(now, add);
    if (now.seq_length > 256 && subject_.shape->layers.num_hidden_layers > 0) {
      add(fmt::format("max_seq_length: {}", now.seq_length / 2), "longer texts are cut",
          [](TrainingSetup& s) { s.seq_length /= 2; });
    }
    if (now.offload == Offload::kNone && now.method == Method::kFull) {
      add("offload: optimizer", "several times slower steps",
          [](TrainingSetup& s) { s.offload = Offload::kOptimizer; });
    }
    return changes;
  }

  // For images and video.
  template <typename Add>
  void AddMediaChanges(const TrainingSetup& now, const Add& add) const {
    if (!subject_.shape->media) return;
    const MediaNetwork& network = *subject_.shape->media;
    constexpr int64_t kSmallPicture = 256;
    if (network.text_encoder_params > 0 && !now.media.cache_text_encoder_outputs) {
      add("cache_text_encoder_outputs: true", "a pass over the texts beforehand",
          [](TrainingSetup& s) { s.media.cache_text_encoder_outputs = true; });
    }
    if (network.vae_params > 0 && !now.media.cache_latents) {
      add("cache_latents: true", "a pass over the pictures beforehand, and fixed crops",
          [](TrainingSetup& s) { s.media.cache_latents = true; });
    }
    const int64_t side = ResolveSampleSize(network, now.media.size).resolution;
    if (side > kSmallPicture) {
      add(fmt::format("resolution: {}", side / 2), "smaller pictures",
          [side](TrainingSetup& s) { s.media.size.resolution = side / 2; });
    }
  }

  std::vector<Saving> Savings() const {
    constexpr double kWorth = 0.02;
    std::vector<Saving> savings;
    const double now = Bytes(setup_);
    for (const Change& each : ChangesOf(setup_)) {
      const double saved = now - Bytes(each.setup);
      if (saved < kWorth * now) continue;
      const double margin = SafetyMargin(each.setup, HasOwnPeak(training_));
      savings.push_back({each.change, each.cost, saved, Largest(each.setup, margin)});
    }
    return savings;
  }

  // Not another method, shorter texts, smaller pictures, or steps that take several times as long.
  static bool IsSameTraining(const std::string& change) {
    return !change.starts_with("method") && !change.starts_with("max_seq_length") &&
           !change.starts_with("resolution") && !change.starts_with("offload");
  }

  // The first change that is enough alone, else changes to make together. Empty: none fits.
  std::vector<std::string> Ladder() const {
    std::vector<std::string> changes;
    TrainingSetup setup = setup_;
    setup.micro_batch = 1;
    const auto fits = [this](const TrainingSetup& one) {
      return Bytes(one) <= Usable(SafetyMargin(one, HasOwnPeak(training_)));
    };
    if (fits(setup)) return {};
    for (const Change& each : ChangesOf(setup)) {
      if (IsSameTraining(each.change) && fits(each.setup)) return {each.change};
    }
    constexpr int kMostChanges = 12;
    for (int i = 0; i < kMostChanges; ++i) {
      const auto next = ChangesOf(setup);
      const auto better = std::find_if(next.begin(), next.end(), [&](const Change& each) {
        return Bytes(each.setup) < 0.98 * Bytes(setup);
      });
      if (better == next.end()) break;
      const std::string key = better->change.substr(0, better->change.find(':') + 1);
      std::erase_if(changes, [&](const std::string& each) { return each.starts_with(key); });
      changes.push_back(better->change);
      setup = better->setup;
      if (fits(setup)) return changes;
    }
    return {};
  }

  const FitQuestion& question_;
  const StageFit& subject_;
  const TrainingSpec& training_;
  const GpuModel& gpu_;
  const double correction_;
  TrainingSetup setup_;
  const double margin_;
  const ObservedBatches seen_;
  int64_t ran_ = 0;  // what is taken of it
};

// Whether memory can be counted; tips can be given in any case.
bool IsDescribed(const StageFit& subject) { return subject.shape != nullptr || subject.line; }

FitRow RowOn(const FitQuestion& question, const StageFit& subject, const GpuModel& gpu) {
  const auto impossible = [&](const std::string& why) {
    FitRow row;
    row.gpu = &gpu;
    row.notes = {why};
    return row;
  };
  const std::string why = WhyUnfit(question.spec, gpu);
  if (!why.empty()) return impossible(why);
  if (!IsDescribed(subject)) {
    return impossible("memory is not checked, because the file does not describe the model");
  }
  const auto precision = PrecisionOn(gpu, subject.stage->training, subject.fp16_is_safe);
  if (!precision) return impossible(precision.error().message);
  if (gpu.is_mig_slice && question.gpus_in_all > 1) {
    return impossible("MIG slices have no peer-to-peer, so one slice per job");
  }
  return RowCounter(question, subject, gpu, *precision).Count();
}

// Creates the stage without rows.
Result<StageFit> SubjectOf(const FitQuestion& question, const Stage& stage) {
  StageFit subject;
  subject.stage = &stage;
  subject.title = stage.model.preset;
  const auto found = question.presets.Require(stage.model.preset, stage.pointer + "/model/preset");
  if (!found) return tl::unexpected<Error>(found.error());
  const ModelPreset* preset = *found;
  if (preset != nullptr) subject.title = preset->title;
  Result<KnownModel> found_model = FindKnownModel(stage.model, preset);
  if (!found_model) {
    Error error = std::move(found_model.error());
    error.pointer = stage.pointer + error.pointer;
    return tl::unexpected<Error>(std::move(error));
  }
  const KnownModel& known = *found_model;
  if (known.changed && !subject.title.empty()) subject.title += ", with a shape of its own";
  subject.fp16_is_safe = known.fp16_is_safe;
  if (known.line != nullptr) subject.line = CorrectedLine(*known.line, stage);
  if (known.line == nullptr) subject.shape = known.shape;
  const double parameters = stage.model.params.value_or(preset != nullptr ? preset->params : 0);
  if (known.shape != nullptr) {
    subject.likeness = *known.shape;
    subject.likeness_is_own = true;
  } else if (parameters > 0) {
    subject.likeness = GenericTransformer(parameters);
  }
  if (!IsDescribed(subject) && !question.tips) {
    return BadInput(
        "the file does not describe the model: set model.preset, hf_config: config.json, "
        "hidden_size and the rest of its shape, or memory {base, per_sample, overhead}",
        stage.pointer + "/model");
  }
  return subject;
}

Result<StageFit> FitStage(const FitQuestion& question, const Stage& stage) {
  Result<StageFit> fit = SubjectOf(question, stage);
  if (!fit) return fit;
  const Result<void> measured = CheckMeasured(stage, question.catalogue);
  if (!measured) return tl::unexpected<Error>(measured.error());
  if (fit->shape != nullptr) {
    fit->correction =
        PeakCorrection(*fit->shape, stage.training, fit->fp16_is_safe, question.catalogue);
    const TrainingSetup usual = SetupFrom(stage.training, Precision::kBf16, question.gpus_in_all);
    fit->trained_parameters = TrainedParameters(*fit->shape, usual);
    const Result<void> targets = CheckTargetModules(*fit->shape, usual, stage.pointer);
    if (!targets) return tl::unexpected<Error>(targets.error());
  }
  for (const GpuModel* gpu : question.gpus) {
    if (question.budget != nullptr && question.budget->Spent()) {
      return tl::unexpected<Error>(question.budget->error());
    }
    fit->rows.push_back(RowOn(question, *fit, *gpu));
  }
  return fit;
}

}  // namespace

Result<std::vector<StageFit>> FitStages(const FitQuestion& question) {
  std::vector<StageFit> stages;
  for (const Stage& stage : question.spec.stages) {
    Result<StageFit> fit = FitStage(question, stage);
    if (!fit) return tl::unexpected<Error>(fit.error());
    stages.push_back(std::move(*fit));
  }
  return stages;
}

}  // namespace gpuadvise
