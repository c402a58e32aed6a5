#include "client/questions/training_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/models/built_in.h"
#include "client/models/named_model.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/runs/learned_runs.h"
#include "common/spec/sent_spec.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Used if neither the command line, nor the file, nor a cluster names GPUs.
constexpr const char* kUsualGpus[] = {"rtx2080ti", "rtx3090",   "rtx4090",  "l40s",
                                      "a100-40gb", "a100-80gb", "h100-80gb"};

// "24GB", "24 GiB", "24" -> 24; 0 for other words.
int64_t MemoryInName(const std::string& name) {
  int64_t gigabytes = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), gigabytes);
  const std::string unit = LowerCase(Trim({end, name.data() + name.size()}));
  return code == std::errc() && IsOneOf(unit, {"", "g", "gb", "gib"}) ? gigabytes : 0;
}

// What `name` means: one GPU, or for "24GB" every card sold with so much memory.
std::vector<const GpuModel*> GpusNamed(const std::string& name, const GpuCatalogue& catalogue) {
  if (const GpuModel* gpu = catalogue.Resolve(name)) return {gpu};
  std::vector<const GpuModel*> cards;
  const int64_t gigabytes = MemoryInName(name);
  for (const GpuModel& card : catalogue.models()) {
    const bool so_large = gigabytes > 0 && std::lround(card.memory_gb) == gigabytes;
    if (so_large && !card.is_mig_slice) cards.push_back(&card);
  }
  return cards;
}

Result<std::vector<const GpuModel*>> ResolveNames(const std::vector<std::string>& names,
                                                  const GpuCatalogue& catalogue) {
  std::vector<const GpuModel*> gpus;
  for (const std::string& name : names) {
    const std::vector<const GpuModel*> named = GpusNamed(name, catalogue);
    if (named.empty()) {
      return BadInput(fmt::format("unknown GPU '{}'{}; `gpuadvise cards` lists the known ones",
                                  name, MemoryInName(name) > 0 ? "" : catalogue.NearTo(name)));
    }
    for (const GpuModel* gpu : named) {
      if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) gpus.push_back(gpu);
    }
  }
  return gpus;
}

std::vector<const GpuModel*> ClusterGpus(const api::Gpus& of_cluster,
                                         const GpuCatalogue& catalogue) {
  std::vector<const GpuModel*> gpus;
  for (const api::GpuType& row : of_cluster.gpus) {
    const GpuModel* gpu = catalogue.Resolve(row.gpu);
    if (gpu != nullptr) gpus.push_back(gpu);
  }
  return gpus;
}

Result<std::vector<const GpuModel*>> ChooseGpus(const std::vector<std::string>& names,
                                                const TrainSpec& spec,
                                                const GpuCatalogue& catalogue,
                                                const api::Gpus& of_cluster) {
  if (!names.empty()) return ResolveNames(names, catalogue);
  std::vector<const GpuModel*> gpus = ClusterGpus(of_cluster, catalogue);
  if (!gpus.empty()) return gpus;
  if (!spec.resources.gpus.empty()) return ResolveNames(spec.resources.gpus, catalogue);
  return ResolveNames({std::begin(kUsualGpus), std::end(kUsualGpus)}, catalogue);
}

// Notes on the interpretation of GPU names that the user wrote.
std::vector<std::string> DescribeNames(const std::vector<std::string>& asked, const TrainSpec& spec,
                                       const GpuCatalogue& catalogue) {
  std::vector<std::string> names = asked.empty() ? spec.resources.gpus : asked;
  for (const Stage& stage : spec.stages) {
    for (const MeasuredStep& step : stage.training.measured) names.push_back(step.gpu);
  }
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    const std::string note = DescribeResolution(catalogue, name);
    if (note.empty() || std::find(notes.begin(), notes.end(), note) != notes.end()) continue;
    notes.push_back(note);
  }
  return notes;
}

NodesOfGpu FindNodes(const api::Gpus& of_cluster, const GpuModel& gpu) {
  for (const api::GpuType& row : of_cluster.gpus) {
    if (row.gpu != gpu.id) continue;
    return {row.gpus_per_node, {row.interconnect.link_gb_per_s, row.interconnect.network_gb_per_s}};
  }
  return {};
}

