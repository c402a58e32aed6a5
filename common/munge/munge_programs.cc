// Credentials by `munge` and `unmunge`: a static program cannot load libmunge.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/munge/munge.h"
#include "common/process/run_program.h"

namespace gpuadvise {
namespace {

constexpr std::chrono::seconds kPatience{10};
// Exit codes of unmunge: those of libmunge.
constexpr int kSocketError = 6;  // EMUNGE_SOCKET
constexpr int kTimeout = 7;      // EMUNGE_TIMEOUT

Result<ProgramEnd> Run(std::vector<std::string> words, const std::string& socket,
                       const std::string& input) {
  ProgramCall call;
  call.command.words = std::move(words);
  if (!socket.empty()) call.command.words.push_back("--socket=" + socket);
  call.input = input;
  call.deadline = kPatience;
  Result<ProgramEnd> end = RunToCompletion(call);
  if (end) return end;
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{}; install munge on this host", end.error().message));
}

// The text before and the number in the brackets of the line of `key` in what unmunge printed
// before the payload: "STATUS:  Success (0)", "UID:  ann (1000)".
struct Field {
  std::string words;
  int64_t number = -1;
};

std::optional<Field> FieldOf(std::string_view key, std::string_view printed) {
  for (const std::string_view line : SplitAt(printed.substr(0, printed.find("\n\n")), '\n')) {
    const size_t bracket = line.rfind('(');
    if (!line.starts_with(key) || bracket == std::string_view::npos) continue;
    Field field{std::string(Trim(line.substr(key.size(), bracket - key.size()))), -1};
    const char* end = line.data() + line.size();
    const auto [rest, status] = std::from_chars(line.data() + bracket + 1, end, field.number);
    if (status == std::errc() && std::string_view(rest, end) == ")") return field;
  }
  return {};
}

// Why a program failed: "unmunge: Error: Expired credential" without what it begins with. Of a
// credential that it could read unmunge says it in STATUS alone.
std::string Reason(const ProgramEnd& end) {
  constexpr std::string_view kError = "Error: ";
  if (const auto field = FieldOf("STATUS:", end.output); field && end.errors.empty()) {
    return field->words;
  }
  std::string_view said = end.errors;
  if (const size_t found = said.find(kError); found != std::string_view::npos) {
    said.remove_prefix(found + kError.size());
  }
  return std::string(said.substr(0, said.find('\n')));
}

}  // namespace

Result<std::string> MungeCredential(const std::string& payload, const std::string& socket) {
  const Result<ProgramEnd> end = Run({"munge"}, socket, payload);
  if (!end) return tl::unexpected<Error>(end.error());
  if (end->ok()) return end->output.substr(0, end->output.find('\n'));
  return Fail(ErrorCode::kUnavailable, Reason(*end));
}

Result<MungeProof> ReadCredential(const std::string& credential, const std::string& socket) {
  const Result<ProgramEnd> end = Run({"unmunge", "--keys=STATUS,UID"}, socket, credential);
  if (!end) return tl::unexpected<Error>(end.error());
  if (end->end.exit_code == kSocketError || end->end.exit_code == kTimeout) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("munged does not answer on the daemon's host: {}", Reason(*end)));
  }
  if (!end->ok()) {
    return BadInput(fmt::format("the munge credential is not valid: {}", Reason(*end)), "");
  }
  const std::optional<Field> user = FieldOf("UID:", end->output);
  const size_t payload = end->output.find("\n\n");
  if (user && payload != std::string::npos) {
    return MungeProof{user->number, end->output.substr(payload + 2)};
  }
  return Fail(ErrorCode::kUnavailable, "unmunge printed what is not known here");
}

}  // namespace gpuadvise
