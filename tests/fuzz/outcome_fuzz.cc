// gpuadvise-outcome.json as anyone may have written it: what is read can be written and read again.
#include <nlohmann/json.hpp>

#include "client/run/outcome_reader.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const auto found = ParseOutcome(AsText(data, size));
  if (!found) {
    Require(!found.error().message.empty(), "an error has a sentence");
    return 0;
  }
  Require(!found->outcome.attempts.empty(), "an outcome tells of a start");
  const auto written = OutcomeJson(found->outcome);
  const auto again =
      ParseOutcome(written.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  Require(again.has_value(), "what was read is written so that it can be read");
  Require(OutcomeJson(again->outcome) == written, "reading and writing loses nothing");
  return 0;
}
