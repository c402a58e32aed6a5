// The history's rows in a PostgreSQL server (9.5 or newer), in the schema that its connection finds
// first (search_path): one a cluster.
//
// The server may go away at any time. What was to be done then fails with a sentence; it is
// connected to again by whoever asks next and has time, but not before a pause that doubles up to a
// minute, in which everything fails at once. So nobody waits for it for long.
//
// One daemon at a time uses a schema: the one whose session holds an advisory lock. All that it
// reads and writes goes through that session, so a daemon that has lost the lock cannot write, with
// whatever delay: the server has rolled back what it had begun. A session that has done nothing for
// kHungAfter is of a daemon that hangs or whose host is gone; whoever wants the lock then ends it.
// The lock's holders are counted (note "holder"): a daemon whose session was lost goes on only
// where nobody has held the lock since.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "common/base/error.h"
#include "daemon/base/postgres_url.h"
#include "daemon/store/history_database.h"
#include "daemon/store/postgres_session.h"

namespace gpuadvise::daemon {

class PostgresDatabase final : public HistoryDatabase {
 public:
  // Connects, and makes the tables where there are none. nullptr: another daemon uses the schema.
  // Errors: kUnavailable, naming server and remedy: it cannot be reached, the tables are of a newer
  // gpuadvised or of something else.
  static Result<std::unique_ptr<PostgresDatabase>> Open(const PostgresPlace& place);

  // To look only: makes nothing, keeps nobody away. nullptr: there are no tables.
  static Result<std::unique_ptr<PostgresDatabase>> OpenToRead(const PostgresPlace& place);

  std::unique_ptr<HistoryStatement> Prepare(const std::string& sql, Rows rows) override;
  void Begin() override;
  void Commit() override;
  void Rollback() noexcept override;
  int64_t BytesInUse() override;
  int64_t BytesOnDisk() override;
  void Vacuum() override {}  // autovacuum does
  void SetUrgent(bool urgent) override { urgent_ = urgent; }
  bool CountsBytesCheaply() const override { return false; }
  bool IsShared() const override { return true; }
  bool IsTaken() const override { return taken_; }
  const std::string& place() const override { return place_.shown; }

 private:
  friend class PostgresStatement;
  using Clock = std::chrono::steady_clock;

  explicit PostgresDatabase(const PostgresPlace& place) : place_(place) {}
  bool Connect();   // whether the schema is this daemon's
  bool TakeLock();  // the same
  bool IsSameHolder();
  void MakeArrayIndex();
  void MakeTables();
  bool HasTables();
  static constexpr std::chrono::seconds kUrgentPatience{2};

  PostgresSession& Session();  // throws DatabaseFailure while there is none
  template <typename Use>
  auto Using(const Use& use);
  void OpenCursor();
  void CloseCursor() noexcept;

  const PostgresPlace place_;
  bool reads_only_ = false;
  std::atomic<bool> taken_ = false;  // by another daemon
  int64_t holder_ = 0;               // this daemon, counted; 0: it has not held the lock yet
  std::unique_ptr<PostgresSession> session_;  // null: lost
  int last_backend_ = 0;                      // that served the last session; 0: none
  bool urgent_ = false;
  bool in_transaction_ = false;
  int cursors_ = 0;  // open ones
  int failures_ = 0;
  Clock::time_point again_at_;  // not before it is connected to again
  std::string problem_;         // until then
};

}  // namespace gpuadvise::daemon
