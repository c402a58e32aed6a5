// Accuracy of the models of memory and run time against published measurements (docs/models.md).
//
//     cmake --build --preset release --target accuracy
//     build/release/bin/accuracy memory bench/data/memory_measurements.csv [--rows | --left-out]
//     build/release/bin/accuracy time bench/data/time_measurements.csv [--rows | --in-use]
//
// Each row names its source. --rows prints measured and predicted as CSV, for
// docs/plots/model_plots.py. --left-out
// chooses the constants anew without each source and judges it by those, as `time` does. --in-use
// takes those in use, for files that had no part in them.
#include <fmt/format.h>

#include <string>

#include "bench/measured_rows.h"
#include "common/yaml/yaml_document.h"
#include "embedded/default_gpus.h"
#include "embedded/default_models.h"

int main(int argc, char** argv) {
  using namespace gpuadvise;
  const std::string what = argc > 2 ? argv[1] : "";
  if (what != "memory" && what != "time") {
    fmt::print(stderr,
               "usage: accuracy memory|time measurements.csv [--rows | --left-out | --in-use]\n");
    return 2;
  }
  const auto gpus_yaml = ParseYaml(DefaultGpusYaml(), "gpus.yaml");
  const auto models_yaml = ParseYaml(DefaultModelsYaml(), "models.yaml");
  const Known known{*GpuCatalogue::FromJson(gpus_yaml->root),
                    *ModelPresets::FromJson(models_yaml->root)};
  const std::vector<Row> rows = ReadRows(argv[2]);
  if (rows.empty()) {
    fmt::print(stderr, "{} has no rows\n", argv[2]);
    return 1;
  }
  const std::string how = argc > 3 ? argv[3] : "";
  if (how == "--left-out" && what == "memory") {
    ScoreMemoryLeftOut(known, rows);
    return 0;
  }
  if (what == "memory") {
    ScoreMemory(known, rows, how == "--rows");
  } else {
    ScoreTime(known, rows,
              how == "--rows"     ? TimeReport::kRows
              : how == "--in-use" ? TimeReport::kInUse
                                  : TimeReport::kLeftOut);
  }
  return 0;
}
