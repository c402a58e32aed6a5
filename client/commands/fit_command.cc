#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/commands/trace_command.h"
#include "client/models/built_in.h"
#include "client/questions/training_question.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "common/base/words.h"
#include "common/training/answer_fit.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kGib = 1 << 30;

std::string Gib(double bytes) { return fmt::format("{:.1f}", bytes / kGib); }

std::string Billions(double parameters) {
  if (parameters >= 1e9) return fmt::format("{:.2f} B", parameters / 1e9);
  return fmt::format("{:.{}f} M", parameters / 1e6, parameters < 1e7 ? 1 : 0);
}

std::string CountOf(const json& row, const char* key) {
  const auto count = OptionalNumber(row, key);
  return count ? fmt::format("{:.0f}", *count) : "–";
}

AnswerColumn BatchColumn(const char* header, const char* bound) {
  return {header, Align::kRight,
          [bound](const json& row) { return CountOf(ObjectOf(row, "max_micro_batch"), bound); }};
}

AnswerColumn NumberColumn(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) { return CountOf(row, key); }};
}

std::string PeakOf(const json& row) {
  const double bytes = NumberOf(ObjectOf(row, "memory"), "total_bytes");
  return bytes > 0 ? Gib(bytes) : "–";
}

std::string CheckpointingOf(const json& row) {
  const json& settings = ObjectOf(row, "settings");
  const auto found = settings.find("gradient_checkpointing");
  if (found == settings.end()) return "–";
  if (found->is_string()) return found->get<std::string>();
  return found->get<bool>() ? "on" : "off";
}

std::vector<AnswerColumn> FitColumns() {
  return {{"GPU", Align::kLeft, [](const json& row) { return TextOf(row, "gpu_name"); }},
          {"GiB", Align::kRight,
           [](const json& row) {
             return fmt::format("{:.0f}", NumberOf(row, "gpu_memory_bytes") / kGib);
           }},
          BatchColumn("SAFE", "conservative"),
          BatchColumn("BATCH", "recommended"),
          BatchColumn("MAX", "aggressive"),
          {"USED", Align::kLeft,
           [](const json& row) {
             const auto accumulation = OptionalNumber(row, "accumulation");
             return CountOf(row, "micro_batch") +
                    (accumulation ? fmt::format("×{:.0f}={}", *accumulation,
                                                CountOf(row, "effective_batch_size"))
                                  : "");
           }},
          {"PEAK", Align::kRight, PeakOf},
          {"AS", Align::kLeft,
           [](const json& row) { return TextOf(ObjectOf(row, "settings"), "precision"); }},
          {"CKPT", Align::kLeft, CheckpointingOf},
          NumberColumn("EVAL", "eval_micro_batch"),
          NumberColumn("INFER", "inference_batch"),
          NumberColumn("RANK", "lora_rank_that_fits")};
}

// "  weights       11.9 GiB  ██████████": one GPU's memory.
std::string PartsText(const json& row, const TerminalStyle& style) {
  static constexpr std::pair<const char*, const char*> kParts[] = {
      {"weights", "weights_bytes"},
      {"gradients", "gradients_bytes"},
      {"optimizer states", "optimizer_bytes"},
      {"activations", "activations_bytes"},
      {"logits", "logits_bytes"},
      {"workspace", "workspace_bytes"},
      {"framework", "framework_bytes"}};
  const json& memory = ObjectOf(row, "memory");
  const double total = NumberOf(memory, "total_bytes");
  std::string text = fmt::format("\n{} with micro-batch {}: {} GiB of {}{}\n",
                                 TextOf(row, "gpu_name"), CountOf(row, "micro_batch"), Gib(total),
                                 fmt::format("{:.0f}", NumberOf(row, "gpu_memory_bytes") / kGib),
                                 row.value("fits", false) ? "" : " — does not fit");
  const int bar = std::clamp(style.width - 34, 8, 40);
  for (const auto& [name, key] : kParts) {
    const auto bytes = OptionalNumber(memory, key);
    if (!bytes || *bytes <= 0) continue;
    std::string line = fmt::format("  {:<17}{:>6} GiB  ", name, Gib(*bytes));
    const auto marks = static_cast<int>(std::lround(bar * *bytes / std::max(total, 1.0)));
    for (int i = 0; i < std::max(marks, 1); ++i) line += "▪";
    text += line + "\n";
  }
  if (const std::string where = TextOf(memory, "peak_in"); !where.empty()) {
    text += fmt::format("  the peak is in the {}\n", where);
  }
  return text;
}

std::string SavingsText(const json& row, const TerminalStyle& style) {
  std::string text;
  for (const json& saving : ListOf(row, "savings")) {
    const std::string line =
        fmt::format("{} saves {} GiB (batch {}); costs: {}", TextOf(saving, "change"),
                    Gib(NumberOf(saving, "saves_bytes")), CountOf(saving, "max_micro_batch"),
                    TextOf(saving, "costs"));
    for (const std::string& part : Wrapped(line, style.width - 2)) text += "  " + part + "\n";
  }
  return text.empty() ? "" : "\nWays to save memory:\n" + text;
}

std::string NotesText(const json& row, const TerminalStyle& style) {
  std::string text;
  const auto add = [&](const std::string& note) {
    for (const std::string& line : Wrapped(TextOf(row, "gpu_name") + ": " + note, style.width)) {
      text += line + "\n";
    }
  };
  for (const std::string& note : TextsOf(row, "notes")) add(note);
  if (row.contains("would_fit_with")) {
    std::string changes;
    for (const std::string& change : TextsOf(row, "would_fit_with")) {
      changes += (changes.empty() ? "" : ", then ") + change;
    }
    add(changes.empty() ? "no known setting makes it fit"
                        : "not even one sample fits; it would with " + changes);
  }
  return text;
}

