// A model's folder that somebody downloaded: config.json is the first line, model.safetensors what
// follows. Its header says how many parameters there are; any bytes are a number or a sentence.
#include <cmath>
#include <fstream>

#include "client/models/model_folder.h"
#include "client/models/safetensors.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  static const TemporaryFolder kFolder;
  const std::string_view text = AsText(data, size);
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string_view weights = text.substr(std::min(line + 1, text.size()));
  kFolder.Write("config.json", std::string(text.substr(0, line)));
  const std::string path = kFolder.Write("model.safetensors", std::string(weights));
  const auto count = CountSafetensors(path);
  if (count) {
    Require(std::isfinite(count->parameters) && count->parameters >= 0, "a count is a number");
  } else {
    Require(count.error().message.find(path) != std::string::npos, "an error names the file");
  }
  const auto model = ReadModelFolder(kFolder.Path("."));
  if (!model) Require(!model.error().message.empty(), "an error has a sentence");
  return 0;
}
