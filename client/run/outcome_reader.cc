#include "client/run/outcome_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/json_fields.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr int kDeepest = 16;  // the file has five levels
constexpr size_t kMostAttempts = 1'000;
constexpr size_t kMostGpus = 1'024;
constexpr size_t kLongestName = 256;
constexpr size_t kLongestJobId = 12;
constexpr int64_t kLatest = 253'402'300'799;  // the end of the year 9999
constexpr int64_t kMostSteps = 1'000'000'000'000'000;
constexpr int64_t kMostMemory = int64_t{1} << 50;
constexpr double kLongest = 1e10;  // seconds: three centuries

// Nested deeper than any reader of it should have to follow: refused before anything is built.
json ParseShallow(std::string_view text, bool* too_deep) {
  const auto watch = [too_deep](int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) *too_deep = true;
    return !*too_deep;
  };
  return json::parse(text, watch, false);
}

std::string ShortText(FieldReader& fields, const char* key) {
  std::string text = fields.Text(key).value_or("");
  if (text.size() > kLongestName) {
    fields.Refuse(key, fmt::format("{} is longer than {} bytes", key, kLongestName));
    text.clear();
  }
  return text;
}

std::string JobIdOf(FieldReader& fields) {
  const json* value = fields.Any("job_id");
  if (value == nullptr || !value->is_string()) {
    fields.Refuse("job_id", "job_id must be text of digits");
    return {};
  }
  const auto& text = value->get_ref<const std::string&>();
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits && text.size() <= kLongestJobId) return text;
  fields.Refuse("job_id", fmt::format("job_id must be text of at most {} digits", kLongestJobId));
  return {};
}

GpuUse GpuFrom(FieldReader fields) {
  GpuUse use;
  use.peak_memory_bytes = fields.Int("peak_memory_bytes", 0, kMostMemory).value_or(0);
  use.memory_total_bytes = fields.Int("memory_total_bytes", 0, kMostMemory).value_or(0);
  if (const auto mean = fields.Number("mean_utilisation", 0, 1)) {
    use.utilisation_sum = *mean;
    use.utilisation_samples = 1;
  }
  if (const auto mean = fields.Number("mean_watts", 0, 1e5)) {
    use.watts_sum = *mean;
    use.watts_samples = 1;
  }
  return use;
}

// The members of a list, no more than `most`.
std::vector<const json*> Several(FieldReader& fields, const char* key, size_t most) {
  std::vector<const json*> items = fields.List(key);
  if (items.size() <= most) return items;
  fields.Refuse(key,
                fmt::format("{} has {} entries; at most {} are read", key, items.size(), most));
  return {};
}

std::string ItemOf(const FieldReader& fields, const char* key, size_t index) {
  return PointerTo(fields.PointerOf(key), std::to_string(index));
}

Attempt AttemptFrom(FieldReader fields) {
  Attempt attempt;
  attempt.micro_batch = fields.Int("micro_batch", 1, 1'000'000);
  attempt.accumulation = fields.Int("accumulation", 1, 1'000'000);
  attempt.began = fields.Int("began", 0, kLatest).value_or(0);
  attempt.seconds = fields.Number("seconds", 0, kLongest).value_or(0);
  attempt.exit_code = static_cast<int>(fields.Int("exit_code", 0, 255).value_or(0));
  attempt.signal = static_cast<int>(fields.Int("signal", 0, 64).value_or(0));
  attempt.out_of_memory = fields.Bool("out_of_memory").value_or(false);
  attempt.steps = fields.Int("steps", 0, kMostSteps);
  attempt.total_steps = fields.Int("total_steps", 0, kMostSteps);
  attempt.seconds_per_step = fields.Number("seconds_per_step", 0, kLongest);
  attempt.loss = fields.Number("loss", -1e300, 1e300);
  const std::vector<const json*> gpus = Several(fields, "gpus", kMostGpus);
  for (size_t i = 0; i < gpus.size(); ++i) {
    attempt.gpus.push_back(GpuFrom({*gpus[i], ItemOf(fields, "gpus", i), fields.errors()}));
  }
  return attempt;
}

