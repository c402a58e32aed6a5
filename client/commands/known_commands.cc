// `models` and `cards`: the names that everything else takes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/models/built_in.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

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

struct Listing {
  const char* member;  // of the JSON answer
  std::string kind;    // "model": for the sentence where nothing is found
  std::vector<AnswerColumn> columns;
  std::string footer;
  bool families = false;  // without a word only names, by their families
};

// Too many for a table: a line for each family, or several.
std::string FamiliesText(const json& rows, int width) {
  constexpr int kIndent = 2;
  std::string text;
  for (size_t from = 0; from < rows.size();) {
    const std::string family = FamilyOf(TextOf(rows[from], "name"));
    std::vector<std::string> names;
    for (; from < rows.size() && FamilyOf(TextOf(rows[from], "name")) == family; ++from) {
      names.push_back(TextOf(rows[from], "name"));
    }
    text += fmt::format("{} ({})\n", family, names.size());
    text += Indented(Join(names, ", "), kIndent, width);
  }
  return text;
}

int Show(const ListCommand& command, const Listing& listing, const json& rows, Console& console) {
  json shown = json::array();
  std::vector<std::string> names;
  for (const json& row : rows) {
    names.push_back(TextOf(row, "name"));
    if (command.word.empty() || Mentions(row, command.word)) shown.push_back(row);
  }
  if (command.json) {
    PrintJson({{listing.member, shown}}, console);
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
  console.Print((overview ? FamiliesText(shown, console.style().width)
                          : AnswerTable(shown, listing.columns, 2, console.style())) +
                "\n" + Indented(listing.footer, 0, console.style().width));
  return kExitOk;
}

AnswerColumn TextColumnOf(const char* header, const char* key) {
  return {header, Align::kLeft, [key](const json& row) { return OrDash(TextOf(row, key)); }};
}

AnswerColumn NumberColumnOf(const char* header, const char* key) {
  return {header, Align::kRight, [key](const json& row) {
            const auto number = OptionalNumber(row, key);
            return number ? fmt::format("{:.10g}", *number) : "–";
          }};
}

AnswerColumn NamesColumnOf(const char* header, const char* key) {
  return {header, Align::kLeft,
          [key](const json& row) { return OrDash(Join(TextsOf(row, key), ", ")); }};
}

// The first id; the others are in the JSON, and found as well.
std::string FirstIdText(const json& row) {
  const std::vector<std::string> ids = TextsOf(row, "hub");
  if (ids.empty()) return "–";
  return ids.size() == 1 ? ids[0] : fmt::format("{} +{}", ids[0], ids.size() - 1);
}

std::string InBillions(double parameters) {
  return parameters >= 1e9 ? fmt::format("{:.1f} B", parameters / 1e9)
                           : fmt::format("{:.0f} M", parameters / 1e6);
}

std::string ParametersText(const json& row) { return InBillions(NumberOf(row, "parameters")); }

json RowOf(const ModelPreset& preset) {
  json row = {{"name", preset.name},
              {"title", preset.title},
              {"parameters", preset.params},
              {"hub", preset.hub},
              {"memory", preset.memory ? "given line" : "counted"},
              {"fp16", preset.fp16},
              {"timings", preset.measured.size()},
              {"source", preset.source}};
  std::string notes = preset.memory ? "memory: a line for its usual training" : "";
  const auto note = [&notes](const std::string& more) {
    notes += (notes.empty() ? "" : "; ") + more;
  };
  if (!preset.fp16) note("no fp16");
  if (preset.shape && preset.shape->layers.num_experts > 0) {
    const double active =
        preset.shape->layers.ActiveParameters() + preset.shape->EmbeddingParameters();
    row["active_parameters"] = active;
    note(InBillions(active) + " active");
  }
  if (preset.shape && preset.shape->vision) note("vision");
  if (preset.shape && !preset.shape->lm_head) note("no lm_head");
  row["notes"] = notes;
  return row;
}

json RowOf(const GpuModel& gpu) {
  json row = EntryOf(gpu);
  row["title"] = row["name"];
  row["name"] = gpu.id;
  row["memory_bytes"] = gpu.memory_bytes;
  row["aliases"] = gpu.aliases;
  return row;
}

}  // namespace

int RunModels(const ListCommand& command, Console& console) {
  const Result<ModelPresets> presets = KnownPresets(command.own.models_file);
  if (!presets) return Report(presets.error(), console);
  json rows = json::array();
  for (const std::string& name : presets->Names()) rows.push_back(RowOf(*presets->Find(name)));
  const Listing listing = {
      "models",
      "model",
      {TextColumnOf("NAME", "name"),
       {"PARAMETERS", Align::kRight, ParametersText},
       TextColumnOf("NOTES", "notes"),
       {"HUGGING FACE ID", Align::kLeft, FirstIdText}},
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

int RunCards(const ListCommand& command, Api& api, Console& console) {
  std::string trouble;
  const json of_cluster = api.Get("/v1/gpus").value_or(json::object());  // none without a daemon
  const Result<GpuCatalogue> cards = KnownCards(of_cluster, command.own.gpus_file, &trouble);
  if (!cards) return Report(cards.error(), console);
  if (!trouble.empty()) console.Complain(trouble);
  json rows = json::array();
  for (const GpuModel& gpu : cards->models()) rows.push_back(RowOf(gpu));
  const Listing listing = {
      "cards",
      "GPU",
      {TextColumnOf("NAME", "name"),
       TextColumnOf("GPU", "title"),
       NumberColumnOf("GiB", "memory_gb"),
       TextColumnOf("ARCHITECTURE", "architecture"),
       {"BF16", Align::kLeft, [](const json& row) { return IsTrue(row, "bf16") ? "yes" : "no"; }},
       NumberColumnOf("TFLOPS", "dense_tflops"),
       NumberColumnOf("GB/s", "memory_bandwidth_gb_per_s"),
       NamesColumnOf("ALSO", "aliases")},
      "TFLOPS: dense fp16 or bf16 on tensor cores; GB/s: memory bandwidth. Slurm's and the "
      "driver's names work too."};
  return Show(command, listing, rows, console);
}

}  // namespace gpuadvise::client
