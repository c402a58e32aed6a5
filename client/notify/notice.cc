#include "client/notify/notice.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "client/notify/webhook.h"
#include "client/terminal/printable.h"
#include "common/base/text.h"
#include "process/run_program.h"

namespace gpuadvise::client {
namespace {

constexpr size_t kMostTextBytes = 1500;  // Discord takes 2,000 characters

std::string TitleWords(const std::string& event) {
  if (event == "started") return "started";
  if (event == "moved") return "starts at another time";
  if (event == "better") return "could start sooner";
  if (event == "hang") return "may hang";
  if (event == "idle") return "does not use its GPUs";
  if (event == "limit") return "is near its time limit";
  return "ended";
}

// Runs `name` with `input`; a sentence where that fails.
std::string RunTool(const std::string& name, std::vector<std::string> words, std::string input,
                    const NotifyTools& tools, const std::string& missing) {
  const std::string program = FindInPath(name, tools.path.c_str());
  if (program.empty()) return fmt::format("{} is not installed: {}", name, missing);
  ProgramCall call;
  words.insert(words.begin(), program);
  call.command.words = std::move(words);
  call.input = std::move(input);
  call.deadline = tools.patience;
  const ProgramEnd end = RunWithin(call);
  if (end.ok()) return "";
  if (end.how != ProgramEnd::How::kByItself) return Printable(WhyCutShort(call, end).message);
  return fmt::format("{} failed: the message was not sent", name);
}

// Desktops read tags in the text.
std::string WithoutTags(std::string text) {
  text = ReplaceAll(std::move(text), "&", "&amp;");
  text = ReplaceAll(std::move(text), "<", "&lt;");
  return ReplaceAll(std::move(text), ">", "&gt;");
}

std::string SendMail(const std::string& address, const Notice& notice, const NotifyTools& tools) {
  const std::string mail = fmt::format(
      "To: {}\nSubject: {}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
      "Content-Transfer-Encoding: 8bit\nAuto-Submitted: auto-generated\n\n{}\n",
      address, notice.title, notice.text);
  return RunTool("sendmail", {"-i", "--", address}, mail, tools,
                 "no e-mail is sent; use a webhook, or install a mail program");
}

}  // namespace

NotifyTools ToolsOfThisProcess() {
  const char* path = std::getenv("PATH");
  return {std::string(path == nullptr ? "" : path) + ":/usr/sbin:/usr/lib"};
}

Notice NoticeOf(const std::string& event, const std::string& job_id, const std::string& text) {
  std::string printable = Printable(text);
  if (printable.size() > kMostTextBytes) printable.resize(kMostTextBytes);
  return {event, std::strtoll(job_id.c_str(), nullptr, 10),
          fmt::format("Job {} {}", Printable(job_id), TitleWords(event)), std::move(printable)};
}

std::vector<std::string> SendNotice(const NotifySettings& settings, const Notice& notice,
                                    const NotifyTools& tools) {
  std::vector<std::string> complaints;
  if (!settings.events.contains(notice.event)) return complaints;
  const auto note = [&](std::string complaint) {
    if (!complaint.empty()) complaints.push_back(std::move(complaint));
  };
  if (!settings.email.empty()) note(SendMail(settings.email, notice, tools));
  if (settings.desktop) {
    note(RunTool("notify-send",
                 {"--app-name=gpuadvise", "--", notice.title, WithoutTags(notice.text)}, "", tools,
                 "nothing is shown on the desktop; install libnotify-bin"));
  }
  for (const WebhookSettings& webhook : settings.webhooks) {
    const Result<void> sent = SendWebhook(webhook, notice, tools.patience);
    if (!sent) note(sent.error().message);
  }
  return complaints;
}

}  // namespace gpuadvise::client
