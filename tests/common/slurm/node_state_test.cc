#include "common/slurm/node_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gpuadvise {
namespace {

NodeState State(NodeBase base, std::initializer_list<NodeFlag> flags = {}) {
  NodeState state{base, 0};
  for (NodeFlag flag : flags) state.Add(flag);
  return state;
}

TEST(NodeState, BaseWithSeveralFlags) {
  EXPECT_EQ(ParseNodeState("IDLE+DRAIN+PLANNED"),
            State(NodeBase::kIdle, {NodeFlag::kDrain, NodeFlag::kPlanned}));
}

TEST(NodeState, EveryBase) {
  EXPECT_EQ(ParseNodeState("UNKNOWN").base, NodeBase::kUnknown);
  EXPECT_EQ(ParseNodeState("DOWN").base, NodeBase::kDown);
  EXPECT_EQ(ParseNodeState("IDLE").base, NodeBase::kIdle);
  EXPECT_EQ(ParseNodeState("ALLOCATED").base, NodeBase::kAllocated);
  EXPECT_EQ(ParseNodeState("ERROR").base, NodeBase::kError);
  EXPECT_EQ(ParseNodeState("MIXED").base, NodeBase::kMixed);
  EXPECT_EQ(ParseNodeState("FUTURE").base, NodeBase::kFuture);
}

struct Flagged {
  const char* word;
  NodeFlag flag;
};
class EveryFlag : public testing::TestWithParam<Flagged> {};
TEST_P(EveryFlag, IsRead) {
  EXPECT_EQ(ParseNodeState(std::string("MIXED+") + GetParam().word),
            State(NodeBase::kMixed, {GetParam().flag}));
}
INSTANTIATE_TEST_SUITE_P(NodeState, EveryFlag,
                         testing::Values(Flagged{"DRAIN", NodeFlag::kDrain},
                                         Flagged{"COMPLETING", NodeFlag::kCompleting},
                                         Flagged{"MAINT", NodeFlag::kMaintenance},
                                         Flagged{"MAINTENANCE", NodeFlag::kMaintenance},
                                         Flagged{"RESERVED", NodeFlag::kReserved},
                                         Flagged{"PLANNED", NodeFlag::kPlanned},
                                         Flagged{"NO_RESPOND", NodeFlag::kNotResponding},
                                         Flagged{"NOT_RESPONDING", NodeFlag::kNotResponding},
                                         Flagged{"POWERED_DOWN", NodeFlag::kPoweredDown},
                                         Flagged{"POWER", NodeFlag::kPoweredDown},  // 20.11
                                         Flagged{"POWERING_UP", NodeFlag::kPoweringUp},
                                         Flagged{"POWERING_DOWN", NodeFlag::kPoweringDown},
                                         Flagged{"POWER_DRAIN", NodeFlag::kPowerDrain},
                                         Flagged{"REBOOT", NodeFlag::kRebootRequested},
                                         Flagged{"REBOOT_REQUESTED", NodeFlag::kRebootRequested},
                                         Flagged{"REBOOT_ISSUED", NodeFlag::kRebootIssued},
                                         Flagged{"FAIL", NodeFlag::kFail},
                                         Flagged{"INVALID_REG", NodeFlag::kInvalidRegistration},
                                         Flagged{"BLOCKED", NodeFlag::kBlocked},
                                         Flagged{"CLOUD", NodeFlag::kCloud},
                                         Flagged{"DYNAMIC_NORM", NodeFlag::kDynamicNormal}));

class EverySuffix : public testing::TestWithParam<Flagged> {};
TEST_P(EverySuffix, IsRead) {
  EXPECT_EQ(ParseNodeState(std::string("MIXED") + GetParam().word),
            State(NodeBase::kMixed, {GetParam().flag}));
  EXPECT_EQ(ParseNodeState(std::string("mix") + GetParam().word),
            State(NodeBase::kMixed, {GetParam().flag}));
}
INSTANTIATE_TEST_SUITE_P(
    NodeState, EverySuffix,
    testing::Values(Flagged{"*", NodeFlag::kNotResponding}, Flagged{"~", NodeFlag::kPoweredDown},
                    Flagged{"#", NodeFlag::kPoweringUp}, Flagged{"!", NodeFlag::kPowerDown},
                    Flagged{"%", NodeFlag::kPoweringDown}, Flagged{"$", NodeFlag::kMaintenance},
                    Flagged{"@", NodeFlag::kRebootRequested}, Flagged{"^", NodeFlag::kRebootIssued},
                    Flagged{"-", NodeFlag::kPlanned}));

TEST(NodeState, SuffixBeforeFlags) {
  EXPECT_EQ(ParseNodeState("DOWN*+DRAIN"),
            State(NodeBase::kDown, {NodeFlag::kNotResponding, NodeFlag::kDrain}));
}

TEST(NodeState, LowerCaseFormsOfSinfo) {
  EXPECT_EQ(ParseNodeState("idle"), State(NodeBase::kIdle));
  EXPECT_EQ(ParseNodeState("alloc"), State(NodeBase::kAllocated));
  EXPECT_EQ(ParseNodeState("mix-"), State(NodeBase::kMixed, {NodeFlag::kPlanned}));
  EXPECT_EQ(ParseNodeState("drain"), State(NodeBase::kIdle, {NodeFlag::kDrain}));
  EXPECT_EQ(ParseNodeState("drained*"),
            State(NodeBase::kIdle, {NodeFlag::kDrain, NodeFlag::kNotResponding}));
  EXPECT_EQ(ParseNodeState("drng"), State(NodeBase::kMixed, {NodeFlag::kDrain}));
  EXPECT_EQ(ParseNodeState("resv"), State(NodeBase::kIdle, {NodeFlag::kReserved}));
  EXPECT_EQ(ParseNodeState("maint"), State(NodeBase::kIdle, {NodeFlag::kMaintenance}));
  EXPECT_EQ(ParseNodeState("plnd"), State(NodeBase::kIdle, {NodeFlag::kPlanned}));
  EXPECT_EQ(ParseNodeState("comp"), State(NodeBase::kIdle, {NodeFlag::kCompleting}));
  EXPECT_EQ(ParseNodeState("futr"), State(NodeBase::kFuture));
}

TEST(NodeState, WordsOfANewerSlurmDoNotHideTheRest) {
  EXPECT_EQ(ParseNodeState("IDLE+SOMETHING_NEW+DRAIN"), State(NodeBase::kIdle, {NodeFlag::kDrain}));
  EXPECT_EQ(ParseNodeState("SOMETHING_NEW").base, NodeBase::kUnknown);
  EXPECT_EQ(ParseNodeState("").base, NodeBase::kUnknown);
}

TEST(NodeState, OnlyHealthyNodesAreUsable) {
  for (const char* text :
       {"IDLE", "MIXED", "ALLOCATED", "IDLE+PLANNED", "IDLE+CLOUD+POWERED_DOWN", "IDLE+POWERING_UP",
        "IDLE+RESERVED", "IDLE+COMPLETING", "UNKNOWN", "mix-"}) {
    EXPECT_TRUE(IsUsable(ParseNodeState(text))) << text;
  }
  for (const char* text : {"DOWN", "IDLE+DRAIN", "MIXED+DRAIN", "IDLE*", "UNKNOWN*", "FUTURE",
                           "ERROR", "IDLE+FAIL", "IDLE+INVALID_REG", "drng"}) {
    EXPECT_FALSE(IsUsable(ParseNodeState(text))) << text;
  }
}

TEST(NodeState, PlannedIsPromised) {
  EXPECT_TRUE(IsPromised(ParseNodeState("IDLE+PLANNED")));
  EXPECT_FALSE(IsPromised(ParseNodeState("IDLE+RESERVED")));
}

TEST(NodeState, Words) {
  EXPECT_EQ(ToWords(ParseNodeState("IDLE")), "idle");
  EXPECT_EQ(ToWords(ParseNodeState("IDLE+DRAIN")), "drained");
  EXPECT_EQ(ToWords(ParseNodeState("MIXED+DRAIN")), "draining (runs its last jobs)");
  EXPECT_EQ(ToWords(ParseNodeState("DOWN*")), "down, not responding");
  EXPECT_EQ(ToWords(ParseNodeState("IDLE+PLANNED")), "idle, promised to a waiting job");
}

RC_GTEST_PROP(NodeStateProperty, CanonicalTextReadsBack, ()) {
  const NodeState state{static_cast<NodeBase>(*rc::gen::inRange(0, 7)),
                        *rc::gen::inRange<uint32_t>(0, 1u << 20)};
  RC_ASSERT(ParseNodeState(ToString(state)) == state);
}

}  // namespace
}  // namespace gpuadvise
