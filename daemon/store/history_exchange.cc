// What a standby saved while the first daemon was away, given back without counting anything twice.
//
// A job is one row, known by its id and its submission; a forecast is scored where its row has a
// forecast and a start, by the run that `scored_by` names. Both daemons may have seen the same job
// start (they could not reach each other). The first's row stays then, and takes from the other
// only what it lacks: an end, a forecast where it has made none. So the order in which rows come,
// and how often, make no difference, and no clock of either machine is compared with the other's:
// times in rows are Slurm's.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "daemon/store/history.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// One letter a column of kJobColumns, scored_by and saved_by: i whole number, r number, t text, b
// bytes; capitals may be NULL.
constexpr int kExchangeDepth = 3;  // an object of lists of rows
constexpr std::string_view kJobKinds = "iiittttttiiiIiIItiIRRRRITBtt";
constexpr std::string_view kExperimentKinds = "iiiitt";  // job_id .. seen, text, saved_by

json CellOf(const HistoryStatement& row, int column, char kind) {
  if (row.IsNull(column)) return nullptr;
  switch (kind) {
    case 'i':
    case 'I':
      return row.Integer(column);
    case 'r':
    case 'R':
      return row.Real(column);
    case 't':
    case 'T':
      return row.Text(column);
    default:
      return json::binary(row.Bytes(column));
  }
}

bool IsOfKind(const json& cell, char kind) {
  if (kind >= 'A' && kind <= 'Z') {
    if (cell.is_null()) return true;
    kind = static_cast<char>(kind - 'A' + 'a');
  }
  switch (kind) {
    case 'i':
      return cell.is_number_integer() &&
             (!cell.is_number_unsigned() || cell.get<uint64_t>() <= uint64_t{INT64_MAX});
    case 'r':
      return cell.is_number();
    case 't':
      return cell.is_string();
    default:
      return cell.is_binary();
  }
}

bool IsRow(const json& row, std::string_view kinds) {
  if (!row.is_array() || row.size() != kinds.size()) return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (!IsOfKind(row[i], kinds[i])) return false;
  }
  return true;
}

void Bind(HistoryStatement& statement, const json& row) {
  for (size_t i = 0; i < row.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    const json& cell = row[i];
    if (cell.is_null()) {
      statement.BindNull(at);
    } else if (cell.is_number_float()) {
      statement.BindReal(at, cell.get<double>());
    } else if (cell.is_number()) {
      statement.BindInteger(at, cell.get<int64_t>());
    } else if (cell.is_string()) {
      statement.BindText(at, cell.get_ref<const std::string&>());
    } else {
      statement.BindBytes(at, cell.get_binary());
    }
  }
}

json RowOf(const HistoryStatement& statement, std::string_view kinds) {
  json row = json::array();
  for (size_t i = 0; i < kinds.size(); ++i) {
    row.push_back(CellOf(statement, static_cast<int>(i), kinds[i]));
  }
  return row;
}

// About so many bytes a row takes, its numbers at their longest.
size_t BytesOfRow(const json& row) {
  size_t bytes = 0;
  for (const json& cell : row) {
    bytes += 9;
    if (cell.is_string()) bytes += cell.get_ref<const std::string&>().size();
    if (cell.is_binary()) bytes += cell.get_binary().size();
  }
  return bytes;
}

Error NotRows() {
  return {ErrorCode::kBadInput,
          "these are no rows of a history; a standby of this version sends "
          "them (docs/site-guide.md)",
          ""};
}

// What a row that is here takes from one that comes. A forecast is one thing: all of it or none.
std::string PutMissing() {
  std::string sql = fmt::format(
      "INSERT INTO job ({}, scored_by, saved_by) VALUES ({}) ON CONFLICT (job_id, submit) DO "
      "UPDATE SET ",
      kJobColumns, Parameters(kJobColumnCount + 2));
  const char* unseen = "job.lost = 1 AND excluded.lost = 0 AND excluded.\"end\" IS NOT NULL";
  for (const char* column : {"start", "end"}) {
    sql += fmt::format(
        "\"{0}\" = CASE WHEN {1} THEN excluded.\"{0}\" ELSE "
        "coalesce(job.\"{0}\", excluded.\"{0}\") END, ",
        column, unseen);
  }
  sql += fmt::format("lost = CASE WHEN {} THEN 0 ELSE job.lost END, ", unseen);
  sql += "state = CASE WHEN job.state = '' THEN excluded.state ELSE job.state END, ";
  for (const char* column : {"said_p10", "said_p50", "said_p90", "said_mean", "said_group",
                             "said_deciles", "detail", "scored_by"}) {
    sql += fmt::format(
        "{0} = CASE WHEN job.said_p50 IS NULL AND excluded.said_p50 IS NOT NULL "
        "THEN excluded.{0} ELSE job.{0} END, ",
        column);
  }
  sql += "slurm_said = coalesce(job.slurm_said, excluded.slurm_said) WHERE ";
  sql += unseen;
  sql +=
      " OR (job.start IS NULL AND excluded.start IS NOT NULL)"
      " OR (job.\"end\" IS NULL AND excluded.\"end\" IS NOT NULL)"
      " OR (job.said_p50 IS NULL AND excluded.said_p50 IS NOT NULL)";
  return sql;
}

}  // namespace

