#include "client/advice_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "client/advice_table.h"
#include "client/answer_reader.h"
#include "client/display.h"
#include "client/text_table.h"
#include "common/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int kNoteIndent = 5;

// "Label: text", further lines under the text's start.
std::string Labelled(const std::string& label, const std::string& text, int width) {
  std::string block = Indented(label + text, 2, width);
  return block.substr(2);
}

std::string BatchWords(const json& training) {
  const auto found = training.find("effective_batch_size");
  if (found == training.end()) return {};
  if (found->is_number_integer()) return Grouped(found->get<int64_t>());
  if (!found->is_array() || found->size() != 2 || !found->front().is_number_integer()) return {};
  const int64_t low = (*found)[0].get<int64_t>();
  const int64_t high = (*found)[1].is_number_integer() ? (*found)[1].get<int64_t>() : low;
  return low == high ? Grouped(low) : Grouped(low) + "–" + Grouped(high);
}

std::string WorkWords(const json& answer) {
  const json& training = ObjectOf(answer, "training");
  std::string words;
  if (const int64_t steps = IntOf(training, "max_steps"); steps > 0) {
    words = Grouped(steps) + " steps";
  } else if (const auto epochs = OptionalNumber(training, "num_train_epochs")) {
    words = fmt::format("{} epochs", *epochs);
  } else if (const int64_t samples = IntOf(training, "samples"); samples > 0) {
    words = Grouped(samples) + " samples";
  }
  const std::string batch = BatchWords(training);
  if (batch.empty()) return words;
  return words + (words.empty() ? "" : ", ") + "effective batch " + batch;
}

std::string ObjectiveWords(const json& answer) {
  const std::string word = TextOf(answer, "objective");
  if (word == "finish") return "finish first";
  if (word == "start") return "start first";
  if (word == "cost") return "lowest cost";
  return word;
}

std::string HeaderText(const json& answer, const AdviceViewOptions& options,
                       const std::string& partition) {
  std::vector<std::string> parts = {TextOf(answer, "name")};
  if (const std::string work = WorkWords(answer); !work.empty()) parts.push_back(work);
  parts.push_back("objective: " + ObjectiveWords(answer));
  if (!partition.empty()) parts.push_back("partition " + partition);
  parts.push_back(ClusterAndAge(answer));
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : " · ") + part;
  return Labelled("", line, options.look.width);
}

std::vector<const json*> Picked(const json& answer, const std::vector<size_t>& indices) {
  std::vector<const json*> rows;
  for (size_t index : indices) rows.push_back(&ListOf(answer, "strategies")[index]);
  return rows;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : "; ") + text;
  return joined;
}

// A row and its notes: beside it where there is room, under it otherwise.
std::string RowText(const json& row, const std::string& line, const AdviceViewOptions& options,
                    bool chosen) {
  const bool colour = options.look.colour;
  const std::string notes = Joined(TextsOf(row, "notes"));
  const std::string shown = chosen ? Green(line, colour) : line;
  if (notes.empty()) return shown + "\n";
  const bool beside = DisplayWidth(line) + 3 + DisplayWidth(notes) <= options.look.width;
  if (beside) return shown + "   " + Dim(notes, colour) + "\n";
  return shown + "\n" + Indented(notes, kNoteIndent, options.look.width);
}

std::string TableText(const json& answer, const std::vector<size_t>& indices,
                      const AdviceViewOptions& options, std::string* shared_partition) {
  const std::vector<const json*> rows = Picked(answer, indices);
  const int64_t first = rows.empty() ? 0 : IntOf(*rows.front(), "rank");
  const int64_t chosen = options.chosen_rank != 0 ? options.chosen_rank : first;
  const AdviceTable table = MakeAdviceTable(rows, chosen, options.now, options.look.width);
  *shared_partition = table.shared_partition;
  if (rows.empty()) return {};
  std::string text = Bold(table.lines.front(), options.look.colour) + "\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    text += RowText(*rows[i], table.lines[i + 1], options, IntOf(*rows[i], "rank") == chosen);
  }
  return text;
}

std::string WhyText(const json& answer, const std::vector<size_t>& indices,
                    const AdviceViewOptions& options) {
  std::string text;
  for (const json* row : Picked(answer, indices)) {
    const std::string reasons = Joined(TextsOf(*row, "reasons"));
    if (reasons.empty()) continue;
    const std::string label = fmt::format("Why {}: ", IntOf(*row, "rank"));
    text += Labelled(label, reasons, options.look.width);
    if (!options.all) break;  // the others' reasons only on demand
  }
  return text;
}

