#include "daemon/state/site_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/host_list.h"
#include "common/base/words.h"
#include "common/gpu/gpu_pool.h"
#include "common/slurm/policy.h"

namespace gpuadvise::daemon {
namespace {

constexpr size_t kMostNodes = 32;  // that one sentence names

std::string NodesInWords(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const size_t others = names.size() > kMostNodes ? names.size() - kMostNodes : 0;
  names.resize(names.size() - others);
  const std::string list = CompressHostList(names);
  return others == 0 ? list : fmt::format("{} and {} more", list, others);
}

void AddUnknownGpus(const Snapshot& snapshot, const GpuNaming& gpus,
                    std::vector<std::string>& problems) {
  std::map<std::string, std::vector<std::string>> nodes;  // by GRES type
  for (const GpuPool& pool : FindGpuPools(snapshot, gpus)) {
    if (pool.model != nullptr) continue;
    for (const Node* node : pool.nodes) nodes[pool.gres_type].push_back(node->name);
  }
  for (auto& [type, names] : nodes) {
    const bool typed = !type.empty();
    problems.push_back(fmt::format(
        "GRES gpu{} of {} is of a GPU that the catalogue does not know, so no training is advised "
        "there; name the card {} in gpuadvised.yaml, and describe a new one in gpus_file",
        typed ? ":" + type : "", NodesInWords(std::move(names)),
        typed ? fmt::format("with gpu_aliases: {{{}: NAME}}", type) : "with untyped_gpus"));
  }
}

}  // namespace

std::vector<std::string> FindSiteProblems(const Snapshot& snapshot, const Catalogues& catalogues) {
  std::vector<std::string> problems;
  AddUnknownGpus(snapshot, catalogues.gpus, problems);
  const std::string& account = catalogues.public_account;
  if (!account.empty() && !HasAccount(snapshot, account)) {
    problems.push_back(fmt::format(
        "Slurm shows gpuadvised no account {} (public_account in gpuadvised.yaml; sacctmgr show "
        "account), so callers without an account get the waits of a user with the fewest rights of "
        "all",
        Quoted(account)));
  }
  const std::string& qos = catalogues.public_qos;
  if (!qos.empty() && FindQos(snapshot, qos) == nullptr) {
    std::vector<std::string> names;
    for (const Qos& known : snapshot.qos) names.push_back(known.name);
    problems.push_back(
        fmt::format("public_qos in gpuadvised.yaml: Slurm shows no QOS {}{}; QOS: {}", Quoted(qos),
                    DidYouMean(qos, names), names.empty() ? "none" : JoinNames(names)));
  }
  return problems;
}

}  // namespace gpuadvise::daemon
