#include "daemon/store/history_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/history/wait_features.h"
#include "common/slurm/snapshot_json.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr size_t kMostNumbers = 4'096;        // in one list
constexpr int64_t kExperimentRowBytes = 200;  // besides its text: keys and index entries

json ToJson(const ForecastRecord& forecast_record) {
  json experts = json::array();
  for (const auto& expert : forecast_record.experts) experts.push_back(expert);
  return {{"group", static_cast<int>(forecast_record.group)},
          {"experts", std::move(experts)},
          {"features", forecast_record.features},
          {"pooled", forecast_record.pooled},
          {"p90", forecast_record.p90},
          {"keys", forecast_record.keys},
          {"forest", forecast_record.forest_ready}};
}

// Throws nlohmann's exceptions for unexpected types.
ForecastRecord LessonFrom(const json& value) {
  ForecastRecord forecast_record;
  const int group = value.at("group").get<int>();
  if (group < 0 || group > 2) throw std::out_of_range("group");
  forecast_record.group = static_cast<WaitGroup>(group);
  const json& experts = value.at("experts");
  for (size_t k = 0; k < kExperts; ++k) experts.at(k).get_to(forecast_record.experts[k]);
  value.at("features").get_to(forecast_record.features);
  value.at("pooled").get_to(forecast_record.pooled);
  value.at("p90").get_to(forecast_record.p90);
  value.at("keys").get_to(forecast_record.keys);
  value.at("forest").get_to(forecast_record.forest_ready);
  if (forecast_record.pooled.empty() || forecast_record.pooled.size() > kMostNumbers ||
      forecast_record.features.size() != kWaitFeatures) {
    throw std::out_of_range("lists");
  }
  return forecast_record;
}

constexpr int kDeepestDetail = 32;

// Checks depth without building anything: nlohmann's reader recurses per level.
class DepthGauge : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return left_-- > 0; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return ++left_, true; }
  bool start_array(size_t) override { return left_-- > 0; }
  bool end_array() override { return ++left_, true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  int left_ = kDeepestDetail;
};

bool IsShallowCbor(std::span<const uint8_t> bytes) {
  DepthGauge gauge;
  return json::sax_parse(bytes.begin(), bytes.end(), &gauge, json::input_format_t::cbor);
}

}  // namespace

std::vector<uint8_t> EncodeDetail(const PastJob& job) {
  if (!job.submission && !job.forecast_record) return {};
  json detail = json::object();
  if (job.submission) detail["job"] = ToJson(*job.submission);
  if (job.forecast_record) detail["lesson"] = ToJson(*job.forecast_record);
  return json::to_cbor(detail);
}

bool DecodeDetail(std::span<const uint8_t> bytes, PastJob& job) {
  if (bytes.empty()) return true;
  if (!IsShallowCbor(bytes)) return false;
  try {
    const json detail = json::from_cbor(bytes.begin(), bytes.end());
    std::shared_ptr<const Job> submission;
    std::shared_ptr<const ForecastRecord> forecast_record;
    if (detail.contains("job")) {
      auto read = FromJson<Job>(detail["job"]);
      if (!read) return false;
      submission = std::make_shared<const Job>(std::move(*read));
    }
    if (detail.contains("lesson")) {
      forecast_record = std::make_shared<const ForecastRecord>(LessonFrom(detail["lesson"]));
    }
    job.submission = std::move(submission);
    job.forecast_record = std::move(forecast_record);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE job (
  job_id        {integer} NOT NULL,
  submit        {integer} NOT NULL,  -- unix seconds, as all times here
  array_job_id  {integer} NOT NULL,
  name          TEXT NOT NULL,
  "user"        TEXT NOT NULL,
  account       TEXT NOT NULL,
  qos           TEXT NOT NULL,
  partition     TEXT NOT NULL,
  gpu           TEXT NOT NULL,     -- GRES type
  nodes         {integer} NOT NULL,
  cpus          {integer} NOT NULL,
  gpus          {integer} NOT NULL,
  limit_seconds {integer},           -- NULL: none, or not known
  eligible      {integer} NOT NULL,
  start         {integer},
  "end"         {integer},           -- without a start: it left the queue then
  lost          {integer} NOT NULL,  -- left while nobody watched; when is not known
  slurm_said    {integer},           -- the first StartTime that Slurm published
  said_p10      {real},              -- forecast wait from eligible, seconds; NULL: none
  said_p50      {real},
  said_p90      {real},
  said_mean     {real},
  said_group    {integer},
  detail        {bytes},              -- to learn from (EncodeDetail); NULL: too old, or none
  state         TEXT NOT NULL DEFAULT '',  -- accounting's word for its end
  said_deciles  TEXT,              -- the forecast's, whole seconds, as JSON; NULL: none
  PRIMARY KEY (job_id, submit)
){behind_table};
CREATE INDEX job_submit ON job(submit);
CREATE TABLE note (name TEXT PRIMARY KEY, value {integer} NOT NULL){behind_table};
CREATE TABLE experiment (
  job_id       {integer} NOT NULL,
  uid          {integer} NOT NULL,
  submitted_at {integer} NOT NULL,
  seen         {integer} NOT NULL,   -- Slurm has shown the job; 0: its user claims it
  bytes        {integer} NOT NULL,   -- what the row takes of the bounds (BytesOf)
  text         TEXT NOT NULL,      -- JSON (common/runs/experiment.h)
  PRIMARY KEY (job_id, uid, submitted_at)
);
CREATE INDEX experiment_submitted ON experiment(submitted_at, uid, bytes);
CREATE INDEX experiment_of_user ON experiment(uid, submitted_at, bytes);
)sql";

}  // namespace