Outcome OutcomeFrom(FieldReader& fields) {
  Outcome outcome;
  if (!fields.Int("version", kOutcomeVersion, kOutcomeVersion)) {
    fields.Refuse("version", fmt::format("version must be {}", kOutcomeVersion));
  }
  outcome.job_id = JobIdOf(fields);
  outcome.advice_id = ShortText(fields, "advice_id");
  outcome.host = ShortText(fields, "host");
  outcome.gpu_names = fields.Texts("gpu_names");
  const bool long_name = std::any_of(outcome.gpu_names.begin(), outcome.gpu_names.end(),
                                     [](const auto& name) { return name.size() > kLongestName; });
  if (outcome.gpu_names.size() > kMostGpus || long_name) {
    fields.Refuse("gpu_names", "gpu_names has more or longer names than a node has GPUs");
  }
  const std::vector<const json*> attempts = Several(fields, "attempts", kMostAttempts);
  for (size_t i = 0; i < attempts.size(); ++i) {
    outcome.attempts.push_back(
        AttemptFrom({*attempts[i], ItemOf(fields, "attempts", i), fields.errors()}));
  }
  if (attempts.empty()) fields.Refuse("attempts", "attempts must tell at least one start");
  return outcome;
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Error CannotRead(int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
          fmt::format("it cannot be read: {}", std::strerror(error)), ""};
}

Result<void> CheckFile(const struct stat& file, uid_t owner) {
  if (S_ISLNK(file.st_mode)) return BadInput("it is a symbolic link, which is not followed");
  if (!S_ISREG(file.st_mode)) return BadInput("it is no regular file");
  if (file.st_uid != owner) {
    return BadInput(fmt::format("it belongs to another user (uid {}), who can import it",
                                static_cast<int64_t>(file.st_uid)));
  }
  if (static_cast<size_t>(file.st_size) > kMaxOutcomeBytes) {
    return BadInput(fmt::format("it is {} bytes long; an outcome has at most {}",
                                static_cast<int64_t>(file.st_size), kMaxOutcomeBytes));
  }
  return {};
}

// At most one byte more than is allowed, so that a file that grows is noticed.
Result<std::string> ReadAll(int number) {
  std::string text(kMaxOutcomeBytes + 1, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t got = ::read(number, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected<Error>(CannotRead(errno));
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  if (used > kMaxOutcomeBytes) return BadInput("it grew while it was read; try again");
  text.resize(used);
  return text;
}

}  // namespace

Result<FoundOutcome> ParseOutcome(std::string_view text) {
  if (text.size() > kMaxOutcomeBytes) return BadInput("it is too long for an outcome");
  bool too_deep = false;
  FoundOutcome found;
  found.document = ParseShallow(text, &too_deep);
  if (too_deep) return BadInput("it is nested deeper than an outcome");
  if (!found.document.is_object()) {
    return BadInput("it is no whole JSON object; it may have been cut off");
  }
  FirstError errors;
  FieldReader fields(found.document, "", &errors);
  found.outcome = OutcomeFrom(fields);
  found.running = fields.Bool("running").value_or(false);
  if (const Result<void> good = errors.AsResult(); !good) {
    return BadInput("at " + good.error().pointer + ": " + good.error().message,
                    good.error().pointer);
  }
  return found;
}

Result<FoundOutcome> ReadOutcomeFile(const std::string& path, uid_t owner) {
  struct stat before {};
  if (::lstat(path.c_str(), &before) != 0) return tl::unexpected<Error>(CannotRead(errno));
  if (const Result<void> good = CheckFile(before, owner); !good) {
    return tl::unexpected<Error>(good.error());
  }
  const OpenFile file(path);  // what lies there may have been exchanged since
  struct stat opened {};
  if (file.number() < 0 || ::fstat(file.number(), &opened) != 0) {
    return tl::unexpected<Error>(CannotRead(errno));
  }
  if (const Result<void> good = CheckFile(opened, owner); !good) {
    return tl::unexpected<Error>(good.error());
  }
  const Result<std::string> text = ReadAll(file.number());
  if (!text) return tl::unexpected<Error>(text.error());
  return ParseOutcome(*text);
}

}  // namespace gpuadvise