Result<void> History::BeginReign() {
  try {
    const auto row =
        database_->Prepare("INSERT INTO reign (boot) VALUES (?) ON CONFLICT DO NOTHING");
    row->BindText(1, boot_);
    row->Run();
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<bool> History::OwesRows() const {
  try {
    return database_->IntegerOf("SELECT count(*) FROM reign") != 0;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<void> History::EndReign() {
  try {
    database_->Prepare("DELETE FROM reign")->Run();
    return {};
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<ExchangedRows> History::RowsToReturn(const ExchangeCursor& from) const {
  try {
    ExchangedRows result;
    result.next = from;
    json jobs = json::array();
    json experiments = json::array();
    size_t bytes = 0;
    if (!from.jobs_done) {
      const auto row = database_->Prepare(
          fmt::format("SELECT {}, scored_by, saved_by FROM job WHERE saved_by IN (SELECT boot FROM "
                      "reign) AND (job_id, submit) > (?, ?) ORDER BY job_id, submit",
                      kJobColumns),
          Rows::kMany);
      row->BindInteger(1, from.job_id);
      row->BindInteger(2, from.submit);
      result.next.jobs_done = true;
      while (row->Step()) {
        if (bytes > kMostExchangedBytes) {
          result.next.jobs_done = false;
          break;
        }
        jobs.push_back(RowOf(*row, kJobKinds));
        bytes += BytesOfRow(jobs.back());
        result.next.job_id = row->Integer(0);
        result.next.submit = row->Integer(1);
      }
    }
    if (result.next.jobs_done) {
      const auto row = database_->Prepare(
          "SELECT job_id, uid, submitted_at, seen, text, saved_by FROM experiment WHERE saved_by "
          "IN (SELECT boot FROM reign) AND (job_id, uid, submitted_at) > (?, ?, ?) "
          "ORDER BY job_id, uid, submitted_at",
          Rows::kMany);
      row->BindInteger(1, from.experiment_job_id);
      row->BindInteger(2, from.uid);
      row->BindInteger(3, from.submitted_at);
      while (bytes <= kMostExchangedBytes && row->Step()) {
        experiments.push_back(RowOf(*row, kExperimentKinds));
        bytes += BytesOfRow(experiments.back());
        result.next.experiment_job_id = row->Integer(0);
        result.next.uid = row->Integer(1);
        result.next.submitted_at = row->Integer(2);
      }
    }
    result.rows = static_cast<int64_t>(jobs.size() + experiments.size());
    const json all = {{"jobs", std::move(jobs)}, {"experiments", std::move(experiments)}};
    const std::vector<uint8_t> cbor = json::to_cbor(all);
    result.bytes.assign(cbor.begin(), cbor.end());
    return result;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

Result<MergedRows> History::Merge(const std::string& rows) {
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(rows.data()), rows.size());
  if (!IsShallowCbor(bytes, kExchangeDepth)) return tl::unexpected<Error>(NotRows());
  const json all = json::from_cbor(rows, true, false);
  if (!all.is_object() || !all.contains("jobs") || !all.contains("experiments")) {
    return tl::unexpected<Error>(NotRows());
  }
  const json& jobs = all["jobs"];
  const json& experiments = all["experiments"];
  if (!jobs.is_array() || !experiments.is_array()) return tl::unexpected<Error>(NotRows());
  for (const json& row : jobs) {
    if (!IsRow(row, kJobKinds)) return tl::unexpected<Error>(NotRows());
  }
  for (const json& row : experiments) {
    if (!IsRow(row, kExperimentKinds)) return tl::unexpected<Error>(NotRows());
  }
  MergedRows merged;
  try {
    HistoryTransaction together(*database_);
    const auto put = database_->Prepare(PutMissing());
    for (const json& row : jobs) {
      Bind(*put, row);
      ++(put->Run() > 0 ? merged.taken : merged.known);
    }
    together.Commit();
    std::vector<KeptExperiment> missing;
    const auto known = database_->Prepare(
        "SELECT seen, bytes FROM experiment WHERE job_id = ? AND uid = ? AND submitted_at = ?");
    for (const json& row : experiments) {
      KeptExperiment experiment{row[0].get<int64_t>(), row[1].get<int64_t>(), row[2].get<int64_t>(),
                                row[4].get<std::string>(), row[3].get<int64_t>() != 0};
      for (int i = 0; i < 3; ++i) {
        known->BindInteger(i + 1, row[static_cast<size_t>(i)].get<int64_t>());
      }
      // What is known of an experiment only grows.
      const bool here = known->Step() && (known->Integer(0) > (experiment.seen ? 1 : 0) ||
                                          known->Integer(1) >= BytesOf(experiment));
      known->Reset();
      ++(here ? merged.known : merged.taken);
      if (!here && !experiment.text.empty()) missing.push_back(std::move(experiment));
    }
    const Result<void> saved = Save(missing);
    if (!saved) return tl::unexpected<Error>(saved.error());
    return merged;
  } catch (const DatabaseFailure& error) {
    return HistoryUnavailable(error);
  }
}

}  // namespace gpuadvise::daemon
