// What the daemon knows beside the cluster's state: GPU names and model presets.
//
// The built-in files with the site's overrides and aliases on top. Immutable once loaded; a reload
// makes a new one. Loading reads files and blocks.
#pragma once

#include <memory>
#include <string>

#include "common/base/error.h"
#include "common/gpu/gpu_naming.h"
#include "common/models/model_presets.h"
#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

struct Catalogues {
  GpuNaming gpus;
  ModelPresets models;
  double courtesy = 0;  // of the settings, as are these
  std::string public_account = {};
  std::string public_qos = {};
};

// Errors start with the file (and line) that is wrong.
Result<std::shared_ptr<const Catalogues>> LoadCatalogues(const Settings& settings);

}  // namespace gpuadvise::daemon
