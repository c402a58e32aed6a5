// GPU models and their figures, and name resolution.
//
// One entry per GPU model (and per MIG profile) with the figures for memory and run-time models.
// GPU names have many spellings (`gpu4090`, `rtx4090`, `nvidia_geforce_rtx_4090`); each resolves to
// one entry, and never to a card with more memory than the name states: A100-40 is never A100-80.
// `memory_gb` is in vendor GB (10^9); `memory_bytes` is the 2^30 size of a card sold as that many
// "GB" (24 GB card: 24 GiB). Built once, then immutable.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/gpu/gpu_name.h"

namespace gpuadvise {

enum class GpuLink {
  kNone,         // MIG slices: no peer-to-peer at all
  kPcieNoP2p,    // GeForce since Ada: copies go through host memory
  kPcie,         // peer-to-peer over PCIe
  kNvlinkPairs,  // bridges between two cards
  kNvlink,       // every card to every card (SXM)
};

struct GpuModel {
  std::string id;                         // catalogue key: "rtx4090", "a100-80gb", "h100-1g.11gb"
  std::string display_name;               // "RTX 4090", "H100 MIG 1g.11gb"
  std::vector<std::string> aliases = {};  // further spellings
  std::string architecture;               // "Ada"
  double compute_capability = 0;          // 8.9
  double memory_gb = 0;                   // as sold
  int64_t memory_bytes = 0;               // memory_gb × 2^30
  double memory_bandwidth_gb_per_s = 0;
  double dense_tflops = 0;  // fp16/bf16 tensor, dense, fp32 accumulation
  double fp32_tflops = 0;   // without tensor cores
  double matrix_share = 0;  // of dense_tflops, sustained by large matrix products
  double fp32_share = 0;    // … of fp32_tflops
  double flash_share = 0;   // … of those, reached by fused attention
  double efficiency = 1;    // relative to common/time/step_time_model; a site may set it
  bool bf16 = false;
  GpuLink link = GpuLink::kPcie;
  double nvlink_gb_per_s = 0;     // per GPU and direction; 0: none
  double tdp_watts = 0;           // 0: unknown
  double price_per_gpu_hour = 0;  // 0: not set
  bool is_mig_slice = false;
  double fp8_tflops = 0;            // dense, fp32 accumulation; 0: none
  double tf32_tflops = 0;           // dense; 0: none
  int64_t usable_memory_bytes = 0;  // visible to PyTorch; 0: not measured
};

// How a job's GPUs are connected, if configured.
struct Interconnect {
  double link_gb_per_s = 0;     // per GPU within its node, one direction; 0: the card's value
  double network_gb_per_s = 0;  // per node, one direction; 0: unknown
};

// A set of nodes, by exactly one of the three members.
struct NodeCondition {
  std::string partition;
  std::string feature;
  std::string node;  // a host list expression
};

// A site's GPU configuration.
struct SiteGpus {
  // GRES type as printed by Slurm -> catalogue name. Has precedence.
  std::vector<std::pair<std::string, std::string>> aliases;
  // Untyped GRES ("gpu:4"): the first rule that matches a node names its GPUs.
  struct UntypedRule {
    NodeCondition where;
    std::string gpu;  // catalogue name
  };
  std::vector<UntypedRule> untyped;
  // Links and network of nodes; the first rule that matches a node applies.
  struct InterconnectRule {
    NodeCondition where;
    Interconnect interconnect;
  };
  std::vector<InterconnectRule> interconnects;
};

// `model` as an entry of gpus.yaml, readable by FromJson.
nlohmann::json EntryOf(const GpuModel& model);

class GpuCatalogue {
 public:
  // From the JSON form of config/gpus.yaml. `overrides` (may be null) is a site's file of the same
  // form, merged entry by entry. Errors name the entry and key by JSON pointer.
  static Result<GpuCatalogue> FromJson(const nlohmann::json& document);
  static Result<GpuCatalogue> FromJson(const nlohmann::json& document,
                                       const nlohmann::json& overrides);

  // The entry for `name` (a GRES type, a driver's product name, user input), or nullptr. Without a
  // memory size ("a100") it is the smallest card of the family, so that memory is not
  // overestimated; without a form (SXM or PCIe) the first in the catalogue. Unlisted MIG profiles
  // have no entry: rates are not guessed. The pointer lives as long as the catalogue.
  const GpuModel* Resolve(std::string_view name) const;

  // " (did you mean 'l40s'?)" for an unknown name; "" if nothing is near.
  std::string NearTo(std::string_view name) const;

  // Whether a request for `name` accepts `model`: "a100" accepts both sizes, "a100-80" only one; a
  // whole-card name never accepts a MIG slice, "h100_1g.11gb" only that slice.
  bool Accepts(std::string_view name, const GpuModel& model) const;

  // Other whole cards that match `name` as well as the resolved one. Empty for the exact name of
  // one card, or an unknown name.
  std::vector<const GpuModel*> FindAmbiguous(std::string_view name) const;

  const std::vector<GpuModel>& models() const { return models_; }

 private:
  struct Spellings {
    std::vector<std::string> folded;  // id, name and aliases
    std::vector<GpuName> parts;       // of the id, and of a slice's aliases

    bool HasWhole(const std::string& name) const;
    bool Matches(const GpuName& name, const GpuModel& model) const;
  };

  std::vector<GpuModel> models_;
  std::vector<Spellings> spellings_;  // parallel to models_
};

// How an ambiguous name was resolved: "a100 is taken as A100 40GB SXM; a100-40gb-pcie and
// a100-80gb-sxm are others"; "" if unambiguous.
std::string DescribeResolution(const GpuCatalogue& catalogue, std::string_view name);

}  // namespace gpuadvise
