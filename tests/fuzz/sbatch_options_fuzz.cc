// A job script's #SBATCH lines and a command line's options: what was read is written so that it is
// read again, on a command line and in a script.
#include <nlohmann/json.hpp>

#include "client/questions/job_question.h"
#include "client/sbatch/option_values.h"
#include "client/sbatch/sbatch_options.h"
#include "client/shell/shell_words.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

using namespace gpuadvise;
using namespace gpuadvise::client;

void RequireSame(const SbatchOptions& options) {
  const auto again = ParseSbatchArguments(options.ToArguments());
  Require(again.has_value(), "options that were read are read again");
  Require(again->options == options && again->rest.empty() && again->unknown.empty(),
          "and are the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(AsText(data, size));
  if (const auto lines = ParseScriptOptions(text, "job.sh")) {
    RequireSame(lines->options);
    (void)JobQuestion(lines->options, 1'790'000'000);
    (void)AdviceConstraints(lines->options);
  } else {
    Require(lines.error().message.starts_with("job.sh:"), "an error names the line");
  }
  if (const auto arguments = ParseSbatchArguments(SplitShellLine(text))) {
    RequireSame(arguments->options);
  }
  if (const auto count = ParseCount("ntasks", text)) Require(*count >= 1, "a count is one");
  if (const auto nodes = ParseNodeCount(text)) Require(*nodes >= 1, "a count is one");
  return 0;
}
