// Advice as the API says it (docs/api.md).
#pragma once

#include "common/advise/advise.h"
#include "common/api/advice.h"
#include "common/history/accuracy.h"
#include "common/history/forecast_history.h"

namespace gpuadvise::daemon {

// The advise answer but `advice_id`, `outcomes_dir` and the frame.
api::Advice AdviceAnswer(const Advice& advice, const AdviceRequest& request,
                         const ForecastHistory* past);

// Figures of a group; null where there is nothing to take them from.
api::AccuracyFigures FiguresOf(const Accuracy& accuracy);

// What every answer with start times says about how they were made, and how accurate such answers
// have been. `past` null: every job runs to its limit.
api::Forecast ForecastNote(size_t samples, const ForecastHistory* past);

}  // namespace gpuadvise::daemon
