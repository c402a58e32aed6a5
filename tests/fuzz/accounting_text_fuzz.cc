// The texts of accounting, between NULs: assoc_mgr, shares, associations, QOS. Any is read.
#include <algorithm>

#include "daemon/collect/accounting_text.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::collect;
  std::string_view rest = AsText(data, size);
  AccountingText text;
  for (std::string_view* part : {&text.assoc_mgr, &text.shares, &text.associations, &text.qos}) {
    *part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(part->size() + 1, rest.size()));
  }
  for (const Association& association : ParseAssociations(text)) {
    Require(association.id > 0, "associations have ids");
    Require(std::is_sorted(association.qos.begin(), association.qos.end()), "QOS are in order");
  }
  ParseQos(text);
  ParseTresCounts(text.qos);
  return 0;
}
