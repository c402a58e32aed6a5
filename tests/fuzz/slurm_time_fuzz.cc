// Any text is answered, and a duration that was read is printed so that it reads the same.
#include "common/base/slurm_time.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const std::string_view text = AsText(data, size);
  const auto duration = ParseSlurmDuration(text);
  if (duration && duration->has_value()) {
    Require(duration->value() >= 0, "durations are not negative");
    const auto again = ParseSlurmDuration(FormatDuration(duration->value()));
    Require(again && *again == *duration, "parse(format(x)) == x");
  }
  const auto moment = ParseTimestamp(text);
  if (!moment) Require(!moment.error().message.empty(), "an error has a sentence");
  return 0;
}
