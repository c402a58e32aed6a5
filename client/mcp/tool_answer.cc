#include "client/mcp/tool_answer.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "client/terminal/printable.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr size_t kMostWordsBytes = 64;       // of a person's words
constexpr size_t kMostSentenceBytes = 2000;  // of all other text
constexpr size_t kMostAnswerBytes = 100'000;

// Members that hold what people chose.
const std::set<std::string, std::less<>> kOfPeople = {
    "name",    "user",    "account", "job_name",   "comment",  "command",
    "workdir", "section", "host",    "output_dir", "log_tail", "training_name"};

// Members that a reader of few words does without.
const std::set<std::string, std::less<>> kLeftAway = {
    "catalogue",        "interconnect", "errors",   "accuracy", "samples",
    "priority_factors", "outcomes_dir", "settings", "request",  "training"};

// ASCII that reads as one word or a path, and letters of other scripts.
bool MayStand(unsigned char c) {
  return c >= 0x80 || std::isalnum(c) != 0 ||
         std::string_view(" ._-+=@:/%").find(static_cast<char>(c)) != std::string_view::npos;
}

size_t MostOf(const std::string& list) {
  if (list == "strategies") return 8;
  if (list == "jobs") return 50;
  return 20;
}

json Marked(const std::string& name, const json& value, json& left_out) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (kOfPeople.contains(name)) return text.empty() ? value : json(Untrusted(text));
    return Shortened(PrintableLines(text), kMostSentenceBytes);
  }
  if (value.is_array()) {
    json list = json::array();
    const size_t most = MostOf(name);
    for (const json& item : value) {
      if (list.size() == most) break;
      list.push_back(Marked(name, item, left_out));
    }
    if (value.size() > most) {
      left_out[name] = left_out.value(name, size_t{0}) + value.size() - most;
    }
    return list;
  }
  if (!value.is_object()) return value;
  json object = json::object();
  for (const auto& [key, member] : value.items()) {
    if (!kLeftAway.contains(key)) object[Printable(key)] = Marked(key, member, left_out);
  }
  return object;
}

// One that is still too long keeps what its schema requires, with fewer entries.
void Shorten(json& answer, json& left_out) {
  for (int tries = 0; tries < 8 && answer.dump().size() > kMostAnswerBytes; ++tries) {
    for (auto& [key, member] : answer.items()) {
      if (!member.is_array() || member.size() < 2) continue;
      const size_t dropped = member.size() / 2;
      left_out[key] = left_out.value(key, size_t{0}) + dropped;
      member.erase(member.end() - static_cast<std::ptrdiff_t>(dropped), member.end());
    }
  }
}

}  // namespace

std::string Untrusted(const std::string& words) {
  std::string kept = Printable(words);
  for (char& c : kept) {
    if (!MayStand(static_cast<unsigned char>(c))) c = '?';
  }
  return "untrusted text: \"" + Shortened(kept, kMostWordsBytes) + "\"";
}

json MarkedAnswer(const std::string& tool, const json& answer) {
  json left_out = json::object();
  json marked = Marked("", answer, left_out);
  // `stages` of one stage says `gpus` again.
  if (tool == "fit" && marked.contains("stages") && marked["stages"].size() < 2) {
    marked.erase("stages");
  }
  Shorten(marked, left_out);
  if (!left_out.empty()) marked["left_out"] = left_out;
  return marked;
}

json ToolResult(const json& structured) {
  const std::string text = structured.dump(-1, ' ', false, json::error_handler_t::replace);
  return {{"content", {{{"type", "text"}, {"text", text}}}},
          {"structuredContent", structured},
          {"isError", false}};
}

json ToolFailure(const std::string& sentence) {
  const std::string text = Shortened(PrintableLines(sentence), kMostSentenceBytes);
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", true}};
}

}  // namespace gpuadvise::client
