#include "client/script/training_length.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/training_sharding.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

class LengthAndBatch {
 public:
  LengthAndBatch(const ScriptHints& hints, const ScriptTraining& training, SectionWriter& out)
      : hints_(hints),
        training_(training),
        flags_(training.flags),
        layout_(training.layout),
        out_(out) {}

  void Write() {
    WriteLength();
    WriteBatch();
  }

 private:
  void WriteLength() {
    if (hints_.max_steps) {
      out_.Key("max_steps", std::to_string(*hints_.max_steps));
      return;
    }
    const FlagUse* epochs = flags_.Find("num_train_epochs");
    double count = 0;
    if (epochs != nullptr && epochs->value) count = std::atof(epochs->value->c_str());
    if (flags_.Number("max_steps")) {
      out_.WriteNumber("max_steps", flags_);
      if (count > 0) SayWhichLength(*epochs);
      return;
    }
    if (count > 0) {
      out_.Key("num_train_epochs", fmt::format("{:g}", count));
      out_.report.taken.push_back(
          fmt::format("{:g} {} ({})", count, count == 1 ? "epoch" : "epochs", epochs->spelling));
      const auto samples = hints_.num_samples ? hints_.num_samples : flags_.Number("num_samples");
      if (samples) {
        out_.Key("num_samples", std::to_string(*samples));
        if (!hints_.num_samples) SayWhereSamplesAreFrom(*flags_.Find("num_samples"));
        return;
      }
      out_.yaml += "  # num_samples: how many samples one epoch has\n";
      out_.report.missing.push_back(
          "number of samples in the data set: fill in num_samples, or give --num-samples N");
      return;
    }
    if (hints_.num_samples) {
      out_.Key("samples", std::to_string(*hints_.num_samples));
      return;
    }
    out_.yaml += "  # max_steps: how many optimizer steps\n";
    out_.report.missing.push_back(
        "length of the training: fill in max_steps (or num_train_epochs and num_samples), or give "
        "--max-steps N");
  }

  // Of steps and epochs Transformers takes the steps; Lightning ends with the first.
  void SayWhichLength(const FlagUse& epochs) {
    const std::string& name = epochs.spelling;
    const std::string both = fmt::format("{} {} and {} {}", Spelling("max_steps"),
                                         *flags_.Number("max_steps"), name, *epochs.value);
    if (name.ends_with("num_train_epochs") || name.ends_with("num-train-epochs")) {
      out_.report.taken.push_back(both + ": the steps win in Transformers");
    } else {
      out_.report.unclear.push_back(both +
                                    ": the steps are counted; where the epochs end first, write "
                                    "num_train_epochs and num_samples instead");
    }
  }

  void SayWhereSamplesAreFrom(const FlagUse& use) {
    out_.report.taken.push_back(fmt::format("num_samples {} ({})", use.raw, use.spelling));
    if (use.spelling.find("max") == std::string::npos) return;
    out_.report.unclear.push_back(fmt::format(
        "{} {} is a limit: where the data set is smaller, write its size as num_samples",
        use.spelling, use.raw));
  }

