#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/script_source.h"
#include "client/commands/shared_options.h"
#include "client/commands/train_yaml_writer.h"
#include "client/script/script_file.h"
#include "client/terminal/printable.h"
#include "common/process/files.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr const char* kUsualFile = "train.yaml";

struct InitCommand {
  std::string file = kUsualFile;
  FromScript from;  // without a script an example for this cluster
};

// Creates `path`; an existing file is never touched.
Result<void> WriteNewFile(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file && errno == EEXIST) {
    return BadInput(path + " exists; name another file, or remove it first");
  }
  if (!file) return BadInput(path + " cannot be written: " + std::strerror(errno));
  if (WriteAll(file, text) && file.Close()) return {};
  const int reason = errno;
  ::unlink(path.c_str());  // a part of it
  return Fail(ErrorCode::kInternal, path + " cannot be written: " + std::strerror(reason));
}

Result<ConvertedScript> Content(const InitCommand& command, Api& api) {
  if (!command.from.script.empty()) {
    return ConvertScriptFile(command.from.script, command.from.hints);
  }
  const Result<json> gpus = api.Get("/v1/gpus");
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  return ConvertedScript{ExampleTrainYaml(ReadAnswer<api::Gpus>(*gpus)), {}};
}

int Run(InitCommand& command, const CommandContext& context) {
  Api& api = context.api;
  Console& console = context.console;
  if (command.from.script.empty() && IsJobScript(command.file)) {
    command.from.script = std::exchange(command.file, kUsualFile);
  }
  if (::access(command.file.c_str(), F_OK) == 0) {
    return Report(
        {ErrorCode::kBadInput, command.file + " exists; name another file, or remove it first", ""},
        console);
  }
  const Result<ConvertedScript> content = Content(command, api);
  if (!content) return Report(content.error(), console);
  if (Result<void> written = WriteNewFile(command.file, content->yaml); !written) {
    return Report(written.error(), console);
  }
  const bool complete = content->report.missing.empty();
  const std::string next =
      complete ? "next: gpuadvise advise " : "fill it in, then: gpuadvise advise ";
  console.Print(ReportText(content->report, console.style().width) + "Wrote " +
                Printable(command.file) + "; " + next + Printable(command.file) + "\n");
  return kExitOk;
}

void AddOptions(InitCommand& command, Options& options) {
  options.Value("FILE", command.file,
                "File to write (default train.yaml), or the job script to turn into train.yaml");
  AddFromScript(options, command.from, "Turn this job script into a train.yaml");
  options.Place();
}

}  // namespace

Command MakeInitCommand() {
  return MakeCommand<InitCommand>("init", "Write a template of train.yaml", AddOptions, Run);
}

}  // namespace gpuadvise::client
