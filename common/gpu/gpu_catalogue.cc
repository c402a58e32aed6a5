#include "common/gpu/gpu_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/json_fields.h"
#include "common/base/words.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

const std::map<std::string, GpuLink>& Links() {
  static const std::map<std::string, GpuLink> kLinks = {{"none", GpuLink::kNone},
                                                        {"pcie_no_p2p", GpuLink::kPcieNoP2p},
                                                        {"pcie", GpuLink::kPcie},
                                                        {"nvlink_pairs", GpuLink::kNvlinkPairs},
                                                        {"nvlink", GpuLink::kNvlink}};
  return kLinks;
}

// Reads the required members of an entry; a missing one is an error.
class EntryReader {
 public:
  EntryReader(const json& entry, const std::string& pointer, DocumentErrors* errors)
      : fields_(entry, pointer, errors) {}

  std::string Text(const std::string& key) { return Needed(key, fields_.Text(key)); }
  double Number(const std::string& key, double low, double high) {
    return Needed(key, fields_.Number(key, low, high));
  }
  GpuLink Link() {
    std::vector<std::string> names;
    for (const auto& [name, link] : Links()) names.push_back(name);
    const auto link = Links().find(Needed("link", fields_.Choice("link", names)));
    return link == Links().end() ? GpuLink::kPcie : link->second;
  }
  FieldReader& fields() { return fields_; }

 private:
  template <typename T>
  T Needed(const std::string& key, std::optional<T> value) {
    if (!value) fields_.Refuse(key, fmt::format("{} is missing from this GPU's entry", key));
    return value.value_or(T{});
  }

  FieldReader fields_;
};

// Defaults of one architecture for members missing in a card's entry.
struct Architecture {
  double matrix_share = 0.8;
  double fp32_share = 0.7;
  double flash_share = 0.6;
  double tflops_per_watt = 0;  // matrix products within the power limit; 0: not limiting
};
using Architectures = std::map<std::string, Architecture>;

const Architecture& ArchitectureOf(const std::string& name, const Architectures& architectures) {
  static const Architecture kUnknown;
  const auto found = architectures.find(name);
  return found == architectures.end() ? kUnknown : found->second;
}

// Share of dense_tflops within the card's power limit.
double MatrixShareOf(const GpuModel& model, const Architecture& kind) {
  const double by_power = kind.tflops_per_watt * model.tdp_watts / model.dense_tflops;
  return by_power > 0 ? std::min(kind.matrix_share, by_power) : kind.matrix_share;
}

// Rates derived from half precision, as in all data sheets of NVIDIA and AMD: double in 8 bits,
// half in TF32, where supported.
constexpr double kFp8Capability = 8.9;
constexpr double kTf32Capability = 8.0;

double Fp8Of(const GpuModel& model) {
  const bool amd = model.architecture == "CDNA3" || model.architecture == "CDNA4";
  return amd || model.compute_capability >= kFp8Capability ? 2 * model.dense_tflops : 0;
}

double Tf32Of(const GpuModel& model) {
  const bool has = model.architecture == "CDNA3" || model.compute_capability >= kTf32Capability;
  return has ? model.dense_tflops / 2 : 0;
}

// One entry of `gpus:`.
GpuModel ReadEntry(const json& entry, const std::string& pointer,
                   const Architectures& architectures, DocumentErrors* errors) {
  EntryReader reader(entry, pointer, errors);
  GpuModel model;
  model.id = reader.Text("id");
  model.display_name = reader.Text("name");
  model.architecture = reader.Text("architecture");
  model.compute_capability = reader.Number("compute_capability", 0, 100);
  model.memory_gb = reader.Number("memory_gb", 0.25, 4096);
  model.memory_bytes = std::llround(model.memory_gb * (int64_t{1} << 30));
  model.memory_bandwidth_gb_per_s = reader.Number("memory_bandwidth_gb_per_s", 1, 1e6);
  model.dense_tflops = reader.Number("dense_tflops", 0.1, 1e6);
  model.link = reader.Link();
  FieldReader& optional = reader.fields();
  model.tdp_watts = optional.Number("tdp_watts", 0, 1e5).value_or(0);
  const Architecture& kind = ArchitectureOf(model.architecture, architectures);
  model.matrix_share =
      optional.Number("matrix_share", 0.01, 2).value_or(MatrixShareOf(model, kind));
  model.fp32_share = optional.Number("fp32_share", 0.01, 2).value_or(kind.fp32_share);
  model.flash_share = optional.Number("flash_share", 0.01, 2).value_or(kind.flash_share);
  model.efficiency = optional.Number("efficiency", 0.01, 2).value_or(1);
  model.bf16 = optional.Bool("bf16").value_or(false);
  model.fp32_tflops = optional.Number("fp32_tflops", 0.1, 1e6).value_or(model.dense_tflops / 8);
  model.nvlink_gb_per_s = optional.Number("nvlink_gb_per_s", 0, 1e5).value_or(0);
  model.price_per_gpu_hour = optional.Number("price_per_gpu_hour", 0, 1e6).value_or(0);
  model.fp8_tflops = optional.Number("fp8_tflops", 0, 1e6).value_or(Fp8Of(model));
  model.tf32_tflops = optional.Number("tf32_tflops", 0, 1e6).value_or(Tf32Of(model));
  model.is_mig_slice = !ParseGpuName(model.id).mig_profile.empty();
  model.aliases = optional.Texts("aliases");
  for (const char* for_people : {"source", "matrix_source", "usable_memory_source"})
    optional.Text(for_people);
  model.usable_memory_bytes =
      std::llround(optional.Number("usable_memory_mib", 1, 4096 * 1024).value_or(0) * (1 << 20));
  optional.RefuseUnknown();
  return model;
}

