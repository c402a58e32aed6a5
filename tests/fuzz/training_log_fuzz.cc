// A training's log is bytes that nobody checked: figures of it are finite and of the right sign.
// The first line is also taken as a user's pattern.
#include <cmath>

#include "client/run/training_log.h"
#include "common/base/text.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using namespace gpuadvise;
using namespace gpuadvise::client;

void Check(const LogFact& fact) {
  Require(!fact.step || *fact.step >= 0, "a step is not negative");
  Require(!fact.total_steps || *fact.total_steps >= 0, "nor is their number");
  Require(!fact.seconds_per_step ||
              (std::isfinite(*fact.seconds_per_step) && *fact.seconds_per_step > 0),
          "a step takes some time");
  Require(!fact.loss || std::isfinite(*fact.loss), "a loss is a number");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const TrainingLog kUsual;
  const std::string_view text = AsText(data, size);
  const auto own = TrainingLog::WithPattern(std::string(text.substr(0, text.find('\n'))));
  if (!own) Require(!own.error().message.empty(), "an error has a sentence");
  for (const std::string_view line : SplitAt(text, '\n')) {
    Check(kUsual.Read(line));
    if (own) Check(own->Read(line));
    (void)OutOfMemoryIn(line);
  }
  return 0;
}
