// Moments as people write them: "fri 18:00", "in 3 h", "2026-11-20T10:00".
#include "common/base/date_time.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  constexpr int64_t kNow = 1'790'000'000;
  const std::string_view text = AsText(data, size);
  for (const DayMeans day : {DayMeans::kItsStart, DayMeans::kItsEnd}) {
    const auto moment = ParseDateTime(text, kNow, day);
    Require(moment || !moment.error().message.empty(), "an error has a sentence");
    Require(moment || moment.error().message.size() < 500, "which is short");
  }
  return 0;
}
