#include "client/run/smaller_batch.h"

namespace gpuadvise {

std::optional<Batch> SmallerBatch(const Batch& batch) {
  const int64_t product = batch.micro_batch * batch.accumulation;
  for (int64_t micro_batch = batch.micro_batch / 2; micro_batch >= 1; --micro_batch) {
    if (product % micro_batch == 0) return Batch{micro_batch, product / micro_batch};
  }
  return {};
}

std::string NextOfTheLadder() {
  return "the micro-batch is 1 already: try gradient_checkpointing, then half precision, 8-bit "
         "optimizer states, ZeRO-2 or 3, a smaller LoRA rank, shorter sequences, offload "
         "(gpuadvise fit FILE says what each saves)";
}

}  // namespace gpuadvise
