// `models` and `cards`: the names that everything else takes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/models/built_in.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct ListCommand {
  std::string word;  // only what has this in it; "" all
  OwnCatalogues own;
};
struct ModelsCommand : ListCommand {};
struct CardsCommand : ListCommand {};

// Whether `word` stands in any of the row's texts, signs and case apart: "llama3" in "llama-3-8b".
bool Mentions(const json& row, const std::string& word) {
  const auto plain = [](const std::string& text) {
    std::string kept;
    for (const char c : LowerCase(text)) {
      if (IsDigit(c) || (c >= 'a' && c <= 'z')) kept += c;
    }
    return kept;
  };
  const std::string wanted = plain(word);
  const auto has = [&](const json& value) {
    return value.is_string() && plain(value.get<std::string>()).find(wanted) != std::string::npos;
  };
  return std::any_of(row.begin(), row.end(), [&](const json& value) {
    return has(value) || (value.is_array() && std::any_of(value.begin(), value.end(), has));
  });
}

template <typename Known>
struct Listing {
  const char* member;  // of the JSON answer
  std::string kind;    // "model": for the sentence where nothing is found
  std::vector<ColumnOf<Known>> columns;
  std::string footer;
  bool families = false;  // without a word only names, by their families
};

const std::string& NameOf(const ModelPreset& preset) { return preset.name; }
const std::string& NameOf(const GpuModel& gpu) { return gpu.id; }

std::string InBillions(double parameters) {
  return parameters >= 1e9 ? fmt::format("{:.1f} B", parameters / 1e9)
                           : fmt::format("{:.0f} M", parameters / 1e6);
}

std::optional<double> ActiveParameters(const ModelPreset& preset) {
  if (!preset.shape || preset.shape->layers.num_experts == 0) return {};
  return preset.shape->layers.ActiveParameters() + preset.shape->EmbeddingParameters();
}

std::string NotesText(const ModelPreset& preset) {
  std::vector<std::string> notes;
  if (preset.memory) notes.emplace_back("memory: a line for its usual training");
  if (!preset.fp16) notes.emplace_back("no fp16");
  if (const auto active = ActiveParameters(preset))
    notes.push_back(InBillions(*active) + " active");
  if (preset.shape && preset.shape->vision) notes.emplace_back("vision");
  if (preset.shape && !preset.shape->lm_head) notes.emplace_back("no lm_head");
  return Join(notes, "; ");
}

json RowJson(const ModelPreset& preset) {
  json row = {{"name", preset.name},
              {"title", preset.title},
              {"parameters", preset.params},
              {"hub", preset.hub},
              {"memory", preset.memory ? "given line" : "counted"},
              {"fp16", preset.fp16},
              {"timings", preset.measured.size()},
              {"source", preset.source},
              {"notes", NotesText(preset)}};
  if (const auto active = ActiveParameters(preset)) row["active_parameters"] = *active;
  return row;
}

json RowJson(const GpuModel& gpu) {
  json row = EntryOf(gpu);
  row.update({{"title", gpu.display_name},
              {"name", gpu.id},
              {"memory_bytes", gpu.memory_bytes},
              {"aliases", gpu.aliases}});
  return row;
}

// Too many for a table: a line for each family, or several.
template <typename Known>
std::string FamiliesText(const std::vector<Known>& rows, int width) {
  constexpr int kIndent = 2;
  std::string text;
  for (size_t from = 0; from < rows.size();) {
    const std::string family = FamilyOf(NameOf(rows[from]));
    std::vector<std::string> names;
    for (; from < rows.size() && FamilyOf(NameOf(rows[from])) == family; ++from) {
      names.push_back(ShownText(NameOf(rows[from])));
    }
    text += fmt::format("{} ({})\n", ShownText(family), names.size());
    text += Indented(Join(names, ", "), kIndent, width);
  }
  return text;
}

template <typename Known>
int Show(const ListCommand& command, const Listing<Known>& listing, const std::vector<Known>& rows,
         Console& console) {
  std::vector<Known> shown;
  json shown_json = json::array();
  std::vector<std::string> names;
  for (const Known& row : rows) {
    names.push_back(NameOf(row));
    json row_json = RowJson(row);
    if (!command.word.empty() && !Mentions(row_json, command.word)) continue;
    shown.push_back(row);
    shown_json.push_back(std::move(row_json));
  }
  const TerminalStyle& style = console.style();
  if (style.json) {
    PrintJson({{listing.member, shown_json}}, console);
    return kExitOk;
  }
  if (shown.empty()) {
    return Report({ErrorCode::kNotFound,
                   fmt::format("no known {} has '{}' in its name{}", listing.kind, command.word,
                               DidYouMean(command.word, names)),
                   ""},
                  console);
  }
  const bool overview = listing.families && command.word.empty();
  console.Print((overview ? FamiliesText(shown, style.width)
                          : AnswerTable(shown, listing.columns, 2, style)) +
                "\n" + Indented(listing.footer, 0, style.width));
  return kExitOk;
}

