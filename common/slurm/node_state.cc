#include "common/slurm/node_state.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace gpuadvise {
namespace {

constexpr uint32_t Bit(NodeFlag flag) { return static_cast<uint32_t>(flag); }

struct BaseWord {
  std::string_view word;
  NodeBase base;
};
constexpr std::array kBases = {
    BaseWord{"UNKNOWN", NodeBase::kUnknown}, BaseWord{"DOWN", NodeBase::kDown},
    BaseWord{"IDLE", NodeBase::kIdle},       BaseWord{"ALLOCATED", NodeBase::kAllocated},
    BaseWord{"ERROR", NodeBase::kError},     BaseWord{"MIXED", NodeBase::kMixed},
    BaseWord{"FUTURE", NodeBase::kFuture},   BaseWord{"UNK", NodeBase::kUnknown},
    BaseWord{"ALLOC", NodeBase::kAllocated}, BaseWord{"MIX", NodeBase::kMixed},
    BaseWord{"FUTR", NodeBase::kFuture},     BaseWord{"ERR", NodeBase::kError},
};

// The first word of each flag is canonical; the others come from other releases and sinfo.
struct FlagWord {
  std::string_view word;
  NodeFlag flag;
};
constexpr std::array kFlags = {
    FlagWord{"DRAIN", NodeFlag::kDrain},
    FlagWord{"COMPLETING", NodeFlag::kCompleting},
    FlagWord{"MAINTENANCE", NodeFlag::kMaintenance},
    FlagWord{"RESERVED", NodeFlag::kReserved},
    FlagWord{"PLANNED", NodeFlag::kPlanned},
    FlagWord{"NOT_RESPONDING", NodeFlag::kNotResponding},
    FlagWord{"POWERED_DOWN", NodeFlag::kPoweredDown},
    FlagWord{"POWERING_UP", NodeFlag::kPoweringUp},
    FlagWord{"POWERING_DOWN", NodeFlag::kPoweringDown},
    FlagWord{"POWER_UP", NodeFlag::kPowerUp},
    FlagWord{"POWER_DOWN", NodeFlag::kPowerDown},
    FlagWord{"POWER_DRAIN", NodeFlag::kPowerDrain},
    FlagWord{"REBOOT_REQUESTED", NodeFlag::kRebootRequested},
    FlagWord{"REBOOT_ISSUED", NodeFlag::kRebootIssued},
    FlagWord{"FAIL", NodeFlag::kFail},
    FlagWord{"INVALID_REG", NodeFlag::kInvalidRegistration},
    FlagWord{"BLOCKED", NodeFlag::kBlocked},
    FlagWord{"CLOUD", NodeFlag::kCloud},
    FlagWord{"DYNAMIC_NORM", NodeFlag::kDynamicNormal},
    FlagWord{"DYNAMIC_FUTURE", NodeFlag::kDynamicFuture},
    FlagWord{"MAINT", NodeFlag::kMaintenance},
    FlagWord{"RESV", NodeFlag::kReserved},
    FlagWord{"PLND", NodeFlag::kPlanned},
    FlagWord{"COMP", NodeFlag::kCompleting},
    FlagWord{"NO_RESPOND", NodeFlag::kNotResponding},
    FlagWord{"POWER_SAVING", NodeFlag::kPoweredDown},
    FlagWord{"POWER", NodeFlag::kPoweredDown},
    FlagWord{"POW_DN", NodeFlag::kPoweringDown},
    FlagWord{"POW_UP", NodeFlag::kPoweringUp},
    FlagWord{"REBOOT", NodeFlag::kRebootRequested},
    FlagWord{"BOOT", NodeFlag::kRebootIssued},
    FlagWord{"INVAL", NodeFlag::kInvalidRegistration},
    FlagWord{"BLCK", NodeFlag::kBlocked},
    FlagWord{"DYNAMIC", NodeFlag::kDynamicNormal},
};

// sinfo's words for a base state combined with a flag.
struct FoldedWord {
  std::string_view word;
  NodeBase base;
  NodeFlag flag;
};
constexpr std::array kFolded = {
    FoldedWord{"DRAINED", NodeBase::kIdle, NodeFlag::kDrain},
    FoldedWord{"DRAINING", NodeBase::kMixed, NodeFlag::kDrain},
    FoldedWord{"DRNG", NodeBase::kMixed, NodeFlag::kDrain},
    FoldedWord{"FAILING", NodeBase::kMixed, NodeFlag::kFail},
    FoldedWord{"FAILG", NodeBase::kMixed, NodeFlag::kFail},
};

struct Suffix {
  char mark;
  NodeFlag flag;
};
constexpr std::array kSuffixes = {
    Suffix{'*', NodeFlag::kNotResponding},   Suffix{'~', NodeFlag::kPoweredDown},
    Suffix{'#', NodeFlag::kPoweringUp},      Suffix{'!', NodeFlag::kPowerDown},
    Suffix{'%', NodeFlag::kPoweringDown},    Suffix{'$', NodeFlag::kMaintenance},
    Suffix{'@', NodeFlag::kRebootRequested}, Suffix{'^', NodeFlag::kRebootIssued},
    Suffix{'-', NodeFlag::kPlanned},
};

// Moves suffixes from the end of `word` to `flags`.
std::string_view TakeSuffixes(std::string_view word, uint32_t& flags) {
  while (!word.empty()) {
    const auto hit = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                  [&](const Suffix& s) { return s.mark == word.back(); });
    if (hit == kSuffixes.end()) break;
    flags |= Bit(hit->flag);
    word.remove_suffix(1);
  }
  return word;
}