  // Keeps the effective batch of the script's GPUs; its split is open from now on.
  void WriteBatch() {
    const auto micro = flags_.Number("per_device_train_batch_size");
    const auto global = flags_.Number("effective_batch_size");
    const bool fixed_accumulation = !TakesAccumulation(flags_) && !global;
    const int64_t accumulation = flags_.accelerate_accumulation > 0
                                     ? flags_.accelerate_accumulation
                                     : flags_.Number("gradient_accumulation_steps").value_or(1);
    if (hints_.effective_batch_size) {
      out_.Key("effective_batch_size", std::to_string(*hints_.effective_batch_size));
    } else if (flags_.BatchIsInTokens()) {
      out_.report.batch_is_missing = true;
      out_.report.missing.push_back(
          fmt::format("{} {}: sounds like tokens, and stays; write effective_batch_size in samples",
                      Spelling("effective_batch_size"), *global));
    } else if (global) {
      out_.Key("effective_batch_size", std::to_string(*global));
      out_.report.taken.push_back(fmt::format("{} samples a step on all GPUs ({})", *global,
                                              Spelling("effective_batch_size")));
    } else if (micro && IsUnknown("gradient_accumulation_steps")) {
      out_.report.batch_is_missing = true;
      out_.yaml += "  # effective_batch_size: micro-batch × accumulation × GPUs, which is kept\n";
      const FlagUse* use = flags_.Find("gradient_accumulation_steps");
      out_.report.missing.push_back(
          fmt::format("the batch: {} {} has no value in the script; write effective_batch_size",
                      use->spelling, use->raw));
    } else if (micro && layout_.gpus() > 0) {
      // GPUs that share a sample make one copy of the model.
      const int64_t gpus = layout_.gpus();
      const int64_t shared = gpus % GpusOfCopy(flags_) == 0 ? GpusOfCopy(flags_) : 1;
      const int64_t copies = gpus / shared;
      const std::string product = fmt::format("{} × {} × {}", *micro, accumulation, copies);
      const std::string of_gpus =
          shared == 1 ? (gpus == 1 ? " GPU" : " GPUs")
                      : fmt::format(" copies ({} GPUs, {} to a copy)", gpus, shared);
      out_.Key("effective_batch_size",
               fmt::format("{}  # {}{} in the script", *micro * accumulation * copies, product,
                           of_gpus));
      out_.report.taken.push_back(fmt::format("batch {}{} = {} samples a step ({})", product,
                                              of_gpus, *micro * accumulation * copies,
                                              BatchSpellings()));
      if (IsPlainBatchName()) {
        out_.report.unclear.push_back(
            Spelling("per_device_train_batch_size") + " " + std::to_string(*micro) +
            fmt::format(": taken as the batch of one GPU; if it is that of all, "
                        "write effective_batch_size: {} and "
                        "{{effective_batch_size}} in its place",
                        *micro * accumulation));
      }
    } else if (micro) {
      out_.Key("per_device_train_batch_size", std::to_string(*micro));
      out_.Key("gradient_accumulation_steps", std::to_string(accumulation));
      out_.report.unclear.push_back(
          "number of GPUs of the script: the batch per GPU is kept, so the effective batch grows "
          "with the GPUs");
    } else {
      out_.yaml += "  # effective_batch_size: micro-batch × accumulation × GPUs, which is kept\n";
      out_.report.batch_is_missing = true;
      out_.report.missing.push_back(MissingBatch());
    }
    if (fixed_accumulation && micro && layout_.gpus() > 0) {
      out_.Key("gradient_accumulation_steps", std::to_string(accumulation));
      out_.report.unclear.push_back(
          "the command has no flag for gradient accumulation: counted as 1, and only GPU counts "
          "that divide the batch are advised; if the program accumulates by itself, write how "
          "often "
          "here and multiply effective_batch_size by it, and pass {accumulation} if it has a flag");
    }
  }

  // Whether a figure is given but unknown.
  bool IsUnknown(std::string_view setting) const {
    return flags_.Find(setting) != nullptr && !flags_.Number(setting);
  }

  bool IsPlainBatchName() const {
    std::string name = Spelling("per_device_train_batch_size");
    name = name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
    return layout_.gpus() > 1 &&
           IsOneOf(name, {"--batch-size", "--batch_size", "-b", "batch_size", "--bs", "--batch",
                          "--train_batch_size", "--train-batch-size"});
  }

  std::string MissingBatch() const {
    const FlagUse* use = flags_.Find("per_device_train_batch_size");
    if (use != nullptr && !use->value) {
      return fmt::format(
          "the batch: {} {} has no value in the script; write effective_batch_size, and if it is "
          "the batch of all GPUs {{effective_batch_size}} in place of {{micro_batch}}",
          use->spelling, use->raw);
    }
    if (!training_.config.path.empty() && !training_.config.is_read) {
      return fmt::format(
          "the batch: it is set in {}, which cannot be read here; write effective_batch_size, and "
          "let the command take {{micro_batch}} and {{accumulation}}",
          training_.config.path);
    }
    return "the batch: no flag gives it; write effective_batch_size, and pass {micro_batch} and "
           "{accumulation} in the command";
  }

  std::string Spelling(std::string_view setting) const {
    const FlagUse* use = flags_.Find(setting);
    return use == nullptr ? "" : use->spelling;
  }

  std::string BatchSpellings() const {
    std::vector<std::string> names;
    for (std::string_view setting : {"per_device_train_batch_size", "gradient_accumulation_steps",
                                     "gpus_per_node", "gpus", "nodes"}) {
      if (!Spelling(setting).empty()) names.push_back(Spelling(setting));
    }
    return Join(names, ", ");
  }

  const ScriptHints& hints_;
  const ScriptTraining& training_;
  const TrainingFlags& flags_;
  const ScriptLayout& layout_;
  SectionWriter& out_;
};

}  // namespace

void WriteLengthAndBatch(const ScriptHints& hints, const ScriptTraining& training,
                         SectionWriter& out) {
  LengthAndBatch(hints, training, out).Write();
}

}  // namespace gpuadvise::client
