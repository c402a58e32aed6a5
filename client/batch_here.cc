#include "client/batch_here.h"

#include <nlohmann/json.hpp>

#include "client/training_question.h"

namespace gpuadvise {
namespace {

/// A compute node often reaches no daemon, and a start must not wait for one.
class NoDaemon : public Api {
 public:
  Result<nlohmann::json> Get(const std::string&) override { return Nobody(); }
  Result<nlohmann::json> Post(const std::string&, const nlohmann::json&) override {
    return Nobody();
  }

 private:
  static tl::unexpected<Error> Nobody() {
    return Fail(ErrorCode::kUnavailable, "no daemon is asked");
  }
};

}  // namespace

Result<Batch> BatchHere(const std::string& file, const std::string& section, GpuSampler* sampler,
                        int64_t nodes, int64_t now) {
  if (sampler == nullptr) {
    return Fail(ErrorCode::kNotFound, "NVIDIA's libnvidia-ml.so.1 cannot be used here");
  }
  NoDaemon nobody;
  const Result<TrainingQuestion> asked = TrainingQuestion::Load({file, section, {}}, nobody, now);
  if (!asked) return tl::unexpected<Error>(asked.error());
  GpusHere here{sampler->Names(), {}, nodes};
  for (const GpuSample& sample : sampler->Sample()) {
    here.memory_bytes.push_back(sample.memory_total_bytes);
  }
  const Result<Batch> batch = BatchForGpus(asked->spec, asked->presets, *asked->catalogue, here);
  if (batch || batch.error().pointer.empty()) return batch;
  return tl::unexpected<Error>(asked->Placed(batch.error()));
}

}  // namespace gpuadvise