bool OthersPossible(const json& rejected, const json& answer) {
  const auto said = rejected.find("others_possible");
  if (said != rejected.end() && said->is_boolean()) return said->get<bool>();
  for (const json& strategy : ListOf(answer, "strategies")) {
    if (TextOf(strategy, "gpu") == TextOf(rejected, "gpu")) return true;
  }
  return false;
}

// Rejections that read the same are one line.
std::string RejectedText(const json& answer, const AdviceViewOptions& options, size_t* left_out) {
  std::string text;
  std::set<std::string> seen;
  for (const json& rejected : ListOf(answer, "rejected")) {
    if (!rejected.is_object()) continue;
    if (!options.all && OthersPossible(rejected, answer)) {
      ++*left_out;
      continue;
    }
    const std::string line = StrategyName(rejected) + " — " + Joined(TextsOf(rejected, "reasons"));
    if (seen.insert(line).second) text += Labelled("Not possible: ", line, options.look.width);
  }
  return text;
}

std::string MoreText(size_t rows_left_out, size_t rejected_left_out) {
  std::vector<std::string> parts;
  if (rows_left_out > 0) parts.push_back(Plural(static_cast<int64_t>(rows_left_out), "more way"));
  if (rejected_left_out > 0) {
    parts.push_back(fmt::format("{} impossible", rejected_left_out));
  }
  return parts.empty() ? "" : JoinNames(parts) + " with --all.\n";
}

std::string TipsText(const json& answer, const AdviceViewOptions& options) {
  std::string text;
  for (const std::string& tip : TextsOf(answer, "tips")) {
    text += Labelled("Tip: ", tip, options.look.width);
  }
  return text;
}

std::string ForecastText(const json& answer, const AdviceViewOptions& options) {
  std::string text;
  const std::string note = TextOf(ObjectOf(answer, "forecast"), "note");
  if (!note.empty()) text += Labelled("Forecast: ", note, options.look.width);
  for (const std::string& warning : TextsOf(answer, "warnings")) {
    text += Yellow(Labelled("Warning: ", warning, options.look.width), options.look.colour);
  }
  if (const std::string stale = StaleSentence(answer); !stale.empty()) {
    text += Yellow(Labelled("Warning: ", stale, options.look.width), options.look.colour);
  }
  return text;
}

}  // namespace

std::string StrategyName(const json& strategy) {
  std::string name = TextOf(strategy, "gpu_name");
  if (name.empty()) name = TextOf(strategy, "gpu");
  name += fmt::format(" × {}", IntOf(strategy, "gpus_per_node", 1));
  const int64_t nodes = IntOf(strategy, "nodes", 1);
  return nodes > 1 ? name + fmt::format(" × {} nodes", nodes) : name;
}

std::string PromiseSentence(const json& strategy, int64_t now) {
  const int64_t likely = now + IntOf(strategy, "wait_p50_seconds");
  const int64_t late = now + IntOf(strategy, "wait_p90_seconds");
  const bool immediately = late - now < 30;
  const std::string start = immediately ? "now" : ClockRange(likely, late, now);
  const std::string done = ClockRange(now + IntOf(strategy, "total_p50_seconds"),
                                      now + IntOf(strategy, "total_p90_seconds"), now);
  return "starts " + start + ", done " + done;
}

std::vector<size_t> RowsToShow(const json& answer, bool all) {
  std::vector<size_t> indices;
  std::set<std::pair<std::string, std::string>> seen;
  const json& strategies = ListOf(answer, "strategies");
  for (size_t i = 0; i < strategies.size(); ++i) {
    const auto key = std::pair(TextOf(strategies[i], "gpu"), TextOf(strategies[i], "partition"));
    if (seen.insert(key).second || all) indices.push_back(i);
  }
  return indices;
}

std::string AdviceText(const json& answer, const AdviceViewOptions& options) {
  const std::vector<size_t> indices = RowsToShow(answer, options.all);
  const size_t rows_left_out = ListOf(answer, "strategies").size() - indices.size();
  std::string shared_partition;
  const std::string table = TableText(answer, indices, options, &shared_partition);
  size_t rejected_left_out = 0;
  std::string text = HeaderText(answer, options, shared_partition) + "\n";
  if (table.empty()) text += "No strategy can run this job on this cluster.\n";
  text += table;
  const std::string why = WhyText(answer, indices, options);
  const std::string rejected = RejectedText(answer, options, &rejected_left_out);
  const std::string more = MoreText(rows_left_out, rejected_left_out);
  if (!why.empty()) text += "\n" + why;
  text += rejected + more + TipsText(answer, options) + ForecastText(answer, options);
  return text;
}

}  // namespace gpuadvise
