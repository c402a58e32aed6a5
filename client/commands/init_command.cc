#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/commands/train_yaml_writer.h"
#include "client/script/script_file.h"
#include "client/terminal/printable.h"
#include "process/files.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// Creates `path`; an existing file is never touched.
Result<void> WriteNewFile(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file && errno == EEXIST) {
    return BadInput(path + " exists; name another file, or remove it first");
  }
  if (!file) return BadInput(path + " cannot be written: " + std::strerror(errno));
  if (WriteAll(file, text) && file.Close()) return {};
  return Fail(ErrorCode::kInternal, path + " cannot be written: " + std::strerror(errno));
}

Result<ConvertedScript> Content(const InitCommand& command, Api& api) {
  if (!command.from.script.empty()) {
    return ConvertScriptFile(command.from.script, command.from.hints);
  }
  const Result<json> gpus = api.Get("/v1/gpus");
  if (!gpus) return tl::unexpected<Error>(gpus.error());
  return ConvertedScript{ExampleTrainYaml(*gpus), {}};
}

}  // namespace

int RunInit(const InitCommand& command, Api& api, Console& console) {
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

}  // namespace gpuadvise::client
