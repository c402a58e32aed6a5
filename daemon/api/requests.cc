#include "daemon/api/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/base/json_fields.h"
#include "common/base/json_text.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/yaml/train_file.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// Where the parser stopped: accepts everything, keeps the first error.
class ErrorPlace : public nlohmann::json_sax<json> {
 public:
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string&, const json::exception&) override {
    position = at;
    return false;
  }
};

}  // namespace

Result<json> ParseRequestJson(std::string_view body) {
  const JsonSize size = MeasureJson(body);
  if (size.depth > kMaxJsonDepth) {
    return BadInput(fmt::format("the request is nested more than {} deep", kMaxJsonDepth));
  }
  if (size.values > kMaxJsonValues) {
    return BadInput(fmt::format(
        "the request has about {} values; {} are possible: leave out what "
        "the question does not need",
        Grouped(static_cast<int64_t>(size.values)), Grouped(static_cast<int64_t>(kMaxJsonValues))));
  }
  json document = json::parse(body.begin(), body.end(), nullptr, false);
  if (document.is_discarded()) {
    ErrorPlace place;
    json::sax_parse(body.begin(), body.end(), &place);
    return BadInput(fmt::format("the request is no JSON: byte {} of {} cannot stand there",
                                place.position, body.size()));
  }
  if (!document.is_object()) return BadInput("the request is not a JSON object; send {...}");
  return document;
}

namespace {

constexpr const char* kName = "train.yaml";

Result<std::string> ReadNothing(const std::string& path) {
  return BadInput(
      fmt::format("{} is a file, which is not sent along: write its JSON here in its place, or use "
                  "gpuadvise advise on the command line",
                  Shortened(path, kMaxQuotedBytes)));
}

Error AsIs(Error error) { return error; }

Result<std::string> TextMember(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || found->is_null()) return std::string();
  if (!found->is_string())
    return BadInput(fmt::format("{} is no text; send it as a JSON string", name),
                    PointerTo("", name));
  return found->get<std::string>();
}

}  // namespace

Result<Explain> TakeSpecText(json& body, UnixSeconds now) {
  if (!body.contains("spec_yaml")) return AsIs;
  const Result<std::string> text = TextMember(body, "spec_yaml");
  if (!text) return tl::unexpected<Error>(text.error());
  if (text->size() > kMaxSpecTextBytes) {
    return BadInput(fmt::format("spec_yaml has {} bytes; {} are possible: leave out what is no "
                                "training",
                                Grouped(static_cast<int64_t>(text->size())),
                                Grouped(static_cast<int64_t>(kMaxSpecTextBytes))),
                    "/spec_yaml");
  }
  const Result<std::string> section = TextMember(body, "section");
  if (!section) return tl::unexpected<Error>(section.error());
  Result<TrainFile> file = TrainFile::FromText(*text, kName, *section, now, ReadNothing);
  if (!file) return tl::unexpected<Error>(std::move(file.error()));
  body.erase("spec_yaml");
  body["spec"] = file->spec();
  const auto held = std::make_shared<const TrainFile>(std::move(*file));
  return Explain([held](Error error) {
    if (error.pointer.starts_with("/spec")) error.message = held->Explain(error);
    return error;
  });
}

namespace {

// Beyond every list, and a number that JSON readers can hold.
constexpr size_t kLargest = 1'000'000'000;

std::string Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const bool coded = text[i] == '%' && i + 2 < text.size() &&
                       std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
                           text.data() + i + 3;
    if (coded) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

// Sets `number` when `name` is `wanted`; what is too large for any number is the largest.
Result<void> TakeNumber(const std::string& name, const char* wanted, const std::string& value,
                        size_t& number) {
  if (name != wanted) return {};
  const char* end = value.data() + value.size();
  const auto [rest, status] = std::from_chars(value.data(), end, number);
  if (rest != end || status == std::errc::invalid_argument) {
    return BadInput(fmt::format("{} is {}; write a whole number", wanted, Quoted(value)));
  }
  number = status == std::errc() ? std::min(number, kLargest) : kLargest;
  return {};
}

// What the queries of pages have in common.
template <typename Filter>
Result<void> TakePage(const std::string& name, const std::string& value, Filter& filter) {
  if (name == "partition") filter.partition = value;
  if (name == "gpu") filter.gpu = value;
  if (name == "search") filter.search = value;
  Result<void> taken = TakeNumber(name, "offset", value, filter.offset);
  if (taken) taken = TakeNumber(name, "limit", value, filter.limit);
  return taken;
}

}  // namespace

std::map<std::string, std::string> ParseQuery(std::string_view target) {
  std::map<std::string, std::string> query;
  const size_t mark = target.find('?');
  if (mark == std::string_view::npos) return query;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value =
        equals < pair.size() ? pair.substr(equals + 1) : std::string_view();
    if (!pair.empty()) query[Decoded(pair.substr(0, equals))] = Decoded(value);
  }
  return query;
}

Result<void> CheckQuery(std::string_view target, std::string_view allowed) {
  const std::vector<std::string_view> names = SplitAt(allowed, ',');
  const auto pairs = static_cast<size_t>(std::count(target.begin(), target.end(), '&'));
  if (pairs > 2 * names.size() + 2) return BadInput("the query has too many parameters");
  for (const auto& [name, value] : ParseQuery(target)) {
    if (!IsOneOf(name, names)) {
      return BadInput(fmt::format(
          "unknown parameter {}{}", Quoted(name),
          names.empty() ? "; this takes none"
                        : "; known are " + ReplaceAll(std::string(allowed), ",", ", ")));
    }
    if (value.size() > kMaxQueryValueBytes) {
      return BadInput(
          fmt::format("{} has {} bytes; {} are possible", name, value.size(), kMaxQueryValueBytes));
    }
  }
  return {};
}

