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
#include "client/preflight/hub_login.h"
#include "client/questions/training_question.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"
#include "common/base/date_time.h"
#include "common/base/unix_time.h"
#include "common/base/words.h"
#include "common/plan/answer_scale.h"

namespace gpuadvise::client {
namespace {

constexpr const char* kScaleFooter =
    "\nExamples:\n"
    "  gpuadvise scale train.yaml --gpu h100 --max-gpus 16\n"
    "  gpuadvise scale llama-3.1-8b --method lora --seq 2048 --effective 64 --max-steps 1000\n";

struct ScaleCommand {
  TrainingSource source;
  std::optional<int64_t> most_gpus;      // nullopt: 8, or a whole node where that is more
  std::optional<int64_t> gpus_per_node;  // nullopt: the cluster's, else 8
  double network_gbit_per_s = 0;         // 0: the cluster's, else not known
  std::string objective;                 // "": the file's
  std::string deadline;                  // "": the file's
  std::string prices;                    // of GPU-hours; "": the file's, the cards'
  SettingFlags flags;                    // `settings` of the source
};

constexpr double kBitsPerByte = 8;
constexpr size_t kMostDays = 20;

std::string Hours(double hours) {
  if (hours >= 100) return Grouped(std::llround(hours));
  return fmt::format("{:.1f}", hours);
}

using ScaleRow = api::ScaleStep;
using ScaleFigures = api::ScaleFigures;

// What `cell` makes of the figures; "–" where it cannot run.
ColumnOf<ScaleRow> ScaleColumn(const char* header,
                               std::function<std::string(const ScaleFigures&)> cell) {
  return {header, Align::kRight, [cell = std::move(cell)](const ScaleRow& row) {
            return row.figures ? cell(*row.figures) : std::string("–");
          }};
}

template <typename Value>
ColumnOf<ScaleRow> ScaleNumber(const char* header, Value ScaleFigures::*member) {
  return ScaleColumn(header, [member](const ScaleFigures& figures) {
    const std::optional<double> number = figures.*member;
    return number ? Hours(*number) : "–";
  });
}

std::string Paragraph(const std::string& text, const TerminalStyle& style) {
  return Indented(text, 0, style.width);
}

// "16×1 (16)", the stages one after the other where they differ.
std::string BatchesCell(const ScaleRow& row) {
  std::string text;
  if (!row.figures) return text;
  for (const api::ScaleStage& stage : row.figures->stages) {
    const std::string one =
        fmt::format("{}×{} ({}){}", stage.micro_batch, stage.accumulation,
                    stage.effective_batch_size, stage.gradient_checkpointing_chosen ? " ckpt" : "");
    if (text == one) continue;
    text += (text.empty() ? "" : ", ") + one;
  }
  return text;
}

// "1, 2 GPUs: one sample takes 54 GB, the GPU has 24 GB": what cannot run, each reason once.
std::string ImpossibleText(const std::vector<ScaleRow>& rows, const TerminalStyle& style) {
  std::vector<std::pair<std::string, std::string>> counts_of;  // reason, "1, 2"
  for (const ScaleRow& row : rows) {
    if (row.reason.empty()) continue;
    const std::string count = std::to_string(row.gpus);
    const auto same = std::find_if(counts_of.begin(), counts_of.end(),
                                   [&](const auto& each) { return each.first == row.reason; });
    if (same == counts_of.end()) {
      counts_of.emplace_back(row.reason, count);
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

std::vector<ColumnOf<ScaleRow>> ScaleColumns(int64_t recommended) {
  return {{"", Align::kLeft,
           [recommended](const ScaleRow& row) {
             return std::string(row.gpus == recommended ? "*" : "");
           }},
          {"GPUS", Align::kRight,
           [](const ScaleRow& row) {
             return row.nodes > 1 ? fmt::format("{}×{}", row.nodes, row.gpus_per_node)
                                  : std::to_string(row.gpus_per_node);
           }},
          ScaleNumber("HOURS", &ScaleFigures::hours),
          ScaleColumn("P90",
                      [](const ScaleFigures& figures) {
                        return Hours(figures.run_p90_seconds / kHourSeconds);
                      }),
          ScaleNumber("COST", &ScaleFigures::cost),
          ScaleColumn("EFF",
                      [](const ScaleFigures& figures) {
                        return fmt::format("{:.0f} %", 100 * figures.efficiency);
                      }),
          ScaleNumber("GPU-H", &ScaleFigures::gpu_hours),
          ScaleNumber("KWH", &ScaleFigures::energy_kwh),
          {"BATCH×ACC (EFFECTIVE)", Align::kLeft, BatchesCell}};
}

std::vector<ColumnOf<ScaleRow>> ColumnsWith(const std::vector<ScaleRow>& rows,
                                            int64_t recommended) {
  std::vector<ColumnOf<ScaleRow>> columns = ScaleColumns(recommended);
  std::erase_if(columns, [&](const ColumnOf<ScaleRow>& column) {
    return (column.header == "COST" || column.header == "KWH") &&
           std::ranges::all_of(rows, [&](const ScaleRow& row) { return column.cell(row) == "–"; });
  });
  return columns;
}

const ScaleRow* RecommendedRow(const api::ScaleCurve& curve) {
  for (const ScaleRow& row : curve.steps) {
    if (curve.recommended && row.gpus == curve.recommended->gpus && row.runs) return &row;
  }
  return nullptr;
}

std::string WhyText(const api::Scale& scale, const api::ScaleCurve& curve,
                    const TerminalStyle& style) {
  if (!curve.recommended) {
    std::string text = "None of these can run it.\n";
    for (const std::string& way : scale.ways_to_fit) text += Paragraph(way + ".", style);
    return text;
  }
  const api::RecommendedGpus& recommended = *curve.recommended;
  return Paragraph(fmt::format("* {}: {}.", Plural(recommended.gpus, "GPU"), recommended.why),
                   style) +
         Paragraph("Why not more: " + recommended.why_not_more + ".", style) +
         (recommended.beyond.empty() ? "" : Paragraph("Beyond " + recommended.beyond + ".", style));
}

std::string StagesText(const ScaleFigures& figures, const TerminalStyle& style) {
  std::string text;
  for (const api::ScaleStage& stage : figures.stages) {
    std::string line = fmt::format("{}{} h, {} steps of {:.2f} s, {}",
                                   stage.name.empty() ? "" : stage.name + ": ", Hours(stage.hours),
                                   Grouped(stage.steps), stage.seconds_per_step, stage.precision);
    const auto bytes = static_cast<double>(stage.memory_bytes.value_or(0));
    if (bytes > 0) line += fmt::format(", {:.1f} GiB a GPU", bytes / (1 << 30));
    if (!stage.memory_checked) line += ", memory not checked";
    if (stage.gradient_checkpointing_chosen) line += ", checkpointing";
    text += Paragraph(line + "; " + stage.basis, style);
    if (!stage.disagreement.empty()) text += Paragraph("Note: " + stage.disagreement + ".", style);
  }
  return text;
}

std::string PaddedTo(int width, std::string text) {
  text += std::string(static_cast<size_t>(std::max(0, width - DisplayWidth(text))), ' ');
  return text;
}

std::string ScheduleText(const api::ScaleCurve& curve) {
  if (!curve.recommended) return "";
  const std::vector<api::DayOfWork>& days = curve.recommended->schedule;
  if (days.size() < 2 || days.back().last_day < 2) return "";
  std::string text = "\nDAY    TASK              HOURS\n";
  for (size_t i = 0; i < days.size() && i < kMostDays; ++i) {
    const auto& [first, last, task, hours] = days[i];
    const std::string when =
        first == last ? std::to_string(first) : fmt::format("{}–{}", first, last);
    text += fmt::format("{} {} {:>6.1f}{}\n", PaddedTo(6, when), PaddedTo(16, Clipped(task, 16)),
                        hours, first == last ? "" : " each");
  }
  if (days.size() > kMostDays) text += fmt::format("… and {} more\n", days.size() - kMostDays);
  return text;
}

// GPU-hours of the stages alone, without the start.
double WorkHours(const ScaleRow& row) {
  double hours = 0;
  if (!row.figures) return hours;
  for (const api::ScaleStage& stage : row.figures->stages) hours += stage.hours;
  return hours * static_cast<double>(row.gpus);
}

// One kind of GPU: the fewest that run it and the recommended number; nullptr where there is none.
struct ComparedGpu {
  std::string name;
  const ScaleRow* fewest = nullptr;
  const ScaleRow* recommended = nullptr;
};

std::string ShapeCell(const ScaleRow* row) {
  if (row == nullptr || !row->figures) return "–";
  return fmt::format("{} × {} h", row->gpus, Hours(row->figures->hours));
}

std::string ComparisonText(const api::Scale& scale, const TerminalStyle& style) {
  if (scale.gpus.size() < 2) return "";
  std::vector<ComparedGpu> rows;
  double slowest = 0;
  for (const api::ScaleCurve& curve : scale.gpus) {
    const auto fewest = std::ranges::find_if(curve.steps, &ScaleRow::runs);
    rows.push_back(
        {curve.gpu_name, fewest == curve.steps.end() ? nullptr : &*fewest, RecommendedRow(curve)});
    if (rows.back().fewest != nullptr) slowest = std::max(slowest, WorkHours(*fewest));
  }
  const std::vector<ColumnOf<ComparedGpu>> columns = {
      MemberColumn("GPU", Align::kLeft, &ComparedGpu::name, std::identity()),
      MemberColumn("RATIO", Align::kRight, &ComparedGpu::fewest,
                   [slowest](const ScaleRow* fewest) {
                     const double hours = fewest == nullptr ? 0 : WorkHours(*fewest);
                     return hours > 0 ? fmt::format("{:.1f}", slowest / hours) : std::string("–");
                   }),
      MemberColumn("FEWEST", Align::kLeft, &ComparedGpu::fewest, ShapeCell),
      MemberColumn("RECOMMENDED", Align::kLeft, &ComparedGpu::recommended,
                   [](const ScaleRow* row) { return row == nullptr ? "" : ShapeCell(row); })};
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

std::string ScaleText(const api::Scale& scale, const TerminalStyle& style) {
  const api::ScaleCurve curve = scale.in_full.value_or(api::ScaleCurve());
  std::string text =
      Clipped(fmt::format("{} on {}, by {}", scale.name, curve.gpu_name, scale.objective),
              style.width) +
      "\n";
  if (!scale.gpu_why.empty()) {
    text += Paragraph(fmt::format("{}: {}; --gpu NAME for another.", curve.gpu_name, scale.gpu_why),
                      style);
  }
  const int64_t recommended = curve.recommended ? curve.recommended->gpus : 0;
  text += "\n" + AnswerTable(curve.steps, ColumnsWith(curve.steps, recommended), 6, style) + "\n";
  text += ImpossibleText(curve.steps, style) + WhyText(scale, curve, style);
  if (const ScaleRow* row = RecommendedRow(curve); row != nullptr && row->figures) {
    text += "\n" + StagesText(*row->figures, style);
  }
  text += ScheduleText(curve) + ComparisonText(scale, style);
  const auto assumed = curve.assumed.value_or(std::vector<std::string>());
  if (!assumed.empty()) text += "\n";
  for (const std::string& sentence : assumed) text += Paragraph(AssumedLine(sentence) + ".", style);
  for (const std::string& note : scale.gpu_notes) text += Paragraph("Note: " + note + ".", style);
  return text + Paragraph(
                    "\n"
                    "HOURS: run time with its start-up, without queueing. P90: 9 in 10 runs are "
                    "done by then. KWH: at "
                    "the card's power limit.",
                    style);
}

int Run(ScaleCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  FillFrom(context.settings.own, command.source.own);
  command.source.hub_cache = LookForHubLogin(context.environment).cache;
  const Result<TrainingQuestion> training =
      LoadQuestion(command.source, RunLength::kRequired, api, console);
  if (!training) return Report(training.error(), console);
  for (const std::string& note : training->notes) console.Complain(Printable(note));
  ScaleQuestion question{training->spec, training->presets, *training->catalogue};
  if (command.most_gpus) question.most_gpus = command.most_gpus;
  const Result<void> read = ReadObjective(command, training->spec, console.now(), &question);
  if (!read && !read.error().pointer.empty())
    return Report(training->Placed(read.error()), console);
  if (!read) return Report(read.error(), console);
  Result<api::Scale> scale =
      AnswerScale(question, GpusToScale(command, *training),
                  command.source.gpus.empty() ? DetailedGpu::kBest : DetailedGpu::kFirst);
  if (!scale) return Report(training->Placed(scale.error()), console);
  scale->gpu_notes = training->gpu_notes;
  PrintAnswer<api::Scale>(ToJson(*scale), console, ScaleText);
  return scale->in_full && scale->in_full->recommended ? kExitOk : kExitInfeasible;
}

void AddOptions(ScaleCommand& command, Options& options) {
  AddTrainingSource(options, command.source);
  options.app().get_option("FILE|MODEL")->required();
  options.Value("--gpu NAME", command.source.gpus,
                "These GPUs (default: all in the cluster, the best in full)");
  options.Number("--max-gpus N", command.most_gpus, 1, 65'536,
                 "Up to N GPUs (default 8, or a whole node)");
  options.Number("--gpus-per-node N", command.gpus_per_node, 1, 1'024,
                 "GPUs per node (default: the cluster's, else 8)");
  options.Number("--network RATE", command.network_gbit_per_s, 0.001, 1e6,
                 "Network between nodes in Gbit/s (default: the site's setting)");
  AddPrices(options, command.prices);
  options.Value("--objective NAME", command.objective, "finish (default), cost or deadline",
                CheckObjective);
  options.Value("--deadline TIME", command.deadline, "Done by then with 90 % probability");
  command.flags.AddTo(options);
  command.flags.AddMicroBatch(options);
  options.JsonAndPlace();
  options.Footer(kScaleFooter);
}

Result<void> Take(ScaleCommand& command, const std::vector<std::string>&) {
  command.source.settings = command.flags.Given();
  if (!command.prices.empty()) {
    command.source.settings.push_back({"resources.prices", "--price", command.prices});
  }
  return {};
}

}  // namespace

Command MakeScaleCommand() {
  return MakeCommand<ScaleCommand>(
      "scale", "How many GPUs: hours, efficiency, cost, and why not more", AddOptions, Run, Take);
}

}  // namespace gpuadvise::client
