#include "daemon/settings/catalogues.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "daemon/settings/settings_file.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// A site's file, if one is set.
Result<std::optional<YamlDocument>> SiteDocument(const std::string& path) {
  if (path.empty()) return std::nullopt;
  Result<YamlDocument> document = LoadSiteFile(path);
  if (!document) return tl::unexpected<Error>(std::move(document.error()));
  return std::move(*document);
}

Result<YamlDocument> BuiltIn(std::string_view text, const char* name) {
  Result<YamlDocument> document = ParseYaml(text, name);
  if (!document) document.error().code = ErrorCode::kInternal;
  return document;
}

// The error with file and line of the document that has the pointer: the site's, if there is one.
tl::unexpected<Error> Placed(Error error, const std::string& path,
                             const std::optional<YamlDocument>& site) {
  if (site) error.message = Describe(error, path, *site);
  return tl::unexpected<Error>(std::move(error));
}

Result<GpuCatalogue> LoadCatalogue(const std::string& path) {
  Result<YamlDocument> base = BuiltIn(DefaultGpusYaml(), "gpus.yaml");
  if (!base) return tl::unexpected<Error>(std::move(base.error()));
  Result<std::optional<YamlDocument>> site = SiteDocument(path);
  if (!site) return tl::unexpected<Error>(std::move(site.error()));
  Result<GpuCatalogue> catalogue = *site ? GpuCatalogue::FromJson(base->root, (*site)->root)
                                         : GpuCatalogue::FromJson(base->root);
  if (!catalogue) return Placed(std::move(catalogue.error()), path, *site);
  return catalogue;
}

Result<ModelPresets> LoadPresets(const std::string& path) {
  Result<YamlDocument> base = BuiltIn(DefaultModelsYaml(), "models.yaml");
  if (!base) return tl::unexpected<Error>(std::move(base.error()));
  Result<std::optional<YamlDocument>> site = SiteDocument(path);
  if (!site) return tl::unexpected<Error>(std::move(site.error()));
  if (*site) base->root.merge_patch((*site)->root);
  Result<ModelPresets> presets = ModelPresets::FromJson(base->root);
  if (!presets) return Placed(std::move(presets.error()), path, *site);
  return presets;
}

// An alias or rule that names no GPU would silently do nothing: refused instead.
Result<void> CheckNames(const GpuCatalogue& catalogue, const SiteGpus& names) {
  for (const auto& [type, gpu] : names.aliases) {
    if (catalogue.Resolve(gpu) == nullptr) {
      return BadInput(
          fmt::format("gpu_aliases maps {} to {}, which is not in the catalogue; use a known name "
                      "or add it to gpus_file",
                      type, gpu));
    }
  }
  for (const SiteGpus::UntypedRule& rule : names.untyped) {
    if (catalogue.Resolve(rule.gpu) == nullptr) {
      return BadInput(
          fmt::format("untyped_gpus names {}, which is not in the catalogue; use a known name or "
                      "add it to gpus_file",
                      rule.gpu));
    }
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const Catalogues>> LoadCatalogues(const Settings& settings) {
  Result<GpuCatalogue> catalogue = LoadCatalogue(settings.gpus_file);
  if (!catalogue) return tl::unexpected<Error>(std::move(catalogue.error()));
  SiteGpus site = SiteGpusOf(settings);
  Result<void> checked = CheckNames(*catalogue, site);
  if (!checked) return tl::unexpected<Error>(std::move(checked.error()));
  Result<ModelPresets> presets = LoadPresets(settings.models_file);
  if (!presets) return tl::unexpected<Error>(std::move(presets.error()));
  return std::make_shared<const Catalogues>(
      Catalogues{GpuNaming(std::move(*catalogue), std::move(site)), std::move(*presets),
                 settings.courtesy, settings.public_account, settings.public_qos});
}

}  // namespace gpuadvise::daemon
