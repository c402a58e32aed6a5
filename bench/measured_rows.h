// Published measurements as rows, and tables of how far a model is from them. For bench/accuracy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/gpu/gpu_catalogue.h"
#include "common/memory/memory_model.h"
#include "common/models/model_presets.h"

namespace gpuadvise {

// A line of a CSV without quotes, by the names of its header.
using Row = std::map<std::string, std::string>;
std::vector<Row> ReadRows(const std::string& path);

// How the row's training was set up. A column that the file lacks is at its default.
TrainingSetup SetupOf(const Row& row);
// The preset's, unless the row's program has an activation of its own.
ModelShape ShapeOf(const Row& row, const ModelPreset& preset);

double NumberOf(const Row& row, const std::string& key, double without);

// "owner/name" of "owner/name/path/of/file".
std::string RepositoryOf(const Row& row);
// "llama" of "llama-2-7b".
std::string FamilyOf(const Row& row);

double Quantile(std::vector<double> values, double q);

// Relative errors by group; prints a table with median and p90 of their size, and the bias.
class ErrorTable {
 public:
  void Add(const std::string& group, double error) { groups_[group].push_back(error); }
  void Print(const std::string& title) const;

 private:
  std::map<std::string, std::vector<double>> groups_;
};

struct Known {
  GpuCatalogue catalogue;
  ModelPresets presets;
};

// Each prints its tables; with `rows` also one CSV line a row, measured and predicted.
void ScoreMemory(const Known& known, const std::vector<Row>& rows, bool print_rows);
// The same where the constants are chosen without the source that is judged (leave_one_out.h).
void ScoreMemoryLeftOut(const Known& known, const std::vector<Row>& rows);

enum class TimeReport {
  kLeftOut,  // tables, where the constants are chosen without the source that is judged
  kRows,     // the same, one CSV line a row
  kInUse,    // tables with the constants in use: for rows that had no part in them
};
void ScoreTime(const Known& known, const std::vector<Row>& rows, TimeReport report);

}  // namespace gpuadvise