template <typename Table>
auto Find(const Table& table, std::string_view word) {
  return std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.word == word; });
}

// Adds one word. A flag in first place leaves the base state at its default.
void AddWord(std::string_view word, std::optional<NodeBase>& base, uint32_t& flags) {
  word = TakeSuffixes(word, flags);
  if (const auto b = Find(kBases, word); b != kBases.end()) {
    if (!base) base = b->base;
  } else if (const auto folded = Find(kFolded, word); folded != kFolded.end()) {
    if (!base) base = folded->base;
    flags |= Bit(folded->flag);
  } else if (const auto flag = Find(kFlags, word); flag != kFlags.end()) {
    // With "maint", "drain", "resv" alone sinfo hides the base state, which is then idle.
    if (!base) base = NodeBase::kIdle;
    flags |= Bit(flag->flag);
  } else if (!base) {
    base = NodeBase::kUnknown;
  }
}

std::string_view BaseInWords(const NodeState& state) {
  switch (state.base) {
    case NodeBase::kUnknown:
      return "in an unknown state";
    case NodeBase::kDown:
      return "down";
    case NodeBase::kIdle:
      return "idle";
    case NodeBase::kAllocated:
      return "fully allocated";
    case NodeBase::kError:
      return "in an error state";
    case NodeBase::kMixed:
      return "partly allocated";
    case NodeBase::kFuture:
      return "not there yet";
  }
  return "in an unknown state";
}

std::string_view DrainInWords(const NodeState& state) {
  const bool busy = state.base == NodeBase::kAllocated || state.base == NodeBase::kMixed;
  return busy ? "draining (runs its last jobs)" : "drained";
}

}  // namespace

NodeState ParseNodeState(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::optional<NodeBase> base;
  NodeState state;
  std::string_view rest = upper;
  while (!rest.empty()) {
    const size_t plus = std::min(rest.find('+'), rest.size());
    AddWord(rest.substr(0, plus), base, state.flags);
    rest.remove_prefix(std::min(plus + 1, rest.size()));
  }
  state.base = base.value_or(NodeBase::kUnknown);
  return state;
}

std::string ToString(const NodeState& state) {
  std::string text;
  for (const BaseWord& word : kBases) {
    if (word.base != state.base) continue;
    text = word.word;
    break;
  }
  uint32_t left = state.flags;
  for (const FlagWord& word : kFlags) {
    if ((left & Bit(word.flag)) == 0) continue;
    text += '+';
    text += word.word;
    left &= ~Bit(word.flag);
  }
  return text;
}

bool IsUsable(const NodeState& state) {
  switch (state.base) {
    case NodeBase::kIdle:
    case NodeBase::kAllocated:
    case NodeBase::kMixed:
    case NodeBase::kUnknown:  // for seconds after slurmctld starts, until the node registers
      break;
    case NodeBase::kDown:
    case NodeBase::kError:
    case NodeBase::kFuture:
      return false;
  }
  // A powered-down or booting node does not respond, but Slurm still allocates it.
  constexpr uint32_t kPower = Bit(NodeFlag::kPoweredDown) | Bit(NodeFlag::kPoweringDown) |
                              Bit(NodeFlag::kPoweringUp) | Bit(NodeFlag::kPowerUp);
  const uint32_t flags =
      (state.flags & kPower) != 0 ? state.flags & ~Bit(NodeFlag::kNotResponding) : state.flags;
  constexpr uint32_t kUnfit = Bit(NodeFlag::kDrain) | Bit(NodeFlag::kFail) |
                              Bit(NodeFlag::kNotResponding) | Bit(NodeFlag::kPowerDrain) |
                              Bit(NodeFlag::kInvalidRegistration);
  return (flags & kUnfit) == 0;
}

bool IsPromised(const NodeState& state) { return state.Has(NodeFlag::kPlanned); }

std::string ToWords(const NodeState& state) {
  std::string words(state.Has(NodeFlag::kDrain) && state.base != NodeBase::kDown
                        ? DrainInWords(state)
                        : BaseInWords(state));
  const auto add = [&](NodeFlag flag, std::string_view text) {
    if (state.Has(flag)) words += text;
  };
  if (state.base == NodeBase::kDown) add(NodeFlag::kDrain, " and drained");
  add(NodeFlag::kNotResponding, ", not responding");
  add(NodeFlag::kFail, ", failing");
  add(NodeFlag::kInvalidRegistration, ", registered with the wrong hardware");
  add(NodeFlag::kCompleting, ", cleaning up after a job");
  add(NodeFlag::kMaintenance, ", in maintenance");
  add(NodeFlag::kReserved, ", reserved");
  add(NodeFlag::kPlanned, ", promised to a waiting job");
  add(NodeFlag::kPoweredDown, ", powered down");
  add(NodeFlag::kPoweringDown, ", powering down");
  add(NodeFlag::kPoweringUp, ", powering up");
  add(NodeFlag::kRebootRequested, ", to be rebooted");
  add(NodeFlag::kRebootIssued, ", rebooting");
  add(NodeFlag::kBlocked, ", blocked by a neighbour's exclusive topology");
  return words;
}

}  // namespace gpuadvise
