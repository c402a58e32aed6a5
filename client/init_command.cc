#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "client/commands.h"
#include "client/display.h"
#include "client/exit_code.h"
#include "client/train_yaml_writer.h"
#include "yaml/yaml_file.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Creates `path`; an existing file is never touched.
Result<void> WriteNewFile(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    return BadInput(path + " exists; name another file, or remove it first");
  }
  if (fd < 0) return BadInput(path + " cannot be written: " + std::strerror(errno));
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      ::close(fd);
      return Fail(ErrorCode::kInternal, path + " cannot be written: " + std::strerror(error));
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  if (::close(fd) != 0) {
    return Fail(ErrorCode::kInternal, path + " cannot be written: " + std::strerror(errno));
  }
  return {};
}

Result<ConvertedScript> Content(const InitCommand& command, Api& api) {
  if (!command.from.empty()) {
    const Result<std::string> script = ReadTextFile(command.from);
    if (!script) return tl::unexpected<Error>(script.error());
    return TrainYamlFromScript(*script, command.from);
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
  for (const std::string& sentence : content->not_read) {
    console.Complain("gpuadvise: " + Printable(sentence));
  }
  console.Print("Wrote " + Printable(command.file) + "; next: gpuadvise advise " +
                Printable(command.file) + "\n");
  return kExitOk;
}

}  // namespace gpuadvise
