#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/setting_flags.h"
#include "client/commands/shared_options.h"
#include "client/commands/trace_command.h"
#include "client/models/built_in.h"
#include "client/preflight/hub_login.h"
#include "client/questions/training_question.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/plan/answer_fit.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kFitFooter =
    "\nExamples:\n"
    "  gpuadvise fit train.yaml --gpu l40s\n"
    "  gpuadvise fit llama-3.1-8b --method lora --seq 2048 --gpu l40s\n"
    "  gpuadvise fit --trace -- python train.py --batch-size {micro_batch}\n";

struct FitCommand {
  TrainingSource source;
  bool trace = false;
  TraceWishes wishes;                  // of the trace
  int64_t gpus_in_all = 1;             // of one job
  std::optional<int64_t> micro_batch;  // show this one
  bool tips = false;                   // all of them, for the first GPU
  SettingFlags flags;                  // `settings` of the source
};

using FitRow = api::FitGpu;
using FitFigures = api::FitFigures;

double InGib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

std::string Gib(int64_t bytes) { return fmt::format("{:.1f}", InGib(bytes)); }

std::string Billions(int64_t parameters) {
  const auto number = static_cast<double>(parameters);
  if (number >= 1e9) return fmt::format("{:.2f} B", number / 1e9);
  return fmt::format("{:.{}f} M", number / 1e6, number < 1e7 ? 1 : 0);
}

std::string CountCell(std::optional<int64_t> count) { return count ? std::to_string(*count) : "–"; }

// What `cell` makes of the figures; "–" for a GPU without any.
ColumnOf<FitRow> FitColumn(const char* header, Align align,
                           std::function<std::string(const FitFigures&)> cell) {
  return {header, align, [cell = std::move(cell)](const FitRow& row) {
            return row.figures ? cell(*row.figures) : std::string("–");
          }};
}

ColumnOf<FitRow> BatchColumn(const char* header, int64_t api::MicroBatches::*bound) {
  return FitColumn(header, Align::kRight, [bound](const FitFigures& figures) {
    return std::to_string(figures.max_micro_batch.*bound);
  });
}

ColumnOf<FitRow> NumberColumn(const char* header, std::optional<int64_t> FitFigures::*member) {
  return FitColumn(header, Align::kRight,
                   [member](const FitFigures& figures) { return CountCell(figures.*member); });
}

std::string UsedCell(const FitFigures& figures) {
  if (!figures.accumulation) return std::to_string(figures.micro_batch);
  return fmt::format("{}×{}={}", figures.micro_batch, *figures.accumulation,
                     CountCell(figures.effective_batch_size));
}

// "17–21", or below 10 GiB "7.1–8.9".
std::string GibRange(const api::MemoryUse& memory) {
  const double low = InGib(memory.low_bytes.value_or(memory.total_bytes));
  const double high = InGib(memory.high_bytes.value_or(memory.total_bytes));
  return high < 10 ? fmt::format("{:.1f}–{:.1f}", low, high)
                   : fmt::format("{:.0f}–{:.0f}", low, high);
}

std::string PeakCell(const FitFigures& figures) {
  const api::MemoryUse& memory = figures.memory;
  if (memory.total_bytes <= 0) return "–";
  return memory.high_bytes ? GibRange(memory) : Gib(memory.total_bytes);
}

std::string CheckpointingCell(const FitFigures& figures) {
  const json& setting = figures.settings.gradient_checkpointing;
  if (setting.is_boolean()) return setting.get<bool>() ? "on" : "off";
  return setting.is_string() ? setting.get<std::string>() : "–";
}

std::vector<ColumnOf<FitRow>> FitColumns() {
  using Bounds = api::MicroBatches;
  return {MemberColumn("GPU", Align::kLeft, &FitRow::gpu_name, std::identity()),
          MemberColumn("GiB", Align::kRight, &FitRow::gpu_memory_bytes,
                       [](int64_t bytes) { return fmt::format("{:.0f}", InGib(bytes)); }),
          BatchColumn("SAFE", &Bounds::conservative),
          BatchColumn("BATCH", &Bounds::recommended),
          BatchColumn("MAX", &Bounds::aggressive),
          FitColumn("USED", Align::kLeft, UsedCell),
          FitColumn("PEAK", Align::kRight, PeakCell),
          {"AS", Align::kLeft,
           [](const FitRow& row) { return row.figures ? row.figures->settings.precision : ""; }},
          FitColumn("CKPT", Align::kLeft, CheckpointingCell),
          NumberColumn("EVAL", &FitFigures::eval_micro_batch),
          NumberColumn("INFER", &FitFigures::inference_batch),
          NumberColumn("RANK", &FitFigures::lora_rank_that_fits)};
}