std::string HistorySchema(const ColumnTypes& types) {
  return fmt::format(kTables, fmt::arg("integer", types.integer), fmt::arg("real", types.real),
                     fmt::arg("bytes", types.bytes), fmt::arg("behind_table", types.behind_table));
}

const char* const kSecondVersion = R"sql(
CREATE TABLE experiment (
  job_id       INTEGER NOT NULL,
  uid          INTEGER NOT NULL,
  submitted_at INTEGER NOT NULL,
  text         TEXT NOT NULL,
  PRIMARY KEY (job_id, uid, submitted_at)
) WITHOUT ROWID;
CREATE INDEX experiment_submitted ON experiment(submitted_at);
ALTER TABLE job ADD COLUMN state TEXT NOT NULL DEFAULT '';
)sql";

const char* const kThirdVersion = "ALTER TABLE job ADD COLUMN said_deciles TEXT";

const char* const kSixthVersion = "DROP TABLE IF EXISTS reign";

const char* const kArrayIndex =
    "CREATE INDEX IF NOT EXISTS job_array ON job(array_job_id) WHERE array_job_id <> 0";

const char* const kPutExperiment =
    "INSERT INTO experiment (job_id, uid, submitted_at, seen, bytes, text) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (job_id, uid, submitted_at) DO UPDATE SET "
    "seen = excluded.seen, bytes = excluded.bytes, text = excluded.text";

int64_t BytesOf(const KeptExperiment& experiment) {
  return static_cast<int64_t>(experiment.text.size()) + kExperimentRowBytes;
}

void BindExperiment(HistoryStatement& row, const KeptExperiment& experiment) {
  row.BindInteger(1, experiment.job_id);
  row.BindInteger(2, experiment.uid);
  row.BindInteger(3, experiment.submitted_at);
  row.BindInteger(4, experiment.seen ? 1 : 0);
  row.BindInteger(5, BytesOf(experiment));
  row.BindText(6, experiment.text);
}

const char* const kJobColumns =
    "job_id, submit, array_job_id, name, \"user\", account, qos, partition, gpu, nodes, cpus, "
    "gpus, "
    "limit_seconds, eligible, start, \"end\", state, lost, slurm_said, said_p10, said_p50, "
    "said_p90, "
    "said_mean, said_group, said_deciles, detail";

namespace {

constexpr int kRecordColumns = 17;

void BindOptional(HistoryStatement& statement, int index, const std::optional<int64_t>& value) {
  if (value) {
    statement.BindInteger(index, *value);
  } else {
    statement.BindNull(index);
  }
}

// False if BindJob did not write `text`.
bool ReadDeciles(const std::string& text, PublishedForecast& said) {
  const auto read = nlohmann::json::parse(text, nullptr, false);
  if (!read.is_array() || read.size() != kDeciles) return false;
  Deciles deciles{};
  for (size_t i = 0; i < kDeciles; ++i) {
    if (!read[i].is_number_integer()) return false;
    const auto seconds = read[i].get<int64_t>();
    if (seconds < 0 || seconds > std::numeric_limits<int32_t>::max()) return false;
    deciles[i] = static_cast<int32_t>(seconds);
  }
  said.deciles = deciles;
  return true;
}

}  // namespace

