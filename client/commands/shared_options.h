// Options that several commands have.
#pragma once

#include <optional>
#include <string>

#include "client/commands/options.h"
#include "client/models/built_in.h"
#include "client/questions/advice_question.h"
#include "client/questions/training_question.h"
#include "client/sbatch/sbatch_options.h"

namespace gpuadvise::client {

void AddMaxAge(Options& options, std::optional<double>& max_age_seconds);
void AddSection(Options& options, std::string& section);
void AddLogPattern(Options& options, std::string& pattern);

// WORD: only what has it in its name.
void AddWord(Options& options, std::string& word);

void AddGpusFile(Options& options, OwnCatalogues& own);
void AddModelsFile(Options& options, OwnCatalogues& own);

// Takes what no option says from the settings.
void FillFrom(const OwnCatalogues& settings, OwnCatalogues& own);

// FILE and what else is asked of `advise`, with sbatch's flags.
void AddAdviceQuestion(Options& options, AdviceQuestion& question);

// Prices of GPU-hours.
void AddPrices(Options& options, std::string& prices);

// FILE|MODEL and where it is looked up.
void AddTrainingSource(Options& options, TrainingSource& source);

// Flags of our commands that are sbatch's own: kept as text, read by one parser
// (client/questions/job_question.h).
// The option that asks for many runs.
void AddArray(Options& options, const char* spelling, SbatchOptions& given);

void AddSlurmFlags(Options& options, SbatchOptions& given);

}  // namespace gpuadvise::client