struct Entry {
  json value;
  std::string pointer;  // in the last document that defines it
};

std::string IdOf(const json& entry) {
  const auto id = entry.is_object() ? entry.find("id") : entry.end();
  return entry.is_object() && id != entry.end() && id->is_string() ? id->get<std::string>() : "";
}

constexpr size_t kMostModels = 4096;  // far more than exist

// Reads `architectures:` of one document; each changes only the given keys.
void ReadArchitectures(FieldReader& top, Architectures& architectures, DocumentErrors* errors) {
  const std::vector<const json*> list = top.List("architectures", kMostModels);
  for (size_t i = 0; i < list.size(); ++i) {
    FieldReader reader(*list[i], fmt::format("/architectures/{}", i), errors);
    const auto name = reader.Text("name");
    if (!name) reader.Refuse("name", "name is missing from this architecture's entry");
    Architecture& kind = architectures[name.value_or("")];
    const auto share = [&](const char* key, double& value) {
      value = reader.Number(key, 0.01, 2).value_or(value);
    };
    share("matrix_share", kind.matrix_share);
    share("fp32_share", kind.fp32_share);
    share("flash_share", kind.flash_share);
    share("tflops_per_watt", kind.tflops_per_watt);
    reader.Text("source");
    reader.RefuseUnknown();
  }
}

// Merges one document; an existing id in `gpus:` changes only the given keys.
void Merge(const json& document, std::vector<Entry>& entries, Architectures& architectures,
           DocumentErrors* errors) {
  if (document.is_null()) return;
  FieldReader top(document, "", errors);
  const std::vector<const json*> list = top.List("gpus", kMostModels);
  ReadArchitectures(top, architectures, errors);
  top.RefuseUnknown();
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string pointer = fmt::format("/gpus/{}", i);
    const std::string id = IdOf(*list[i]);
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
      return !id.empty() && IdOf(e.value) == id;
    });
    if (same == entries.end()) {
      entries.push_back({*list[i], pointer});
    } else {
      same->value.merge_patch(*list[i]);
      same->pointer = pointer;
    }
  }
}

}  // namespace

json EntryOf(const GpuModel& model) {
  const auto link = std::find_if(Links().begin(), Links().end(),
                                 [&](const auto& named) { return named.second == model.link; });
  json entry = {{"id", model.id},
                {"name", model.display_name},
                {"architecture", model.architecture},
                {"compute_capability", model.compute_capability},
                {"memory_gb", model.memory_gb},
                {"memory_bandwidth_gb_per_s", model.memory_bandwidth_gb_per_s},
                {"dense_tflops", model.dense_tflops},
                {"fp32_tflops", model.fp32_tflops},
                {"matrix_share", model.matrix_share},
                {"fp32_share", model.fp32_share},
                {"flash_share", model.flash_share},
                {"efficiency", model.efficiency},
                {"bf16", model.bf16},
                {"link", link->first},
                {"nvlink_gb_per_s", model.nvlink_gb_per_s},
                {"tdp_watts", model.tdp_watts},
                {"price_per_gpu_hour", model.price_per_gpu_hour},
                {"fp8_tflops", model.fp8_tflops},
                {"tf32_tflops", model.tf32_tflops}};
  if (model.usable_memory_bytes > 0) {
    entry["usable_memory_mib"] = static_cast<double>(model.usable_memory_bytes) / (1 << 20);
  }
  return entry;
}

bool GpuCatalogue::Spellings::HasWhole(const std::string& name) const {
  return std::find(folded.begin(), folded.end(), name) != folded.end();
}

