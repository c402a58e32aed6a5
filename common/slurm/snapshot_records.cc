#include "common/slurm/snapshot_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/slurm/snapshot_json.h"
#include "common/slurm/snapshot_order.h"

namespace gpuadvise {
namespace {

using Json = nlohmann::json;

struct TableName {
  Table table;
  std::string_view name;    // in `tables` and `counts`
  std::string_view record;  // name of one row's record
};
constexpr std::array kTables = {
    TableName{Table::kNodes, "nodes", "node"},
    TableName{Table::kJobs, "jobs", "job"},
    TableName{Table::kPartitions, "partitions", "partition"},
    TableName{Table::kReservations, "reservations", "reservation"},
    TableName{Table::kConfig, "config", "config"},
    TableName{Table::kAssociations, "associations", "association"},
    TableName{Table::kQos, "qos", "qos"},
};
static_assert(kTables.size() == kTableCount);

// Quotes and backslashes double in a piece, and the piece needs a frame.
constexpr size_t kPieceBytes = kMaxRecordBytes / 2 - 64;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// At most `bytes` of `text` from `begin`, not splitting a UTF-8 character.
std::string_view Cut(std::string_view text, size_t begin, size_t bytes) {
  size_t end = std::min(begin + bytes, text.size());
  while (end < text.size() && end > begin &&
         (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    --end;
  }
  return text.substr(begin, end - begin);
}

void WriteRecord(std::string_view kind, Json record, const RecordSink& sink) {
  record["record"] = kind;
  const std::string text = Dump(record);
  if (text.size() < kMaxRecordBytes) {
    sink(text);
    return;
  }
  for (size_t begin = 0; begin < text.size();) {
    const std::string_view piece = Cut(text, begin, kPieceBytes);
    begin += piece.size();
    Json line = {{"record", "piece"}, {"text", piece}};
    if (begin == text.size()) line["last"] = true;
    sink(Dump(line));
  }
}

// Writes one table; returns its number of rows.
template <typename T>
size_t WriteTable(std::string_view kind, const std::vector<T>& rows, const RecordSink& sink) {
  for (const T& row : rows) WriteRecord(kind, ToJson(row), sink);
  return rows.size();
}

size_t WriteTable(const Snapshot& snapshot, const TableName& table, const RecordSink& sink) {
  switch (table.table) {
    case Table::kNodes:
      return WriteTable(table.record, snapshot.nodes, sink);
    case Table::kJobs:
      return WriteTable(table.record, snapshot.jobs, sink);
    case Table::kPartitions:
      return WriteTable(table.record, snapshot.partitions, sink);
    case Table::kReservations:
      return WriteTable(table.record, snapshot.reservations, sink);
    case Table::kAssociations:
      return WriteTable(table.record, snapshot.associations, sink);
    case Table::kQos:
      return WriteTable(table.record, snapshot.qos, sink);
    case Table::kConfig:
      break;
  }
  WriteRecord(table.record, ToJson(snapshot.config), sink);
  return 1;
}

// The text member `key`, or "" if missing or not text.
std::string TextIn(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : "";
}

// The end record's count of `table`, for comparison and messages.
std::string CountIn(const Json& record, const std::string& table) {
  const auto counts = record.find("counts");
  if (counts == record.end() || !counts->is_object()) return "nothing";
  const auto count = counts->find(table);
  return count != counts->end() && count->is_number_integer() ? count->dump() : "nothing";
}

// Members of the begin record, flat ones only: copying hostile nesting would overflow the stack.
Json HeaderOf(const Json& record) {
  Json header = Json::object();
  for (const char* key : {"version", "cluster", "source", "taken_at", "requests"}) {
    const auto found = record.find(key);
    if (found != record.end() && found->is_primitive()) header[key] = *found;
  }
  return header;
}

const TableName* TableNamed(std::string_view name) {
  const auto hit = std::find_if(kTables.begin(), kTables.end(),
                                [&](const TableName& table) { return table.name == name; });
  return hit == kTables.end() ? nullptr : &*hit;
}

// Tables listed in a `begin` record; ignores unknown names of later versions.
Result<TableSet> TablesIn(const Json& record) {
  const auto list = record.find("tables");
  if (list == record.end() || !list->is_array()) {
    return BadInput("The begin record has no list \"tables\".", "/tables");
  }
  TableSet tables;
  for (const Json& name : *list) {
    const TableName* table =
        name.is_string() ? TableNamed(name.get_ref<const std::string&>()) : nullptr;
    if (table != nullptr) tables.Add(table->table);
  }
  return tables;
}

// Clears the tables that are sent again.
void Clear(Snapshot& snapshot, const TableSet& tables) {
  if (tables.Has(Table::kNodes)) snapshot.nodes.clear();
  if (tables.Has(Table::kJobs)) snapshot.jobs.clear();
  if (tables.Has(Table::kPartitions)) snapshot.partitions.clear();
  if (tables.Has(Table::kReservations)) snapshot.reservations.clear();
  if (tables.Has(Table::kConfig)) snapshot.config = {};
  if (tables.Has(Table::kAssociations)) snapshot.associations.clear();
  if (tables.Has(Table::kQos)) snapshot.qos.clear();
}

template <typename T>
Result<void> Append(const Json& record, std::vector<T>& rows) {
  auto row = FromJson<T>(record);
  if (!row) return tl::unexpected(row.error());
  rows.push_back(std::move(*row));
  return {};
}

Result<void> AppendRow(const Json& record, Table table, Snapshot& draft) {
  switch (table) {
    case Table::kNodes:
      return Append(record, draft.nodes);
    case Table::kJobs:
      return Append(record, draft.jobs);
    case Table::kPartitions:
      return Append(record, draft.partitions);
    case Table::kReservations:
      return Append(record, draft.reservations);
    case Table::kAssociations:
      return Append(record, draft.associations);
    case Table::kQos:
      return Append(record, draft.qos);
    case Table::kConfig:
      break;
  }
  auto config = FromJson<SchedulerConfig>(record);
  if (!config) return tl::unexpected(config.error());
  draft.config = std::move(*config);
  return {};
}

}  // namespace

std::string_view NameOf(Table table) { return kTables[static_cast<size_t>(table)].name; }

void WriteBatch(const Snapshot& snapshot, const TableSet& tables, const RecordSink& sink) {
  Json names = Json::array();
  for (const TableName& table : kTables) {
    if (tables.Has(table.table)) names.push_back(table.name);
  }
  WriteRecord("begin",
              {{"version", kSnapshotVersion},
               {"cluster", snapshot.cluster},
               {"source", snapshot.source},
               {"taken_at", snapshot.taken_at},
               {"requests", snapshot.requests},
               {"tables", std::move(names)}},
              sink);
  Json counts = Json::object();
  for (const TableName& table : kTables) {
    if (tables.Has(table.table))
      counts[std::string(table.name)] = WriteTable(snapshot, table, sink);
  }
  WriteRecord("end", {{"counts", std::move(counts)}}, sink);
}

std::string ErrorRecord(std::string_view message) {
  return Dump({{"record", "error"}, {"message", OneLine(message, kMaxMessageBytes)}});
}

SnapshotAssembler::Outcome SnapshotAssembler::Feed(std::string_view line) {
  if (line.size() > kMaxRecordBytes) {
    return Drop({ErrorCode::kBadInput, "The collector printed a line of more than 64 KiB.", ""});
  }
  const Json record = Json::parse(line, nullptr, false);
  if (!record.is_object()) {
    return Drop(
        {ErrorCode::kBadInput,
         "The collector printed a line that is not a JSON record; run it with --once to see.", ""});
  }
  return Accept(record);
}

SnapshotAssembler::Outcome SnapshotAssembler::Accept(const Json& record) {
  const std::string kind = TextIn(record, "record");
  if (kind == "error") {
    const std::string message = TextIn(record, "message");
    return Drop({ErrorCode::kUnavailable,
                 message.empty() ? "The collector failed without a reason."
                                 : OneLine(message, kMaxMessageBytes),
                 ""});
  }
  if (kind == "begin") {
    const bool interrupted = batch_.has_value();
    if (interrupted) missing_.Add(batch_->tables);
    if (auto begun = Begin(record); !begun) return Drop(begun.error());
    if (interrupted) return BadInput("A batch of the collector had no end; it is dropped.");
    return std::nullopt;
  }
  if (skipping_) return std::nullopt;
  if (!batch_)
    return Drop({ErrorCode::kBadInput, "The collector's batch has no begin record.", ""});
  if (kind == "piece") return Piece(record);
  if (!batch_->pieces.empty()) {
    return Drop({ErrorCode::kBadInput, "A record in pieces was cut short.", ""});
  }
  if (kind == "end") return End(record);
  if (auto row = Row(kind, record); !row) return Drop(row.error());
  return std::nullopt;
}

// Silent while skipping, except for the collector's own errors.
SnapshotAssembler::Outcome SnapshotAssembler::Drop(Error error) {
  const bool silent = skipping_ && error.code != ErrorCode::kUnavailable;
  if (batch_) missing_.Add(batch_->tables);
  batch_.reset();
  skipping_ = true;
  if (silent) return std::nullopt;
  return tl::unexpected(std::move(error));
}

Result<void> SnapshotAssembler::Begin(const Json& record) {
  batch_.reset();
  skipping_ = false;
  // Until the record is understood, assume that everything is missing.
  const TableSet missing = std::exchange(missing_, TableSet::All());
  auto frame = FromJson<Snapshot>(HeaderOf(record));
  if (!frame) return tl::unexpected(frame.error());
  const auto tables = TablesIn(record);
  if (!tables) return tl::unexpected(tables.error());
  const bool other_cluster = last_ && last_->cluster != frame->cluster;
  if (!tables->HasAll(other_cluster ? TableSet::All() : missing)) {
    return BadInput("The batch builds on tables that were lost; restart the collector.", "/tables");
  }
  missing_ = missing;
  Batch& batch = batch_.emplace();
  records_ = 0;
  batch.tables = *tables;
  if (last_) batch.draft = *last_;
  Clear(batch.draft, *tables);
  batch.draft.cluster = std::move(frame->cluster);
  batch.draft.source = std::move(frame->source);
  batch.draft.taken_at = frame->taken_at;
  batch.draft.requests = frame->requests;
  return {};
}

// Skips unknown record kinds of later versions.
Result<void> SnapshotAssembler::Row(const std::string& kind, const Json& record) {
  const auto table = std::find_if(kTables.begin(), kTables.end(),
                                  [&](const TableName& t) { return t.record == kind; });
  if (table == kTables.end()) return {};
  if (!batch_->tables.Has(table->table)) {
    return BadInput(fmt::format("A {} came, but the batch does not list {}.", kind, table->name));
  }
  if (++records_ > kMaxRecordsPerBatch) {
    return BadInput(fmt::format("The batch has more than {} records.", kMaxRecordsPerBatch));
  }
  ++batch_->counts[std::string(table->name)];
  auto appended = AppendRow(record, table->table, batch_->draft);
  if (appended) return {};
  std::string why = fmt::format("A {} record is wrong: {}", kind, appended.error().message);
  if (table->table == Table::kConfig) return BadInput(why, appended.error().pointer);
  batch_->left_out.Add(OneLine(why, kMaxMessageBytes));
  return {};
}

SnapshotAssembler::Outcome SnapshotAssembler::Piece(const Json& record) {
  const std::string text = TextIn(record, "text");
  if (text.empty() || batch_->pieces.size() + text.size() > kMaxPiecedRecordBytes) {
    return Drop({ErrorCode::kBadInput, "A record in pieces is empty or larger than 16 MiB.", ""});
  }
  batch_->pieces += text;
  if (!record.contains("last")) return std::nullopt;
  const Json whole = Json::parse(std::exchange(batch_->pieces, {}), nullptr, false);
  const std::string kind = whole.is_object() ? TextIn(whole, "record") : "";
  if (auto row =
          kind.empty() ? BadInput("The pieces of a record do not join to one.") : Row(kind, whole);
      !row) {
    return Drop(row.error());
  }
  return std::nullopt;
}

Result<void> SnapshotAssembler::CheckCounts(const Json& end) const {
  for (const TableName& table : kTables) {
    if (!batch_->tables.Has(table.table)) continue;
    const std::string name(table.name);
    const auto counted = batch_->counts.find(name);
    const int64_t seen = counted == batch_->counts.end() ? 0 : counted->second;
    const std::string told = CountIn(end, name);
    if (told != std::to_string(seen)) {
      return BadInput(
          fmt::format("The batch has {} {}, but its end says {}; it is dropped.", seen, name, told),
          "/counts/" + name);
    }
    const bool none_read = (table.table == Table::kNodes && batch_->draft.nodes.empty()) ||
                           (table.table == Table::kPartitions && batch_->draft.partitions.empty());
    if (seen > 0 && none_read) return BadInput(batch_->left_out.first);
  }
  return {};
}

SnapshotAssembler::Outcome SnapshotAssembler::End(const Json& record) {
  if (auto counted = CheckCounts(record); !counted) return Drop(counted.error());
  SortCanonically(batch_->draft);
  DropDuplicates(batch_->draft, batch_->left_out);
  batch_->draft.jobs.shrink_to_fit();  // of a large cluster a hundred megabytes
  last_ = std::make_shared<const Snapshot>(std::move(batch_->draft));
  left_out_ = std::move(batch_->left_out);
  batch_.reset();
  missing_ = {};
  return std::optional(last_);
}

}  // namespace gpuadvise