// "  weights       11.9 GiB  ██████████": one GPU's memory.
std::string PartsText(const FitRow& row, const TerminalStyle& style) {
  const api::MemoryUse& memory = row.figures->memory;
  const std::pair<const char*, std::optional<int64_t>> parts[] = {
      {"weights", memory.weights_bytes},
      {"gradients", memory.gradients_bytes},
      {"optimizer states", memory.optimizer_bytes},
      {"activations", memory.activations_bytes},
      {"logits", memory.logits_bytes},
      {"workspace", memory.workspace_bytes},
      {"framework", memory.framework_bytes}};
  std::string text =
      fmt::format("\n{} with micro-batch {}: {} GiB of {:.0f}{}{}\n", row.gpu_name,
                  row.figures->micro_batch, Gib(memory.total_bytes), InGib(row.gpu_memory_bytes),
                  memory.high_bytes ? fmt::format(" ({})", GibRange(memory)) : "",
                  row.fits ? "" : " — does not fit");
  const int bar = std::clamp(style.width - 34, 8, 40);
  const auto total = static_cast<double>(std::max<int64_t>(memory.total_bytes, 1));
  for (const auto& [name, bytes] : parts) {
    if (bytes.value_or(0) <= 0) continue;
    std::string line = fmt::format("  {:<17}{:>6} GiB  ", name, Gib(*bytes));
    const auto marks = std::lround(bar * static_cast<double>(*bytes) / total);
    for (int64_t i = 0; i < std::max<int64_t>(marks, 1); ++i) line += "▪";
    text += line + "\n";
  }
  if (!memory.peak_in.empty()) text += fmt::format("  the peak is in the {}\n", memory.peak_in);
  return text;
}

std::string SavingsText(const FitFigures& figures, const TerminalStyle& style) {
  std::string text;
  for (const api::MemorySaving& saving :
       figures.savings.value_or(std::vector<api::MemorySaving>())) {
    const std::string line =
        fmt::format("{} saves {} GiB (batch {}); costs: {}", saving.change, Gib(saving.saves_bytes),
                    saving.max_micro_batch, saving.costs);
    for (const std::string& part : Wrapped(line, style.width - 2)) text += "  " + part + "\n";
  }
  return text.empty() ? "" : "\nWays to save memory:\n" + text;
}

std::string NotesText(const FitRow& row, const TerminalStyle& style) {
  std::string text;
  const auto add = [&](const std::string& note) {
    for (const std::string& line : Wrapped(row.gpu_name + ": " + note, style.width)) {
      text += line + "\n";
    }
  };
  for (const std::string& note : row.notes) add(note);
  if (row.figures && row.figures->would_fit_with) {
    const std::string changes = JoinNames(*row.figures->would_fit_with);
    add(changes.empty() ? "no known setting makes it fit"
                        : "not even one sample fits; it would with " + changes);
  }
  return text;
}

std::string StageText(const api::FitModel& stage, const TerminalStyle& style) {
  std::string title = stage.model.empty() ? "the model" : stage.model;
  if (stage.parameters) {
    title += fmt::format(" · {} parameters, {} trained", Billions(*stage.parameters),
                         Billions(stage.trained_parameters.value_or(0)));
  }
  title += " · " + Plural(stage.gpus_in_all, "GPU") + " a job";
  std::string text = Clipped(title, style.width) + "\n\n";
  const std::vector<FitRow>& rows = stage.gpus;
  text += AnswerTable(rows, FitColumns(), 7, style);
  for (const FitRow& row : rows) text += NotesText(row, style);
  if (rows.size() == 1 && rows[0].figures) {
    text += PartsText(rows[0], style) + SavingsText(*rows[0].figures, style);
  }
  for (const std::string& assumed : stage.assumed.value_or(std::vector<std::string>())) {
    text += Indented(AssumedLine(assumed), 0, style.width);
  }
  if (!rows.empty() && rows[0].figures) {
    const std::string legend = fmt::format(
        "PEAK in GiB{}. BATCH keeps {:.0f} % of memory free, SAFE twice that, MAX nothing.",
        rows[0].figures->memory.high_bytes ? ", from the 10th to the 90th percentile" : "",
        100 * rows[0].figures->margin);
    text += "\n" + Indented(legend, 0, style.width);
  }
  return text;
}

constexpr int kTipIndent = 4;

// "  · text", further lines under the text.
std::string TipEntry(const std::string& text, const TerminalStyle& style) {
  return "  · " + Indented(text, kTipIndent, style.width).substr(kTipIndent);
}

std::string EffectText(const api::Tip& tip, const TerminalStyle& style) {
  if (tip.effect.empty()) return {};
  const std::string behind = tip.effect_source.empty() ? "" : " (" + tip.effect_source + ")";
  return Indented("Effect: " + tip.effect + behind, kTipIndent, style.width);
}

// The tips of one stage: those that apply with their effect, then the others with the reason why
// not. "" without tips.
std::string TipsText(const api::FitModel& stage, const TerminalStyle& style) {
  std::string here;
  std::string not_here;
  for (const api::Tip& tip : stage.tips) {
    if (tip.applies) {
      here += TipEntry(tip.text, style) + EffectText(tip, style);
    } else {
      not_here += TipEntry(tip.name + ": " + tip.why_not, style);
    }
  }
  const std::string gpu = stage.gpus.empty() ? "" : " for " + stage.gpus[0].gpu_name;
  std::string text;
  if (!here.empty()) text += "\nTips" + gpu + ":\n" + here;
  if (!not_here.empty()) text += "\nDoes not apply:\n" + not_here;
  return text;
}