bool GpuCatalogue::Spellings::Matches(const GpuName& name, const GpuModel& model) const {
  return std::any_of(parts.begin(), parts.end(), [&](const GpuName& own) {
    if (own.mig_profile != name.mig_profile) return false;
    // A slice is identified by card and profile; the card's size and form add nothing.
    if (model.is_mig_slice) return name.family.empty() || name.family == own.family;
    return own.family == name.family && !name.family.empty() &&
           (name.memory_gb == 0 || name.memory_gb == std::lround(model.memory_gb)) &&
           (name.form.empty() || own.form.empty() || name.form == own.form);
  });
}

Result<GpuCatalogue> GpuCatalogue::FromJson(const json& document) {
  return FromJson(document, json());
}

Result<GpuCatalogue> GpuCatalogue::FromJson(const json& document, const json& overrides) {
  DocumentErrors errors;
  std::vector<Entry> entries;
  Architectures architectures;
  Merge(document, entries, architectures, &errors);
  Merge(overrides, entries, architectures, &errors);
  GpuCatalogue catalogue;
  for (const Entry& entry : entries) {
    GpuModel model = ReadEntry(entry.value, entry.pointer, architectures, &errors);
    Spellings spellings{{FoldGpuName(model.id), FoldGpuName(model.display_name)},
                        {ParseGpuName(model.id)}};
    for (const std::string& alias : model.aliases) {
      spellings.folded.push_back(FoldGpuName(alias));
      if (model.is_mig_slice) spellings.parts.push_back(ParseGpuName(alias));
    }
    catalogue.models_.push_back(std::move(model));
    catalogue.spellings_.push_back(std::move(spellings));
  }
  if (auto good = errors.AsResult(); !good) return tl::unexpected<Error>(good.error());
  return catalogue;
}

const GpuModel* GpuCatalogue::Resolve(std::string_view name) const {
  const std::string whole = FoldGpuName(name);
  if (whole.empty()) return nullptr;
  const GpuName parts = ParseGpuName(name);
  const GpuModel* smallest = nullptr;
  for (size_t i = 0; i < models_.size(); ++i) {
    if (spellings_[i].HasWhole(whole)) return &models_[i];
    if (!spellings_[i].Matches(parts, models_[i])) continue;
    if (smallest == nullptr || models_[i].memory_bytes < smallest->memory_bytes) {
      smallest = &models_[i];
    }
  }
  return smallest;
}

std::string GpuCatalogue::NearTo(std::string_view name) const {
  std::vector<std::string> names;
  for (const GpuModel& model : models_) {
    names.push_back(model.id);
    names.insert(names.end(), model.aliases.begin(), model.aliases.end());
  }
  return DidYouMean(name, names);
}

bool GpuCatalogue::Accepts(std::string_view name, const GpuModel& model) const {
  const auto own = std::find_if(models_.begin(), models_.end(),
                                [&](const GpuModel& m) { return m.id == model.id; });
  const std::string whole = FoldGpuName(name);
  if (own == models_.end() || whole.empty()) return false;
  const Spellings& spellings = spellings_[static_cast<size_t>(own - models_.begin())];
  if (spellings.HasWhole(whole)) return true;
  const GpuName parts = ParseGpuName(name);
  if (!spellings.Matches(parts, *own)) return false;
  const bool names_another =
      std::any_of(spellings_.begin(), spellings_.end(),
                  [&](const Spellings& other) { return other.HasWhole(whole); });
  // "h100-80gb-hbm3" is the exact name of one card; "2080" is an alias of one card but states no
  // more than its family.
  return !names_another ||
         (parts.memory_gb == 0 && parts.form.empty() && parts.mig_profile.empty());
}

std::vector<const GpuModel*> GpuCatalogue::FindAmbiguous(std::string_view name) const {
  const GpuModel* taken = Resolve(name);
  std::vector<const GpuModel*> others;
  if (taken == nullptr || taken->is_mig_slice) return others;
  const std::string whole = FoldGpuName(name);
  if (whole == FoldGpuName(taken->id) || whole == FoldGpuName(taken->display_name)) return others;
  for (const GpuModel& model : models_) {
    if (&model != taken && !model.is_mig_slice && Accepts(name, model)) others.push_back(&model);
  }
  return others;
}

std::string DescribeResolution(const GpuCatalogue& catalogue, std::string_view name) {
  const std::vector<const GpuModel*> others = catalogue.FindAmbiguous(name);
  if (others.empty()) return "";
  std::vector<std::string> ids;
  for (const GpuModel* other : others) ids.push_back(other->id);
  return fmt::format("{} is read as {}; {} {}", name, catalogue.Resolve(name)->display_name,
                     JoinNames(ids), ids.size() == 1 ? "is another" : "are others");
}

}  // namespace gpuadvise
