// A training file as anybody may have written it: read by the rules, or refused with the file's
// name; what is read says the same when it is read as JSON.
#include <nlohmann/json.hpp>

#include "common/spec/train_spec.h"
#include "common/yaml/train_file.h"
#include "common/yaml/yaml_document.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  const auto no_files = [](const std::string&) -> Result<std::string> { return BadInput("none"); };
  const auto file = TrainFile::FromText(AsText(data, size), "t.yaml", "", 1'790'000'000, no_files);
  if (!file) {
    Require(file.error().message.starts_with("t.yaml"), "an error names the file");
    return 0;
  }
  const std::string text =
      file->spec().dump(-1, ' ', false, nlohmann::json::error_handler_t::strict);
  Require(nlohmann::json::parse(text) == file->spec(), "what is read can be sent");
  Require(text.size() <= 8 * kMaxYamlExpandedBytes, "aliases do not fill the memory");
  const auto spec = ParseTrainSpec(file->spec(), "/spec");
  if (spec) return 0;
  Error error = spec.error();
  Require(file->Explain(error).starts_with("t.yaml"), "an error names the file");
  return 0;
}