// Text of a user's own file, made printable.
template <typename Known>
ColumnOf<Known> OwnText(const char* header, std::string Known::*member) {
  return MemberColumn(header, Align::kLeft, member,
                      [](const std::string& text) { return OrDash(ShownText(text)); });
}

ColumnOf<GpuModel> Figure(const char* header, double GpuModel::*member) {
  return MemberColumn(header, Align::kRight, member,
                      [](double number) { return fmt::format("{:.10g}", number); });
}

// The first id; the others are in the JSON, and found as well.
std::string FirstId(const std::vector<std::string>& ids) {
  if (ids.empty()) return "–";
  return ShownText(ids[0]) + (ids.size() == 1 ? "" : fmt::format(" +{}", ids.size() - 1));
}

int Run(ModelsCommand& command, const CommandContext& context) {
  Console& console = context.console;
  FillFrom(context.settings.own, command.own);
  const Result<ModelPresets> presets = KnownPresets(command.own.models_file);
  if (!presets) return Report(presets.error(), console);
  std::vector<ModelPreset> rows;
  for (const std::string& name : presets->Names()) rows.push_back(*presets->Find(name));
  const Listing<ModelPreset> listing = {
      "models",
      "model",
      {OwnText("NAME", &ModelPreset::name),
       MemberColumn("PARAMETERS", Align::kRight, &ModelPreset::params, InBillions),
       {"NOTES", Align::kLeft, [](const ModelPreset& row) { return OrDash(NotesText(row)); }},
       MemberColumn("HUGGING FACE ID", Align::kLeft, &ModelPreset::hub, FirstId)},
      std::string(
          command.word.empty()
              ? "`gpuadvise models WORD` shows parameters and ids of models with WORD in any name. "
              : "") +
          "Use either name in `gpuadvise fit NAME` or as model: {preset: NAME} in a training file. "
          "-Instruct, -it and -chat versions and copies are found by their ids. For any other "
          "model give the folder of its config.json.",
      true};
  return Show(command, listing, rows, console);
}

int Run(CardsCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  FillFrom(context.settings.own, command.own);
  std::string trouble;
  // No GPUs without a daemon.
  const auto of_cluster = ReadAnswer<api::Gpus>(api.Get("/v1/gpus").value_or(json::object()));
  const Result<GpuCatalogue> cards = KnownCards(of_cluster, command.own.gpus_file, &trouble);
  if (!cards) return Report(cards.error(), console);
  if (!trouble.empty()) console.Complain(trouble);
  const Listing<GpuModel> listing = {
      "cards",
      "GPU",
      {OwnText("NAME", &GpuModel::id), OwnText("GPU", &GpuModel::display_name),
       Figure("GiB", &GpuModel::memory_gb), OwnText("ARCHITECTURE", &GpuModel::architecture),
       MemberColumn("BF16", Align::kLeft, &GpuModel::bf16,
                    [](bool has) { return has ? "yes" : "no"; }),
       Figure("TFLOPS", &GpuModel::dense_tflops),
       Figure("GB/s", &GpuModel::memory_bandwidth_gb_per_s),
       MemberColumn("ALSO", Align::kLeft, &GpuModel::aliases,
                    [](const auto& names) { return OrDash(ShownText(Join(names, ", "))); })},
      "TFLOPS: dense fp16 or bf16 on tensor cores; GB/s: memory bandwidth. Slurm's and the "
      "driver's names work too."};
  return Show(command, listing, cards->models(), console);
}

void AddOptions(ModelsCommand& command, Options& options) {
  AddWord(options, command.word);
  AddModelsFile(options, command.own);
  options.Json("Print JSON");
}

void AddOptions(CardsCommand& command, Options& options) {
  AddWord(options, command.word);
  AddGpusFile(options, command.own);
  options.JsonAndPlace();
}

}  // namespace

Command MakeModelsCommand() {
  return MakeCommand<ModelsCommand>("models", "List known models", AddOptions, Run);
}

Command MakeCardsCommand() {
  return MakeCommand<CardsCommand>("cards", "List known GPUs and their names", AddOptions, Run);
}

}  // namespace gpuadvise::client