// What past runs of this training have shown; a note where the daemon does not say it.
std::vector<MeasuredStep> AskForRuns(const TrainFile& file, Api& api,
                                     std::vector<std::string>& notes) {
  const auto answer = api.Post("/v1/measured", {{"spec", SentSpec(file.spec())}});
  if (!answer) notes.push_back("what past runs have shown is not known: " + answer.error().message);
  return LinesOf(ReadAnswer<api::MeasuredRuns>(answer.value_or(json::object())));
}

bool SaysHowLong(const json& spec) {
  const json& training = ObjectOf(spec, "training");
  return training.contains("max_steps") || training.contains("samples") ||
         training.contains("num_train_epochs");
}

}  // namespace

Result<GpuCatalogue> BuiltInCatalogue() {
  std::string trouble;
  return KnownCards({}, "", &trouble);
}

Result<TrainingQuestion> TrainingQuestion::Load(const TrainingSource& source, RunLength run_length,
                                                Api& api, int64_t now) {
  Result<ModelPresets> presets = KnownPresets(source.own.models_file);
  if (!presets) return tl::unexpected<Error>(std::move(presets.error()));
  auto named = source.training
                   ? NamedTraining{*source.training, true, {}}
                   : FindTraining(source.file, source.section, {*presets, source.hub_cache}, now);
  if (!named) return tl::unexpected<Error>(std::move(named.error()));
  TrainFile& file = named->file;
  std::vector<std::string> notes = std::move(named->notes);
  const Result<std::vector<std::string>> gave_way = ApplySettings(source.settings, file);
  if (!gave_way) return tl::unexpected<Error>(gave_way.error());
  if (named->is_file) notes.insert(notes.end(), gave_way->begin(), gave_way->end());
  if (!named->is_file && run_length == RunLength::kRequired && !SaysHowLong(file.spec())) {
    return BadInput(
        "the length of the training is missing; add --max-steps N, --samples N, or --epochs N with "
        "--num-samples N");
  }
  Result<TrainingQuestion> question =
      Of(std::move(file), std::move(*presets), source.gpus, source.own.gpus_file, run_length, api);
  if (question) question->notes.insert(question->notes.begin(), notes.begin(), notes.end());
  return question;
}

Result<TrainingQuestion> TrainingQuestion::Of(TrainFile file, ModelPresets presets,
                                              const std::vector<std::string>& names,
                                              const std::string& gpus_file, RunLength run_length,
                                              Api& api) {
  Result<TrainSpec> spec = ParseTrainSpec(file.spec(), "", run_length);
  if (!spec) return tl::unexpected<Error>(file.Explained(spec.error()));
  std::vector<std::string> notes;
  const Result<json> cluster = api.Get("/v1/gpus");  // no GPUs without a daemon
  const auto of_cluster = ReadAnswer<api::Gpus>(cluster.value_or(json::object()));
  std::string trouble;
  Result<GpuCatalogue> catalogue = KnownCards(of_cluster, gpus_file, &trouble);
  if (!catalogue) return tl::unexpected<Error>(std::move(catalogue.error()));
  if (!trouble.empty()) notes.push_back(std::move(trouble));
  auto held = std::make_shared<const GpuCatalogue>(std::move(*catalogue));
  if (cluster) AddMeasurements(AskForRuns(file, api, notes), *held, *spec);
  auto gpus = ChooseGpus(names, *spec, *held, of_cluster);
  if (!gpus && names.empty()) return file.Refuse(gpus.error().message, "/resources/gpus");
  if (!gpus) return tl::unexpected<Error>(std::move(gpus.error()));
  std::vector<NodesOfGpu> nodes;
  for (const GpuModel* gpu : *gpus) nodes.push_back(FindNodes(of_cluster, *gpu));
  std::vector<std::string> taken = DescribeNames(names, *spec, *held);
  return TrainingQuestion{std::move(file),  std::move(*spec), std::move(presets), std::move(held),
                          std::move(*gpus), std::move(nodes), std::move(taken),   std::move(notes)};
}

Error TrainingQuestion::Placed(const Error& error) const { return file.Explained(error); }

}  // namespace gpuadvise::client
