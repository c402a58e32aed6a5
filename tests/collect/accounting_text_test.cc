#include "daemon/collect/accounting_text.h"

#include <gtest/gtest.h>

#include "tests/collect/captured_text.h"

namespace gpuadvise::collect {
namespace {

class AccountingTexts : public testing::Test {
 protected:
  const std::string assoc_mgr_ = CapturedText("accounting_assoc_mgr.txt");
  const std::string shares_ = CapturedText("accounting_shares.txt");
  const std::string associations_ = CapturedText("accounting_associations.txt");
  const std::string qos_ = CapturedText("accounting_qos.txt");
  const AccountingText all_ = {assoc_mgr_, shares_, associations_, qos_};
  const AccountingText slurmctld_only_ = {assoc_mgr_, "", "", ""};
};

TEST_F(AccountingTexts, AnAccountHasItsLimitsAndWhatCountsAgainstThem) {
  const auto associations = ParseAssociations(all_);
  EXPECT_EQ(associations.size(), 12u);
  const Association& account = Find(associations, &Association::id, 3);
  EXPECT_EQ(account.account, "a0");
  EXPECT_EQ(account.user, "");
  EXPECT_EQ(account.parent_account, "root");
  EXPECT_EQ(account.shares, 50);
  EXPECT_EQ(account.limits.group_tres, (TresCounts{{"gres/gpu", 8}, {"mem", 102400}}));
  EXPECT_EQ(account.limits.group_tres_used.at("gres/gpu"), 3);
  EXPECT_EQ(account.limits.group_jobs, SlurmNumber(7));
  EXPECT_EQ(account.limits.group_jobs_used, 1);
  EXPECT_EQ(account.limits.max_wall_seconds, SlurmNumber(86400));
}

TEST_F(AccountingTexts, AUserHasFairShareWithAllItsDigits) {
  const Association user = Find(ParseAssociations(all_), &Association::id, 4);
  EXPECT_EQ(user.user, "lab1");
  EXPECT_TRUE(user.is_default);
  EXPECT_EQ(user.priority, 7);
  EXPECT_DOUBLE_EQ(user.fair_share, 0.125);
  EXPECT_DOUBLE_EQ(user.usage_raw, 113);
  EXPECT_EQ(user.limits.max_jobs, SlurmNumber(3));
  EXPECT_EQ(user.limits.max_submit_jobs, SlurmNumber(50));
  EXPECT_TRUE(user.limits.group_jobs.absent());
}

TEST_F(AccountingTexts, AnAccountIsNobodysDefaultThoughSlurm2411SaysSo) {
  std::string text = assoc_mgr_;
  const size_t account = text.find("Account=a0 UserName= ");
  ASSERT_NE(account, std::string::npos);
  text.replace(text.find("DefAssoc=No", account), 11, "DefAssoc=Yes");
  EXPECT_FALSE(Find(ParseAssociations({text, "", "", ""}), &Association::id, 3).is_default);
}

TEST_F(AccountingTexts, AUsersQosAreThoseOfSlurmdbd) {
  const auto associations = ParseAssociations(all_);
  const Association& user = Find(associations, &Association::id, 4);
  EXPECT_EQ(user.default_qos, "high");
  EXPECT_EQ(user.qos, (std::vector<std::string>{"high", "normal"}));
}

TEST_F(AccountingTexts, WithoutSlurmdbdLimitsAndSharesAreStillThere) {
  const auto associations = ParseAssociations(slurmctld_only_);
  const Association& user = Find(associations, &Association::id, 4);
  EXPECT_EQ(user.limits.max_jobs, SlurmNumber(3));
  EXPECT_NEAR(user.shares_normalised, 0.5, 0.005);
  EXPECT_NEAR(user.fair_share, 0.125, 0.01);
  EXPECT_TRUE(user.qos.empty());
}

TEST_F(AccountingTexts, AQosHasLimitsPerUserAndAccount) {
  const Qos high = Find(ParseQos(all_), &Qos::name, "high");
  EXPECT_EQ(high.priority, 1000);
  EXPECT_DOUBLE_EQ(high.usage_factor, 2);
  EXPECT_EQ(high.flags, (std::vector<std::string>{"DenyOnLimit", "NoReserve"}));
  EXPECT_EQ(high.preempt, (std::vector<std::string>{"normal", "scavenger"}));
  EXPECT_EQ(high.preempt_mode, "cancel");
  EXPECT_EQ(high.limits.max_tres_per_user, (TresCounts{{"gres/gpu", 4}}));
  EXPECT_EQ(high.limits.max_tres_per_account, (TresCounts{{"cpu", 100}}));
  EXPECT_EQ(high.limits.max_tres_per_job, (TresCounts{{"gres/gpu", 6}, {"mem", 204800}}));
  EXPECT_EQ(high.limits.max_jobs, SlurmNumber(5));
  EXPECT_EQ(high.limits.group_tres_used.at("gres/gpu:gpu4090"), 3);
  EXPECT_EQ(high.limits.max_wall_seconds, SlurmNumber(2 * 86400));
}

TEST_F(AccountingTexts, AQosWithoutLimitsHasNone) {
  const Qos normal = Find(ParseQos(all_), &Qos::name, "scavenger");
  EXPECT_EQ(normal.limits, Limits());
  EXPECT_EQ(normal.preempt_mode, "");
}

TEST_F(AccountingTexts, WithoutSlurmdbdAQosHasWhatSlurmctldPrints) {
  const Qos high = Find(ParseQos(slurmctld_only_), &Qos::name, "high");
  EXPECT_EQ(high.priority, 1000);
  EXPECT_EQ(high.limits.max_tres_per_job, (TresCounts{{"gres/gpu", 6}, {"mem", 204800}}));
  EXPECT_EQ(high.limits.group_jobs, SlurmNumber(3));
}

TEST(TresCounts, AreNumbersWithMemoryInMib) {
  EXPECT_EQ(ParseTresCounts("cpu=16,mem=200G,gres/gpu:a100=4"),
            (TresCounts{{"cpu", 16}, {"mem", 204800}, {"gres/gpu:a100", 4}}));
  EXPECT_EQ(ParseTresCounts("cpu=N(9),gres/gpu=8(3),mem=102400(2000)"),
            (TresCounts{{"gres/gpu", 8}, {"mem", 102400}}));
  EXPECT_TRUE(ParseTresCounts("").empty());
  EXPECT_TRUE(ParseTresCounts("cpu,=,x").empty());
}

TEST(AccountingText, OfNoClusterIsNothing) {
  EXPECT_TRUE(ParseAssociations({}).empty());
  EXPECT_TRUE(ParseQos({"garbage\n|||\n", "|", "||", "Name\n"}).empty());
}

}  // namespace
}  // namespace gpuadvise::collect
