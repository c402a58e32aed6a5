// A history in a PostgreSQL server that goes away, hangs, is somebody else's, or is shared.
#include "daemon/store/postgres_database.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "daemon/store/history.h"
#include "tests/daemon/patience.h"
#include "tests/daemon/store/past_jobs.h"
#include "tests/daemon/store/postgres_server.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::steady_clock;

PostgresPlace PlaceAt(const std::string& url) {
  const auto place = ReadPostgresUrl(url);
  EXPECT_TRUE(place) << place.error().message;
  return place.value_or(PostgresPlace{});
}

// A server of this test's own, which may be killed.
class PostgresDatabaseTest : public testing::Test {
 protected:
  Result<std::unique_ptr<History>> Open() const { return History::OpenPostgres(place_); }

  std::unique_ptr<History> Opened() const {
    std::unique_ptr<History> opened;
    // The server lets go of a session's lock a moment after it was closed.
    const bool free = BecomesTrue([&] {
      auto history = Open();
      if (!history) throw std::runtime_error(history.error().message);
      opened = std::move(*history);
      return opened != nullptr;
    });
    if (!free) throw std::runtime_error("another daemon has it");
    return opened;
  }

  // Ends the session that holds the lock, as the loss of a connection would.
  void EndHolder() const {
    Execute(
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted");
  }

  std::string WhyNot() const {
    const auto history = Open();
    return history ? "" : history.error().message;
  }

  void Execute(const std::string& sql) const {
    (*PostgresSession::Connect(place_))->ExecuteAll(sql);
  }

  // Until it can be written again.
  static bool SavesWithin(History& history, std::chrono::seconds patience) {
    const auto until = steady_clock::now() + patience;
    while (!history.Save({WholeJob(99)})) {
      if (steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return true;
  }

  PostgresServer server_;
  const PostgresPlace place_ = PlaceAt(server_.UrlOf(""));
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(PostgresDatabaseTest, AServerThatCrashesIsUsedAgainAndLosesNothingThatWasSaved) {
  auto history = Opened();
  ASSERT_TRUE(history->Save({WholeJob(7)}));
  server_.Stop(SIGQUIT);
  const auto failed = history->Save({WholeJob(8)});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(Has(failed.error().message, place_.shown)) << failed.error().message;
  const auto at_once = steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(history->Save({WholeJob(8)}));
  EXPECT_LT(steady_clock::now() - at_once, std::chrono::seconds(5)) << "nobody waits";
  server_.Start();
  ASSERT_TRUE(SavesWithin(*history, std::chrono::seconds(60)));
  int64_t unreadable = 0;
  EXPECT_EQ(history->Load(unreadable)->size(), 2u) << "7 and 99";
}

TEST_F(PostgresDatabaseTest, AServerThatHangsIsGivenUp) {
  auto history = Opened();
  ASSERT_TRUE(history->Save({WholeJob(7)}));
  // Its processes stop, and the kernel still takes what is sent to them.
  server_.StopAll();
  const auto begun = steady_clock::now();
  const auto failed = history->Save({WholeJob(8)});
  const auto took = steady_clock::now() - begun;
  ASSERT_FALSE(failed);
  EXPECT_TRUE(Has(failed.error().message, "has said nothing for 15 s")) << failed.error().message;
  EXPECT_LT(took, std::chrono::seconds(25));
  server_.GoOn();
  EXPECT_TRUE(SavesWithin(*history, std::chrono::seconds(60)));
}

TEST_F(PostgresDatabaseTest, OneDaemonAtATime) {
  auto first = Opened();
  ASSERT_TRUE(first->Save({WholeJob(7)}));
  EXPECT_TRUE(first->IsShared());
  const auto second = Open();
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(*second, nullptr) << "it stands by";
  first.reset();
  EXPECT_NE(Opened(), nullptr);
}

TEST_F(PostgresDatabaseTest, WhoLosesTheSessionGoesOnWhereNobodyElseHadIt) {
  const auto first = Opened();
  EndHolder();
  EXPECT_TRUE(SavesWithin(*first, std::chrono::seconds(30)));
  EXPECT_FALSE(first->IsTaken());
}

TEST_F(PostgresDatabaseTest, WhoLosesItToAnotherNeverWritesAgain) {
  const auto first = Opened();
  EndHolder();
  {
    const auto second = Opened();
    ASSERT_TRUE(second->Save({WholeJob(7)}));
  }
  // The lock is free again, and the other's rows are there.
  while (!first->IsTaken()) ASSERT_FALSE(first->Save({WholeJob(8)}));
  EXPECT_TRUE(Has(first->Save({WholeJob(8)}).error().message, "another gpuadvised has taken over"));
  int64_t unreadable = 0;
  EXPECT_EQ(Opened()->Load(unreadable)->size(), 1u);
}

// Of a daemon that hangs the kernel keeps the connection.
TEST_F(PostgresDatabaseTest, OneThatShowsNoLifeIsTakenOver) {
  const auto first = Opened();
  ASSERT_TRUE(first->Save({WholeJob(7)}));
  Result<std::unique_ptr<History>> second = Open();
  ASSERT_TRUE(second);
  EXPECT_EQ(*second, nullptr) << "a moment ago it was alive";
  for (const auto until = steady_clock::now() + std::chrono::seconds(60);
       second && *second == nullptr && steady_clock::now() < until; second = Open()) {
    std::this_thread::sleep_for(kHeartbeat);
  }
  ASSERT_TRUE(second && *second);
  EXPECT_FALSE(first->Save({WholeJob(8)}));
  EXPECT_TRUE((*second)->Save({WholeJob(9)}));
}

TEST_F(PostgresDatabaseTest, AnAnswerThatIsTooSlowCostsNoSession) {
  const auto history = Opened();
  const auto other = std::move(*PostgresSession::Connect(place_));
  other->ExecuteAll("BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE");
  history->BeginUrgent();
  EXPECT_FALSE(history->RecordsOf({7}));
  history->EndUrgent();
  other->ExecuteAll("ROLLBACK");
  EXPECT_TRUE(history->Save({WholeJob(7)})) << "at once: the lock was not lost";
}

TEST_F(PostgresDatabaseTest, TablesOfTheFifthVersionAreUsedOn) {
  ASSERT_TRUE(Opened()->Save({WholeJob(7)}));
  Execute(
      "ALTER TABLE job ADD COLUMN scored_by TEXT NOT NULL DEFAULT '';"
      "ALTER TABLE job ADD COLUMN saved_by TEXT NOT NULL DEFAULT '';"
      "ALTER TABLE experiment ADD COLUMN saved_by TEXT NOT NULL DEFAULT '';"
      "CREATE TABLE reign (boot TEXT PRIMARY KEY);"
      "UPDATE note SET value = 5 WHERE name = 'schema_version'");
  EXPECT_FALSE(History::InfoOf(place_)) << "who only looks changes nothing";
  const auto history = Opened();
  ASSERT_TRUE(history->Save({WholeJob(8)}));
  ASSERT_TRUE(history->Save({KeptExperiment{8, 1'000, kSnapshotTime, "{}", true}}));
  int64_t unreadable = 0;
  EXPECT_EQ(history->Load(unreadable)->size(), 2u);
  EXPECT_TRUE(History::InfoOf(place_));
}

TEST_F(PostgresDatabaseTest, TablesOfOthersAndOfNewerOnesAreLeftAlone) {
  Execute("CREATE TABLE job (name text)");
  EXPECT_TRUE(Has(WhyNot(), "tables of something else")) << WhyNot();
  Execute("DROP TABLE job");
  Opened();
  Execute("UPDATE note SET value = 99 WHERE name = 'schema_version'");
  EXPECT_TRUE(Has(WhyNot(), "is of version 99")) << WhyNot();
  EXPECT_FALSE(History::InfoOf(place_));
}

TEST_F(PostgresDatabaseTest, WhatStandsInTheWayIsSaidWithTheRemedy) {
  const auto why_not = [](const std::string& url) {
    const auto history = History::OpenPostgres(PlaceAt(url));
    return history ? "" : history.error().message;
  };
  const std::string url = server_.UrlOf("");
  std::string nobody = url;
  nobody.replace(nobody.find("gpuadvise@"), 9, "stranger");
  EXPECT_TRUE(Has(why_not(nobody), "create it on the server")) << why_not(nobody);
  std::string nowhere = url;
  nowhere.replace(nowhere.find("/postgres?"), 10, "/songs?");
  EXPECT_TRUE(Has(why_not(nowhere), "create it on the server")) << why_not(nowhere);
  const std::string no_schema = server_.UrlOf("missing");
  EXPECT_TRUE(Has(why_not(no_schema), "CREATE SCHEMA")) << why_not(no_schema);
  EXPECT_TRUE(Has(why_not("postgresql://127.0.0.1:1/x"), "start the server"));
  Execute("CREATE ROLE reader LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  std::string reader = url;
  reader.replace(reader.find("gpuadvise@"), 9, "reader");
  EXPECT_TRUE(Has(why_not(reader), "grant the daemon's user")) << why_not(reader);
}

TEST_F(PostgresDatabaseTest, ATransactionThatFailsChangesNothing) {
  const auto history = Opened();
  Execute("ALTER TABLE job ADD CHECK (job_id <> 8)");
  EXPECT_FALSE(history->Save({WholeJob(7), WholeJob(8), WholeJob(9)}));
  int64_t unreadable = 0;
  EXPECT_TRUE(history->Load(unreadable)->empty());
  EXPECT_TRUE(history->Save({WholeJob(10)}));
}

}  // namespace
}  // namespace gpuadvise::daemon
