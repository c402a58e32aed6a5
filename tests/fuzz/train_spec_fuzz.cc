// Specs of the keys that there are: `fit` and `scale` answer or say why not, within their budget
// and in an answer that does not outgrow what was asked.
#include <nlohmann/json.hpp>

#include "common/base/work_budget.h"
#include "common/plan/answer_fit.h"
#include "common/plan/answer_scale.h"
#include "common/spec/train_spec.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_spec.h"

namespace {

using namespace gpuadvise;
using nlohmann::json;

size_t SizeOf(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace).size();
}

template <typename Answer>
void CheckAnswer(const Result<Answer>& answer, const json& spec) {
  if (!answer) {
    Require(!answer.error().message.empty(), "an error has a sentence");
    Require(answer.error().message.size() < 4000, "an error is a sentence");
    return;
  }
  Require(SizeOf(ToJson(*answer)) < 200'000 + 200 * SizeOf(spec),
          "an answer is as long as its question");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteStream bytes(data, size);
  const json spec = AnySpec(bytes);
  const auto parsed = ParseTrainSpec(spec, "/spec", RunLength::kOptional);
  if (!parsed) {
    CheckAnswer<api::Fit>(tl::unexpected<Error>(parsed.error()), spec);
    return 0;
  }
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  int64_t asked = 0;  // how often whether to go on: work is counted, not time
  WorkBudget budget(std::chrono::milliseconds(200),
                    [&] { return std::chrono::milliseconds(++asked); });
  const WorkBudget::Share share(budget);
  const std::vector<const GpuModel*> gpus = {catalogue.Resolve("l40s"),
                                             catalogue.Resolve("rtx2080ti")};
  const FitQuestion fit{.spec = *parsed,
                        .presets = ShippedModels(),
                        .catalogue = catalogue,
                        .gpus = gpus,
                        .gpus_in_all = 1 + static_cast<int64_t>(bytes.Below(1024)),
                        .micro_batch = std::nullopt,
                        .budget = &budget};
  CheckAnswer(AnswerFit(fit), spec);
  const auto timed = ParseTrainSpec(spec, "/spec", RunLength::kRequired);
  if (!timed) return 0;
  ScaleQuestion scale{*timed, ShippedModels(), catalogue};
  scale.most_gpus = 1 + static_cast<int64_t>(bytes.Below(1024));
  scale.budget = &budget;
  CheckAnswer(AnswerScale(scale, {{gpus[0], 8, {}}, {gpus[1], 4, {}}}, DetailedGpu::kBest), spec);
  return 0;
}