std::string PutJob() {
  const std::string columns = kJobColumns;
  std::string parameters;
  std::string updates;
  for (size_t at = 0; at < columns.size();) {
    const size_t end = std::min(columns.find(", ", at), columns.size());
    const std::string column = columns.substr(at, end - at);
    parameters += parameters.empty() ? "?" : ", ?";
    if (column != "job_id" && column != "submit") {
      updates += fmt::format("{0}{1} = excluded.{1}", updates.empty() ? "" : ", ", column);
    }
    at = end + 2;
  }
  return fmt::format(
      "INSERT INTO job ({}) VALUES ({}) ON CONFLICT (job_id, submit) DO UPDATE SET {}", columns,
      parameters, updates);
}

JobRecord ReadRecord(const HistoryStatement& row) {
  int at = 0;
  JobRecord job;
  job.id = row.Integer(at++);
  job.submit = row.Integer(at++);
  job.array_job_id = row.Integer(at++);
  for (std::string* text :
       {&job.name, &job.user, &job.account, &job.qos, &job.partition, &job.gpu}) {
    *text = row.Text(at++);
  }
  job.nodes = row.Integer(at++);
  job.cpus = row.Integer(at++);
  job.gpus = row.Integer(at++);
  if (const auto limit = row.OptionalInteger(at++)) job.limit_seconds = *limit;
  job.eligible = row.Integer(at++);
  job.start = row.OptionalInteger(at++);
  job.end = row.OptionalInteger(at++);
  job.state = row.Text(at++);
  return job;
}

void BindRecord(HistoryStatement& row, const JobRecord& job) {
  int at = 0;
  row.BindInteger(++at, job.id);
  row.BindInteger(++at, job.submit);
  row.BindInteger(++at, job.array_job_id);
  for (const std::string* text :
       {&job.name, &job.user, &job.account, &job.qos, &job.partition, &job.gpu}) {
    row.BindText(++at, *text);
  }
  row.BindInteger(++at, job.nodes);
  row.BindInteger(++at, job.cpus);
  row.BindInteger(++at, job.gpus);
  BindOptional(
      row, ++at,
      job.limit_seconds.has_value() ? std::optional(job.limit_seconds.value()) : std::nullopt);
  row.BindInteger(++at, job.eligible);
  BindOptional(row, ++at, job.start);
  BindOptional(row, ++at, job.end);
  row.BindText(++at, job.state);
}

void BindJob(HistoryStatement& row, const PastJob& job) {
  BindRecord(row, job.record);
  int at = kRecordColumns;
  row.BindInteger(++at, job.lost ? 1 : 0);
  BindOptional(row, ++at, job.slurm_said);
  if (job.said) {
    for (const double said : {job.said->p10, job.said->p50, job.said->p90, job.said->mean}) {
      row.BindReal(++at, said);
    }
    row.BindInteger(++at, static_cast<int>(job.said->group));
  } else {
    for (int i = 0; i < 5; ++i) row.BindNull(++at);
  }
  if (job.said && job.said->deciles) {
    row.BindText(++at, nlohmann::json(*job.said->deciles).dump());
  } else {
    row.BindNull(++at);
  }
  const std::vector<uint8_t> detail = EncodeDetail(job);
  if (detail.empty()) {
    row.BindNull(++at);
  } else {
    row.BindBytes(++at, detail);
  }
}

bool ReadJob(const HistoryStatement& row, PastJob& job) {
  job.record = ReadRecord(row);
  int at = kRecordColumns;
  job.lost = row.Integer(at++) != 0;
  job.slurm_said = row.OptionalInteger(at++);
  if (!row.IsNull(at)) {
    PublishedForecast said;
    said.p10 = row.Real(at);
    said.p50 = row.Real(at + 1);
    said.p90 = row.Real(at + 2);
    said.mean = row.Real(at + 3);
    const int64_t group = row.Integer(at + 4);
    if (group < 0 || group > 2) return false;
    said.group = static_cast<WaitGroup>(group);
    if (!row.IsNull(at + 5) && !ReadDeciles(row.Text(at + 5), said)) return false;
    job.said = said;
  }
  return row.IsNull(at + 6) || DecodeDetail(row.Bytes(at + 6), job);
}

}  // namespace gpuadvise::daemon