std::string StageText(const json& stage, const TerminalStyle& style) {
  std::string title = TextOf(stage, "model").empty() ? "the model" : TextOf(stage, "model");
  if (stage.contains("parameters")) {
    title += fmt::format(" · {} parameters, {} trained", Billions(NumberOf(stage, "parameters")),
                         Billions(NumberOf(stage, "trained_parameters")));
  }
  title += " · " + Plural(IntOf(stage, "gpus_in_all"), "GPU") + " a job";
  std::string text = Clipped(title, style.width) + "\n\n";
  const json& rows = ListOf(stage, "gpus");
  text += AnswerTable(rows, FitColumns(), 7, style);
  for (const json& row : rows) text += NotesText(row, style);
  if (rows.size() == 1 && rows[0].contains("memory")) {
    text += PartsText(rows[0], style) + SavingsText(rows[0], style);
  }
  for (const std::string& assumed : TextsOf(stage, "assumed")) {
    text += Indented(AssumedLine(assumed), 0, style.width);
  }
  if (!rows.empty() && rows[0].contains("margin")) {
    const std::string legend = fmt::format(
        "PEAK in GiB. BATCH keeps {0:.0f} % of memory free, SAFE twice that, MAX nothing.",
        100 * NumberOf(rows[0], "margin"));
    text += "\n" + Indented(legend, 0, style.width);
  }
  return text;
}

constexpr int kTipIndent = 4;

// "  · text", further lines under the text.
std::string TipEntry(const std::string& text, const TerminalStyle& style) {
  return "  · " + Indented(text, kTipIndent, style.width).substr(kTipIndent);
}

std::string EffectText(const json& tip, const TerminalStyle& style) {
  const std::string effect = TextOf(tip, "effect");
  if (effect.empty()) return {};
  const std::string source = TextOf(tip, "effect_source");
  const std::string behind = source.empty() ? "" : " (" + source + ")";
  return Indented("Effect: " + effect + behind, kTipIndent, style.width);
}

// The tips of one stage of the answer: those that apply with their effect, then the others with the
// reason why not; "" where it has none.
std::string TipsText(const json& stage, const TerminalStyle& style) {
  std::string here;
  std::string not_here;
  for (const json& tip : ListOf(stage, "tips")) {
    if (tip.value("applies", false)) {
      here += TipEntry(TextOf(tip, "text"), style) + EffectText(tip, style);
    } else {
      not_here += TipEntry(TextOf(tip, "name") + ": " + TextOf(tip, "why_not"), style);
    }
  }
  const json& rows = ListOf(stage, "gpus");
  const std::string gpu = rows.empty() ? "" : " for " + TextOf(rows[0], "gpu_name");
  std::string text;
  if (!here.empty()) text += "\nTips" + gpu + ":\n" + here;
  if (!not_here.empty()) text += "\nDoes not apply:\n" + not_here;
  return text;
}

// A file or a model that is named, or what a trace has found.
Result<TrainingQuestion> QuestionOf(const FitCommand& command, std::optional<TracedMemory>& traced,
                                    Api& api, Console& console) {
  if (!command.trace) {
    return TrainingQuestion::Load(command.source, RunLength::kOptional, api, console.now());
  }
  Result<TracedTraining> training = TraceTraining(command, console);
  if (!training) return tl::unexpected<Error>(std::move(training.error()));
  Result<ModelPresets> presets = KnownPresets(command.source.own.models_file);
  if (!presets) return tl::unexpected<Error>(std::move(presets.error()));
  traced = std::move(training->memory);
  return TrainingQuestion::Of(std::move(training->file), std::move(*presets), command.source.gpus,
                              command.source.own.gpus_file, RunLength::kOptional, api);
}

}  // namespace

int RunFit(const FitCommand& command, Api& api, Console& console) {
  std::optional<TracedMemory> traced;
  const Result<TrainingQuestion> training = QuestionOf(command, traced, api, console);
  if (!training) return Report(training.error(), console);
  for (const std::string& note : training->notes) console.Complain(Printable(note));
  const FitQuestion question{training->spec, training->presets,   *training->catalogue,
                             training->gpus, command.gpus_in_all, command.micro_batch,
                             command.tips};
  Result<json> answer = AnswerFit(question);
  if (!answer) return Report(training->Placed(answer.error()), console);
  if (!training->gpu_notes.empty()) (*answer)["gpu_notes"] = training->gpu_notes;
  if (traced) AddTrace(*traced, *answer);
  if (command.json) {
    PrintJson(*answer, console);
    return kExitOk;
  }
  std::string text;
  for (const json& stage : ListOf(*answer, "stages")) {
    const std::string name =
        TextOf(stage, "name").empty() ? TextOf(*answer, "name") : TextOf(stage, "name");
    text += (text.empty() ? "" : "\n") + name + ": " + StageText(stage, console.style()) +
            TipsText(stage, console.style());
  }
  for (const std::string& note : training->gpu_notes) {
    text += Indented("Note: " + note + ".", 0, console.style().width);
  }
  if (traced) text += TraceText(*traced, console.style());
  console.Print(text);
  return kExitOk;
}

}  // namespace gpuadvise::client
