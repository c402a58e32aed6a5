// The collector's line protocol: a snapshot as JSON records, one per line.
//
//   {"record":"begin","version":1,"cluster":…,"source":…,"taken_at":…,"requests":5,
//    "tables":["nodes","jobs"]}
//   {"record":"node",…} {"record":"job",…} {"record":"partition",…} {"record":"reservation",…}
//   {"record":"config",…} {"record":"association",…} {"record":"qos",…}
//   {"record":"end","counts":{"nodes":21,"jobs":4}}
//
// Listed tables are sent in full; others are unchanged since the previous batch. A batch with wrong
// counts is refused: no advice on half a cluster. {"record":"error","message":…} explains a missing
// batch. Lines are at most 64 KiB: a longer record is split into {"record":"piece","text":…} lines,
// the last with "last":true; joined they are its JSON. The writer is pure; an assembler belongs to
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/slurm/snapshot.h"
#include "common/slurm/snapshot_order.h"

namespace gpuadvise {

// Including the newline.
inline constexpr size_t kMaxRecordBytes = size_t{64} * 1024;
// All pieces of one record.
inline constexpr size_t kMaxPiecedRecordBytes = size_t{16} * 1024 * 1024;
// Limit on a collector's error: enough for a sentence, too short to fill a log.
inline constexpr size_t kMaxMessageBytes = 500;
inline constexpr int64_t kMaxRecordsPerBatch = 2'000'000;

enum class Table { kNodes, kJobs, kPartitions, kReservations, kConfig, kAssociations, kQos };
inline constexpr int kTableCount = 7;

// "nodes", "jobs" …, as in `tables` and `counts`.
std::string_view NameOf(Table table);

// Tables in a batch.
class TableSet {
 public:
  constexpr TableSet() = default;
  constexpr TableSet(std::initializer_list<Table> tables) {
    for (Table table : tables) Add(table);
  }
  static constexpr TableSet All() {
    TableSet all;
    all.bits_ = (1u << kTableCount) - 1;
    return all;
  }
  constexpr void Add(Table table) { bits_ |= 1u << static_cast<int>(table); }
  constexpr void Add(const TableSet& others) { bits_ |= others.bits_; }
  constexpr bool Has(Table table) const { return (bits_ & (1u << static_cast<int>(table))) != 0; }
  constexpr bool HasAll(const TableSet& others) const { return (others.bits_ & ~bits_) == 0; }
  friend constexpr bool operator==(const TableSet&, const TableSet&) = default;

 private:
  uint32_t bits_ = 0;
};

// Receives each line without its newline.
using RecordSink = std::function<void(std::string_view line)>;

// Writes `tables` of `snapshot` as one batch.
void WriteBatch(const Snapshot& snapshot, const TableSet& tables, const RecordSink& sink);

// The line that reports why there is no snapshot.
std::string ErrorRecord(std::string_view message);

// Builds snapshots from lines. Accepts any bytes; errors are values.
class SnapshotAssembler {
 public:
  using Outcome = Result<std::optional<std::shared_ptr<const Snapshot>>>;

  // Returns a full snapshot at the end of a batch, nullopt in between. Snapshots are in canonical
  // order.
  //
  // Errors: kUnavailable with the collector's sentence for an error record; kBadInput for a bad
  // line, which drops its batch. Later lines are skipped silently until the next `begin`. A `begin`
  // inside a batch is an error and starts a new one. Tables of a dropped batch must be sent again:
  // a batch without them is an error. Restarting the collector always helps: its first batch is
  // complete.
  //
  // An invalid or duplicate record costs only itself: one job must not hide a cluster. The batch
  // fails only for an invalid configuration, or if all nodes or all partitions are unreadable.
  Outcome Feed(std::string_view line);

  // Records left out of the last snapshot.
  const LeftOut& left_out() const { return left_out_; }

 private:
  struct Batch {
    Snapshot draft;
    TableSet tables;
    std::map<std::string, int64_t> counts;  // by table
    LeftOut left_out;
    std::string pieces;  // of the record sent in pieces; empty: none
  };

  Outcome Accept(const nlohmann::json& record);
  Outcome Drop(Error error);
  Result<void> Begin(const nlohmann::json& record);
  Result<void> CheckCounts(const nlohmann::json& end) const;
  Result<void> Row(const std::string& kind, const nlohmann::json& record);
  Outcome End(const nlohmann::json& record);
  Outcome Piece(const nlohmann::json& record);

  std::optional<Batch> batch_;
  int64_t records_ = 0;  // in this batch
  bool skipping_ = false;
  TableSet missing_ = TableSet::All();  // required in the next batch
  std::shared_ptr<const Snapshot> last_;
  LeftOut left_out_;  // of `last_`
};

}  // namespace gpuadvise