std::string FitText(const api::Fit& fit, const std::optional<TracedMemory>& traced,
                    const TerminalStyle& style) {
  std::string text;
  for (const api::FitStage& stage : fit.stages) {
    text += (text.empty() ? "" : "\n") + (stage.name.empty() ? fit.name : stage.name) + ": " +
            StageText(stage.fit, style) + TipsText(stage.fit, style);
  }
  for (const std::string& note : fit.gpu_notes) {
    text += Indented("Note: " + note + ".", 0, style.width);
  }
  return traced ? text + TraceText(*traced, style) : text;
}

// A file or a model that is named, or what a trace has found.
Result<TrainingQuestion> QuestionOf(const FitCommand& command, std::optional<TracedMemory>& traced,
                                    Api& api, Console& console) {
  if (!command.trace) return LoadQuestion(command.source, RunLength::kOptional, api, console);
  Result<TracedTraining> training = TraceTraining(command.source, command.wishes, console);
  if (!training) return tl::unexpected<Error>(std::move(training.error()));
  Result<ModelPresets> presets = KnownPresets(command.source.own.models_file);
  if (!presets) return tl::unexpected<Error>(std::move(presets.error()));
  traced = std::move(training->memory);
  return TrainingQuestion::Of(std::move(training->file), std::move(*presets), command.source.gpus,
                              command.source.own.gpus_file, RunLength::kOptional, api);
}

int Run(FitCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  FillFrom(context.settings.own, command.source.own);
  command.source.hub_cache = LookForHubLogin(context.environment).cache;
  std::optional<TracedMemory> traced;
  const Result<TrainingQuestion> training = QuestionOf(command, traced, api, console);
  if (!training) return Report(training.error(), console);
  for (const std::string& note : training->notes) console.Complain(Printable(note));
  const FitQuestion question{training->spec, training->presets,   *training->catalogue,
                             training->gpus, command.gpus_in_all, command.micro_batch,
                             command.tips};
  Result<api::Fit> fit = AnswerFit(question);
  if (!fit) return Report(training->Placed(fit.error()), console);
  fit->gpu_notes = training->gpu_notes;
  json answer = ToJson(*fit);
  if (traced) AddTrace(*traced, answer);
  return PrintAnswer<api::Fit>(answer, console, [&](const auto& shown, const auto& style) {
    return FitText(shown, traced, style);
  });
}

void AddTraceOptions(FitCommand& command, Options& options) {
  TraceWishes& wishes = command.wishes;
  CLI::Option* const trace = options.Flag(
      "--trace", command.trace, "Count memory by running the script without data: -- COMMAND …");
  for (CLI::Option* const each :
       {options.Value("--python PATH", wishes.python,
                      "Python that runs the script (default: the command's own)"),
        options.Number("--trace-minutes N", wishes.minutes, 0.02, 1'440,
                       "Time limit of a run in minutes (default 5)"),
        options.Number("--trace-memory GIB", wishes.memory_gib, 1, 4'096,
                       "Memory that the script may use, in GiB (default 16)")}) {
    each->needs(trace)->group("With --trace");
  }
}

void AddOptions(FitCommand& command, Options& options) {
  AddTrainingSource(options, command.source);
  AddTraceOptions(command, options);
  options.Value("--gpu NAME", command.source.gpus, "Only this GPU; it need not be in the cluster");
  options.Number("-G,--gpus N", command.gpus_in_all, 1, 1e5, "GPUs per job (default 1)");
  options.Number("--micro-batch,--batch N", command.micro_batch, 1, 1e6, "Show this micro-batch");
  options.Flag("--tips", command.tips,
               "Show all tips for the first GPU, and why some do not apply");
  command.flags.AddTo(options);
  options.JsonAndPlace();
  options.Footer(kFitFooter);
}

// What follows `--`: the command to trace, else FILE.
Result<void> Take(FitCommand& command, const std::vector<std::string>& words) {
  command.source.settings = command.flags.Given();
  std::string& file = command.source.file;
  if (!command.trace) {
    for (const std::string& word : words) {
      if (!file.empty()) return BadInput("The following argument was not expected: " + word);
      file = word;
    }
    return file.empty() ? BadInput("FILE|MODEL is required") : Result<void>();
  }
  if (file.empty() && words.empty()) {
    return BadInput(
        "--trace needs the command: -- python train.py ARGS, or a train.yaml or job script that "
        "has one");
  }
  if (!file.empty() && !words.empty()) {
    return BadInput("FILE and a command after -- cannot be combined");
  }
  command.wishes.command = words;
  return {};
}

}  // namespace

Command MakeFitCommand() {
  return MakeCommand<FitCommand>("fit",
                                 "What fits on which GPU: batch, memory by part, ways to save",
                                 AddOptions, Run, Take, ForeignWords::kAfterDashes);
}

}  // namespace gpuadvise::client
