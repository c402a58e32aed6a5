// gpuadvise-outcome.json as anyone may have written it: what is read can be written and read again.
#include <nlohmann/json.hpp>

#include "common/runs/outcome.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const auto outcome = ReadOutcomeText(AsText(data, size));
  if (!outcome) {
    Require(!outcome.error().message.empty(), "an error has a sentence");
    return 0;
  }
  Require(!outcome->attempts.empty(), "an outcome tells of a start");
  const auto written = ToJson(*outcome);
  const auto again =
      ReadOutcomeText(written.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  Require(again.has_value(), "what was read is written so that it can be read");
  Require(ToJson(*again) == written, "reading and writing loses nothing");
  return 0;
}
