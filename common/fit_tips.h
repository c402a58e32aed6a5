// The tips for one row of `gpuadvise fit`: what the answer has found out about a GPU becomes the
// context that the rules look at. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/answer_fit.h"
#include "common/model_shape.h"

namespace gpuadvise {

/// [{"name", "text", "effect", "effect_source", "applies", "why_not"}] for the first GPU of
/// `question`, whose row of the answer is `row`. `memory_correction` is that of the row.
/// REQUIRES: question.gpus is not empty.
nlohmann::json FitTips(const FitQuestion& question, const Stage& stage, const nlohmann::json& row,
                       double memory_correction);

}  // namespace gpuadvise
