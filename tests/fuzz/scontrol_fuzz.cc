// Any text is read as nodes, partitions, reservations and settings; what is written into the reason
// or comment of a node changes nothing else of it.
#include <string>

#include "daemon/collect/scontrol.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  const std::string_view text = AsText(data, size);
  for (const Node& node : ParseNodes(text)) Require(!node.name.empty(), "nodes have names");
  for (const Partition& each : ParsePartitions(text)) Require(!each.name.empty(), "so have these");
  for (const Reservation& each : ParseReservations(text)) Require(!each.name.empty(), "and these");
  ParseConfig(text);
  const std::string begin = "NodeName=n1 CPUTot=8\n   RealMemory=9 AllocMem=0\n   State=IDLE\n   ";
  const std::string written(text);
  Node plain = ParseNodes(begin).at(0);
  for (const char* key : {"Comment=", "Reason=", "Extra="}) {
    Node node = ParseNodes(begin + key + written + "\n   Reason=x\n\n").at(0);
    node.reason.clear();
    Require(node == plain, "a text changes no other field");
  }
  return 0;
}
