// The one tool that changes something: it runs only what the person was shown and agreed to.
//
// The job script is made by `submit --dry-run`, shown by the client, and handed to the submission
// (`--same-as -`), which refuses when the script has become another meanwhile: nothing that edits
// the training file while the person reads can slip in.
#include <fmt/format.h>

#include "client/mcp/mcp_server.h"
#include "client/mcp/tool_answer.h"
#include "client/terminal/printable.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr size_t kMostShownBytes = 8'000;

ToolCall With(ToolCall call, std::initializer_list<const char*> words, std::string input = "") {
  call.words.insert(call.words.end(), words.begin(), words.end());
  call.input = std::move(input);
  return call;
}

std::string TextIn(const json& object, const char* key) {
  const json value = object.is_object() ? object.value(key, json()) : json();
  return value.is_string() ? value.get<std::string>() : std::string();
}

// What the person agrees to: the checks that failed, and the whole script.
std::string QuestionText(const json& plan) {
  std::string text = "Submit this job to Slurm under your account?\n\n";
  for (const json& check : plan.value("checks", json::array())) {
    if (TextIn(check, "health") != "error") continue;
    text += "Check failed: " + TextIn(check, "finding") + "\n";
  }
  return PrintableLines(text + "\n" + TextIn(plan, "script"));
}

json QuestionForm() {
  return {{"type", "object"},
          {"properties",
           {{"submit",
             {{"type", "boolean"},
              {"title", "Submit this job"},
              {"description", "Yes: sbatch runs now. No: nothing is submitted."},
              {"default", false}}}}},
          {"required", {"submit"}}};
}

bool SaysYes(const json& reply) {
  if (!reply.is_object() || reply.value("action", json()) != "accept") return false;
  const json content = reply.value("content", json());
  return content.is_object() && content.value("submit", json()) == true;
}

}  // namespace

std::optional<json> McpServer::Submit(const ToolCall& call) {
  const std::string by_hand = CommandText(call);
  if (!can_elicit_) {
    return ToolFailure(
        "Nothing was submitted: this client cannot ask the user for confirmation. "
        "The user can run this in a terminal: " +
        by_hand);
  }
  const Result<json> plan = Ask(With(call, {"--dry-run", "--json"}));
  if (cancelled_ || ended_) return std::nullopt;
  if (!plan) return ToolFailure("Nothing was submitted: " + plan.error().message);
  const std::string script = TextIn(*plan, "script");
  if (script.empty()) {
    return ToolFailure(
        "Nothing was submitted: nothing on this cluster can run it; `advise` says why");
  }
  const std::string question = QuestionText(*plan);
  if (question.size() > kMostShownBytes) {
    return ToolFailure(
        "Nothing was submitted: the job script is too long to be shown here. The user can run "
        "this in a terminal: " +
        by_hand);
  }
  switch (Confirm(question)) {
    case Confirmed::kYes:
      break;
    case Confirmed::kNo:
      return ToolFailure(
          "Nothing was submitted: the user did not agree. Do not ask again unless the user wants "
          "it.");
    case Confirmed::kNobody:
      return ToolFailure("Nothing was submitted: nobody answered. The user can run: " + by_hand);
    case Confirmed::kCancelled:
      return std::nullopt;
  }
  // From here on nothing stops it, and it is answered: a job may be there.
  Result<json> done = Ask(With(call, {"--yes", "--json", "--same-as=-"}, script), false);
  cancelled_ = false;
  running_ = nullptr;
  if (!done) {
    return ToolFailure("The submission failed: " + done.error().message);
  }
  json answer = {{"job_id", done->value("job_id", json())}, {"command", by_hand}};
  if (done->contains("strategy")) answer["strategy"] = (*done)["strategy"];
  return ToolResult(MarkedAnswer("submit", answer));
}

McpServer::Confirmed McpServer::Confirm(const std::string& text) {
  question_ = fmt::format("gpuadvise-{}", ++questions_);
  reply_.reset();
  Send(RpcRequest(question_, "elicitation/create",
                  {{"message", text}, {"requestedSchema", QuestionForm()}}));
  using SteadyClock = std::chrono::steady_clock;
  const SteadyClock::time_point deadline = SteadyClock::now() + place_.patience_with_people;
  while (!reply_ && !cancelled_ && !ended_ && !input_ended_ && SteadyClock::now() < deadline) {
    Look(std::chrono::ceil<milliseconds>(deadline - SteadyClock::now()));
  }
  const std::string asked = std::exchange(question_, "");
  if (ended_ || (input_ended_ && !reply_)) return Confirmed::kCancelled;
  if (reply_) return SaysYes(*reply_) ? Confirmed::kYes : Confirmed::kNo;
  Send(RpcNotification("notifications/cancelled",
                       {{"requestId", asked}, {"reason", "no longer needed"}}));
  return cancelled_ ? Confirmed::kCancelled : Confirmed::kNobody;
}

}  // namespace gpuadvise::client
