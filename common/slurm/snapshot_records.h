// The collector's line protocol: a snapshot as JSON records, one a line, and back again.
//
//   {"record":"begin","version":1,"cluster":…,"source":…,"taken_at":…,"requests":5,
//    "tables":["nodes","jobs"]}
//   {"record":"node",…} {"record":"job",…} {"record":"partition",…} {"record":"reservation",…}
//   {"record":"config",…} {"record":"association",…} {"record":"qos",…}
//   {"record":"end","counts":{"nodes":21,"jobs":4}}
//
// The tables named are sent whole; all others are as in the batch before. The counts must match, or
// the batch is refused: nobody advises on half a cluster. {"record":"error","message":…} says why
// no batch comes. No line is longer than 64 KiB: a record that would be is cut into
// {"record":"piece","text":…} lines, the last with "last":true, which joined are its JSON.
// The writer is pure; an assembler belongs to one thread.
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

// With the newline that ends it.
inline constexpr size_t kMaxRecordBytes = size_t{64} * 1024;
// All pieces of one record together.
inline constexpr size_t kMaxPiecedRecordBytes = size_t{16} * 1024 * 1024;
// Of a collector's error: enough for a sentence, too little to fill a log or an answer.
inline constexpr size_t kMaxMessageBytes = 500;
inline constexpr int64_t kMaxRecordsPerBatch = 2'000'000;

enum class Table { kNodes, kJobs, kPartitions, kReservations, kConfig, kAssociations, kQos };
inline constexpr int kTableCount = 7;

// "nodes", "jobs" …, as in `tables` and `counts`.
std::string_view NameOf(Table table);

// Which tables a batch holds.
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

// Called with each line, without its newline.
using RecordSink = std::function<void(std::string_view line)>;

// Writes the `tables` of `snapshot` as one batch.
void WriteBatch(const Snapshot& snapshot, const TableSet& tables, const RecordSink& sink);

// The line that tells why no snapshot can be had now.
std::string ErrorRecord(std::string_view message);

// Makes snapshots of lines. Takes any bytes: it answers with an Error and never dies.
class SnapshotAssembler {
 public:
  using Outcome = Result<std::optional<std::shared_ptr<const Snapshot>>>;

  // A whole snapshot at the end of a batch, nullopt in between. Snapshots are in canonical order.
  //
  // Errors: kUnavailable with the collector's own sentence for an error record; kBadInput for a
  // bad line, which drops the batch it is in. The lines after it are skipped in silence until the
  // next `begin`, which starts clean. A `begin` inside a batch is an error and a start. Tables of
  // a dropped batch must come again: a batch without them is an error too, because it builds on
  // what was lost. Restarting the collector always helps, its first batch has everything.
  //
  // A record that is wrong in itself, or the second of its name, costs that record alone: one job
  // must not hide a cluster. Only the configuration, and nodes or partitions none of which can be
  // read, cost the batch.
  Outcome Feed(std::string_view line);

  // What was left out of the last snapshot.
  const LeftOut& left_out() const { return left_out_; }

 private:
  struct Batch {
    Snapshot draft;
    TableSet tables;
    std::map<std::string, int64_t> counts;  // by table
    LeftOut left_out;
    std::string pieces;  // of the record that comes in pieces; empty when none does
  };

  Outcome Accept(const nlohmann::json& record);
  Outcome Drop(Error error);
  Result<void> Begin(const nlohmann::json& record);
  Result<void> CheckCounts(const nlohmann::json& end) const;
  Result<void> Row(const std::string& kind, const nlohmann::json& record);
  Outcome End(const nlohmann::json& record);
  Outcome Piece(const nlohmann::json& record);

  std::optional<Batch> batch_;
  int64_t records_ = 0;  // of this batch
  bool skipping_ = false;
  TableSet missing_ = TableSet::All();  // what the next batch must hold
  std::shared_ptr<const Snapshot> last_;
  LeftOut left_out_;  // of `last_`
};

}  // namespace gpuadvise
