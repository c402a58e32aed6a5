// What a program called quota prints: rows of amounts that are none below zero.
#include "client/preflight/quota.h"
#include "tests/fuzz/fuzz_input.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gpuadvise;
  using namespace gpuadvise::client;
  const auto quotas = ParseQuota(std::string(AsText(data, size)));
  for (const DiskQuota& quota : quotas) {
    Require(!quota.file_system.empty(), "a row is of a file system");
    Require(quota.used_bytes >= 0 && quota.soft_bytes >= 0 && quota.hard_bytes >= 0 &&
                quota.used_files >= 0 && quota.hard_files >= 0,
            "amounts are not negative");
    Require(QuotaOf(quotas, quota.file_system, "").has_value(), "a row is found by its name");
  }
  return 0;
}
