#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/questions/training_question.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "common/base/date_time.h"
#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/training/answer_scale.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr double kBitsPerByte = 8;
constexpr size_t kMostDays = 20;

std::string Hours(double hours) {
  if (hours >= 100) return Grouped(std::llround(hours));
  return fmt::format("{:.1f}", hours);
}

std::string HoursOf(const json& row, const char* key) {
  const auto hours = OptionalNumber(row, key);
  return hours ? Hours(*hours) : "–";
}

AnswerColumn Number(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) { return HoursOf(row, key); }};
}

std::string Paragraph(const std::string& text, const TerminalStyle& style) {
  return Indented(text, 0, style.width);
}

// "16×1 (16)", the stages one after the other where they differ.
std::string BatchesOf(const json& row) {
  std::string text;
  for (const json& stage : ListOf(row, "stages")) {
    const std::string one =
        fmt::format("{}×{} ({})", IntOf(stage, "micro_batch"), IntOf(stage, "accumulation"),
                    IntOf(stage, "effective_batch_size")) +
        (stage.value("gradient_checkpointing_chosen", false) ? " ckpt" : "");
    if (text == one) continue;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

// "1, 2 GPUs: one sample takes 54 GB, the GPU has 24 GB": what cannot run, each reason once.
std::string ImpossibleText(const json& rows, const TerminalStyle& style) {
  std::vector<std::pair<std::string, std::string>> counts_of;  // reason, "1, 2"
  for (const json& row : rows) {
    const std::string reason = TextOf(row, "reason");
    if (reason.empty()) continue;
    const std::string count = std::to_string(IntOf(row, "gpus"));
    const auto same = std::find_if(counts_of.begin(), counts_of.end(),
                                   [&](const auto& each) { return each.first == reason; });
    if (same == counts_of.end()) {
      counts_of.emplace_back(reason, count);
    } else {
      same->second += ", " + count;
    }
  }
  std::string text;
  for (const auto& [reason, counts] : counts_of) {
    text +=
        Paragraph(fmt::format("{} {}: {}", counts, counts == "1" ? "GPU" : "GPUs", reason), style);
  }
  return text;
}

std::vector<AnswerColumn> ScaleColumns(int64_t recommended) {
  return {{"", Align::kLeft,
           [recommended](const json& row) {
             return IntOf(row, "gpus") == recommended ? std::string("*") : std::string();
           }},
          {"GPUS", Align::kRight,
           [](const json& row) {
             const int64_t nodes = IntOf(row, "nodes");
             const int64_t gpus = IntOf(row, "gpus_per_node");
             return nodes > 1 ? fmt::format("{}×{}", nodes, gpus) : std::to_string(gpus);
           }},
          Number("HOURS", "hours"),
          {"P90", Align::kRight,
           [](const json& row) {
             const auto seconds = OptionalNumber(row, "run_p90_seconds");
             return seconds ? Hours(*seconds / kHourSeconds) : "–";
           }},
          Number("COST", "cost"),
          {"EFF", Align::kRight,
           [](const json& row) {
             const auto share = OptionalNumber(row, "efficiency");
             return share ? fmt::format("{:.0f} %", 100 * *share) : "–";
           }},
          Number("GPU-H", "gpu_hours"),
          Number("KWH", "energy_kwh"),
          {"BATCH×ACC (EFFECTIVE)", Align::kLeft, BatchesOf}};
}

std::vector<AnswerColumn> ColumnsWith(const json& rows, int64_t recommended) {
  std::vector<AnswerColumn> columns = ScaleColumns(recommended);
  const auto lacks = [&](const AnswerColumn& column) {
    return (column.header == "COST" || column.header == "KWH") &&
           std::all_of(rows.begin(), rows.end(),
                       [&](const json& row) { return column.cell(row) == "–"; });
  };
  columns.erase(std::remove_if(columns.begin(), columns.end(), lacks), columns.end());
  return columns;
}

const json* RecommendedRow(const json& curve) {
  const int64_t gpus = IntOf(ObjectOf(curve, "recommended"), "gpus");
  for (const json& row : ListOf(curve, "steps")) {
    if (IntOf(row, "gpus") == gpus && row.value("runs", false)) return &row;
  }
  return nullptr;
}

std::string WhyText(const json& curve, const TerminalStyle& style) {
  const json& recommended = ObjectOf(curve, "recommended");
  const int64_t gpus = IntOf(recommended, "gpus");
  if (gpus == 0) return "None of these can run it.\n";
  const std::string beyond = TextOf(recommended, "beyond");
  return Paragraph(fmt::format("* {} {}: {}.", gpus, gpus == 1 ? "GPU" : "GPUs",
                               TextOf(recommended, "why")),
                   style) +
         Paragraph("Why not more: " + TextOf(recommended, "why_not_more") + ".", style) +
         (beyond.empty() ? "" : Paragraph("Beyond " + beyond + ".", style));
}

std::string StagesText(const json& row, const TerminalStyle& style) {
  std::string text;
  for (const json& stage : ListOf(row, "stages")) {
    const std::string name = TextOf(stage, "name");
    std::string line =
        fmt::format("{}{} h, {} steps of {:.2f} s, {}", name.empty() ? "" : name + ": ",
                    HoursOf(stage, "hours"), Grouped(IntOf(stage, "steps")),
                    NumberOf(stage, "seconds_per_step"), TextOf(stage, "precision"));
    const double bytes = NumberOf(stage, "memory_bytes");
    if (bytes > 0) line += fmt::format(", {:.1f} GiB a GPU", bytes / (1 << 30));
    if (!stage.value("memory_checked", true)) line += ", memory not checked";
    if (stage.value("gradient_checkpointing_chosen", false)) line += ", checkpointing";
    text += Paragraph(line + "; " + TextOf(stage, "basis"), style);
    const std::string disagreement = TextOf(stage, "disagreement");
    if (!disagreement.empty()) text += Paragraph("Note: " + disagreement + ".", style);
  }
  return text;
}

std::string ScheduleText(const json& curve) {
  const json& days = ListOf(ObjectOf(curve, "recommended"), "schedule");
  if (days.size() < 2 || IntOf(days.back(), "last_day") < 2) return "";
  std::string text = "\nDAY    TASK              HOURS\n";
  for (size_t i = 0; i < days.size() && i < kMostDays; ++i) {
    const int64_t first = IntOf(days[i], "first_day");
    const int64_t last = IntOf(days[i], "last_day");
    const std::string when =
        first == last ? std::to_string(first) : fmt::format("{}–{}", first, last);
    const std::string each = first == last ? "" : " each";
    const double hours = NumberOf(days[i], "hours");
    std::string task = Clipped(Printable(TextOf(days[i], "task")), 16);
    task += std::string(static_cast<size_t>(std::max(0, 16 - DisplayWidth(task))), ' ');
    const std::string day =
        when + std::string(static_cast<size_t>(std::max(0, 6 - DisplayWidth(when))), ' ');
    text += fmt::format("{} {} {:>6.1f}{}\n", day, task, hours, each);
  }
  if (days.size() > kMostDays) text += fmt::format("… and {} more\n", days.size() - kMostDays);
  return text;
}

// GPU-hours of the stages alone, without the start.
double WorkHours(const json& step) {
  double hours = 0;
  for (const json& stage : ListOf(step, "stages")) hours += NumberOf(stage, "hours");
  return hours * static_cast<double>(IntOf(step, "gpus"));
}

// One line for each kind of GPU: the fewest that run it and the recommended number.
std::string ComparisonText(const json& answer, const TerminalStyle& style) {
  const json& curves = ListOf(answer, "gpus");
  if (curves.size() < 2) return "";
  json rows = json::array();
  double slowest = 0;
  for (const json& curve : curves) {
    const json* fewest = nullptr;
    for (const json& row : ListOf(curve, "steps")) {
      if (fewest == nullptr && row.value("runs", false)) fewest = &row;
    }
    json row = {{"gpu_name", TextOf(curve, "gpu_name")}};
    if (fewest != nullptr) {
      row["fewest"] = *fewest;
      row["work_hours"] = WorkHours(*fewest);
      slowest = std::max(slowest, WorkHours(*fewest));
    } else if (!ListOf(curve, "steps").empty()) {
      row["reason"] = TextOf(ListOf(curve, "steps").back(), "reason");
    }
    if (const json* chosen = RecommendedRow(curve)) row["chosen"] = *chosen;
    rows.push_back(std::move(row));
  }
  const auto shape = [](const char* of) {
    return [of](const json& row) {
      const json& step = ObjectOf(row, of);
      if (!step.contains("hours")) return std::string("–");
      return fmt::format("{} × {} h", IntOf(step, "gpus"), HoursOf(step, "hours"));
    };
  };
  const std::vector<AnswerColumn> columns = {
      {"GPU", Align::kLeft, [](const json& row) { return TextOf(row, "gpu_name"); }},
      {"RATIO", Align::kRight,
       [slowest](const json& row) {
         const double hours = NumberOf(row, "work_hours");
         return hours > 0 ? fmt::format("{:.1f}", slowest / hours) : std::string("–");
       }},
      {"FEWEST", Align::kLeft, shape("fewest")},
      {"RECOMMENDED", Align::kLeft, [shape](const json& row) {
         return row.contains("chosen") ? shape("chosen")(row) : std::string();
       }}};
  return "\nRelative speed of one GPU:\n" + AnswerTable(rows, columns, 3, style);
}

Result<void> ReadObjective(const ScaleCommand& command, const TrainSpec& spec, int64_t now,
                           ScaleQuestion* question) {
  // What the file says is told with its line, what the command line says by its flag.
  const bool from_file = command.objective.empty() && command.deadline.empty();
  question->objective =
      command.objective.empty() ? spec.objective : *ObjectiveFromWord(command.objective);
  if (question->objective == Objective::kStart) question->objective = Objective::kFinish;
  std::optional<int64_t> deadline = spec.deadline;
  if (!command.deadline.empty()) {
    const Result<int64_t> given = ParseDateTime(command.deadline, now, DayMeans::kItsEnd);
    if (!given) return BadInput("--deadline: " + given.error().message);
    deadline = *given;
    question->objective = Objective::kDeadline;
  }
  if (question->objective != Objective::kDeadline) return {};
  if (!deadline)
    return BadInput("objective deadline needs a time: add --deadline fri or now+3days",
                    from_file ? "/objective" : "");
  question->deadline_seconds = static_cast<double>(*deadline - now);
  if (question->deadline_seconds <= 0) {
    return BadInput("the deadline has passed: give a later one", from_file ? "/deadline" : "");
  }
  return {};
}

std::vector<ScaledGpu> GpusToScale(const ScaleCommand& command, const TrainingQuestion& training) {
  std::vector<ScaledGpu> gpus;
  for (size_t i = 0; i < training.gpus.size(); ++i) {
    const NodesOfGpu& nodes = training.nodes[i];
    ScaledGpu gpu{.model = training.gpus[i], .interconnect = nodes.interconnect};
    if (nodes.gpus_per_node > 0) gpu.gpus_per_node = nodes.gpus_per_node;
    if (command.gpus_per_node) gpu.gpus_per_node = *command.gpus_per_node;
    if (command.network_gbit_per_s > 0) {
      gpu.interconnect.network_gb_per_s = command.network_gbit_per_s / kBitsPerByte;
    }
    gpus.push_back(gpu);
  }
  return gpus;
}

std::string Text(const json& answer, const TerminalStyle& style) {
  const json& rows = ListOf(answer, "steps");
  const int64_t recommended = IntOf(ObjectOf(answer, "recommended"), "gpus");
  std::string text = Clipped(fmt::format("{} on {}, by {}", TextOf(answer, "name"),
                                         TextOf(answer, "gpu_name"), TextOf(answer, "objective")),
                             style.width) +
                     "\n";
  if (const std::string why = TextOf(answer, "gpu_why"); !why.empty()) {
    text += Paragraph(
        fmt::format("{}: {}; --gpu NAME for another.", TextOf(answer, "gpu_name"), why), style);
  }
  text += "\n";
  text += AnswerTable(rows, ColumnsWith(rows, recommended), 6, style) + "\n";
  text += ImpossibleText(rows, style) + WhyText(answer, style);
  if (const json* row = RecommendedRow(answer)) text += "\n" + StagesText(*row, style);
  text += ScheduleText(answer) + ComparisonText(answer, style);
  const std::vector<std::string> assumed = TextsOf(answer, "assumed");
  if (!assumed.empty()) text += "\n";
  for (const std::string& sentence : assumed) text += Paragraph(AssumedLine(sentence) + ".", style);
  for (const std::string& note : TextsOf(answer, "gpu_notes")) {
    text += Paragraph("Note: " + note + ".", style);
  }
  return text + Paragraph(
                    "\n"
                    "HOURS: run time without queueing. P90: 9 in 10 runs are done by then. KWH: at "
                    "the card's power limit.",
                    style);
}

}  // namespace

int RunScale(const ScaleCommand& command, Api& api, Console& console) {
  const Result<TrainingQuestion> training =
      TrainingQuestion::Load(command.source, RunLength::kRequired, api, console.now());
  if (!training) return Report(training.error(), console);
  for (const std::string& note : training->notes) console.Complain(Printable(note));
  ScaleQuestion question{training->spec, training->presets, *training->catalogue};
  if (command.most_gpus) question.most_gpus = command.most_gpus;
  if (command.price) question.price_per_gpu_hour = *command.price;
  const Result<void> read = ReadObjective(command, training->spec, console.now(), &question);
  if (!read && !read.error().pointer.empty())
    return Report(training->Placed(read.error()), console);
  if (!read) return Report(read.error(), console);
  Result<json> answer =
      AnswerScale(question, GpusToScale(command, *training),
                  command.source.gpus.empty() ? ToldInFull::kBest : ToldInFull::kFirst);
  if (!answer) return Report(training->Placed(answer.error()), console);
  if (!training->gpu_notes.empty()) (*answer)["gpu_notes"] = training->gpu_notes;
  if (command.json) {
    PrintJson(*answer, console);
  } else {
    console.Print(Text(*answer, console.style()));
  }
  return answer->contains("recommended") ? kExitOk : kExitInfeasible;
}

}  // namespace gpuadvise::client