std::string CanonicalTarget(std::string_view target) {
  std::string canonical(target.substr(0, target.find('?')));
  for (const auto& [name, value] : ParseQuery(target)) {
    if (!value.empty()) canonical += fmt::format("?{}={}:{}", name, value.size(), value);
  }
  return canonical;
}

Result<QueueFilter> ParseQueueFilter(std::string_view target) {
  QueueFilter filter;
  for (const auto& [name, value] : ParseQuery(target)) {
    const Result<void> taken = TakePage(name, value, filter);
    if (!taken) return tl::unexpected<Error>(taken.error());
    if (name == "user") filter.user = value;
    if (name == "account") filter.account = value;
    if (name == "qos") filter.qos = value;
    if (name == "sort" && !value.empty()) {
      const Result<QueueSort> sort = ParseQueueSort(value);
      if (!sort) return tl::unexpected<Error>(sort.error());
      filter.sort = *sort;
    }
    if (name == "format") {
      if (!value.empty() && value != "json" && value != "csv") {
        return BadInput(fmt::format("format is {}; write json or csv", Quoted(value)));
      }
      filter.as_file = value == "csv";
    }
    if (name != "state" || value.empty()) continue;
    if (value != "pending" && value != "running") {
      return BadInput(fmt::format("state is {}; write pending or running", Quoted(value)));
    }
    filter.running = value == "running";
  }
  return filter;
}

namespace {

// What the queries of all lists of nodes have in common.
Result<void> TakeNodes(const std::string& name, const std::string& value, NodesFilter& filter) {
  if (name == "node") filter.node = value;
  if (name != "condition" || value.empty()) return TakePage(name, value, filter);
  filter.broken = value == "broken";
  filter.idle_allocated = value == "idle_allocated";
  if (filter.broken || filter.idle_allocated) return {};
  filter.condition = NodeUseNamed(value);
  if (filter.condition) return {};
  return BadInput(
      fmt::format("condition is {}; write free, partly, busy, promised, drained, down, broken or "
                  "idle_allocated",
                  Quoted(value)));
}

template <typename Filter>
Result<Filter> FilterOfNodes(std::string_view target) {
  Filter filter;
  for (const auto& [name, value] : ParseQuery(target)) {
    const Result<void> taken = TakeNodes(name, value, filter);
    if (!taken) return tl::unexpected<Error>(taken.error());
  }
  return filter;
}

}  // namespace

Result<NodesFilter> ParseNodesFilter(std::string_view target) {
  return FilterOfNodes<NodesFilter>(target);
}

namespace {

// The number of `unit` (weeks) that a query names, 1 to `most`; `otherwise` where it names none.
Result<int64_t> NumberOf(const char* unit, std::string_view target, int64_t most,
                         int64_t otherwise) {
  const std::map<std::string, std::string> query = ParseQuery(target);
  const auto given = query.find(unit);
  if (given == query.end()) return otherwise;
  const auto number = WholeNumber(given->second);
  if (!number || *number < 1 || *number > most) {
    return BadInput(fmt::format("{} is {}; write a whole number from 1 to {}", unit,
                                Quoted(given->second), most));
  }
  return *number;
}

}  // namespace

Result<HistoryQuestion> ParseHistoryQuestion(std::string_view target) {
  HistoryQuestion question;
  const Result<int64_t> weeks = NumberOf("weeks", target, kMostWeeks, question.weeks);
  if (!weeks) return tl::unexpected<Error>(weeks.error());
  question.weeks = *weeks;
  const std::map<std::string, std::string> query = ParseQuery(target);
  if (const auto gpu = query.find("gpu"); gpu != query.end()) question.gpu = gpu->second;
  return question;
}

Result<int64_t> ParseFreeHours(std::string_view target) {
  return NumberOf("hours", target, kMostFreeHours, kMostFreeHours);
}

Result<TimelineFilter> ParseTimelineFilter(std::string_view target) {
  Result<TimelineFilter> filter = FilterOfNodes<TimelineFilter>(target);
  if (!filter) return filter;
  const Result<int64_t> hours = NumberOf("hours", target, kMostTimelineHours, filter->hours);
  if (!hours) return tl::unexpected<Error>(hours.error());
  filter->hours = *hours;
  return filter;
}

Result<UsersQuestion> ParseUsersQuestion(std::string_view target) {
  UsersQuestion question;
  const Result<int64_t> weeks = NumberOf("weeks", target, kMostUsageWeeks, question.weeks);
  if (!weeks) return tl::unexpected<Error>(weeks.error());
  question.weeks = *weeks;
  const std::map<std::string, std::string> query = ParseQuery(target);
  if (const auto account = query.find("account"); account != query.end()) {
    question.account = account->second;
  }
  return question;
}

Result<UsageQuestion> ParseUsageQuestion(std::string_view target) {
  UsageQuestion question;
  const Result<int64_t> weeks = NumberOf("weeks", target, kMostUsageWeeks, question.weeks);
  if (!weeks) return tl::unexpected<Error>(weeks.error());
  question.weeks = *weeks;
  return question;
}

}  // namespace gpuadvise::daemon
