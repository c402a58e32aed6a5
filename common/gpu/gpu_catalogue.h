// What is known about GPUs, and which of them a name means.
//
// A catalogue holds one entry per GPU model (and per MIG profile) with the figures that memory and
// run-time models use. Sites, Slurm and people spell GPU names in many ways (`gpu4090`, `rtx4090`,
// `nvidia_geforce_rtx_4090`); every spelling resolves to one entry, and never to a card with more
// memory than the name says: A100-40 is never A100-80.
// Figures: GB are 10^9 as vendors print them in `memory_gb`; `memory_bytes` is the usable 2^30 size
// of a card sold as that many "GB" (24 GB card: 24 GiB). Built once, then immutable.
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
  double matrix_share = 0;  // of dense_tflops that large products of matrices reach for hours
  double fp32_share = 0;    // the same of fp32_tflops
  double flash_share = 0;   // of what those reach: fused attention
  double efficiency = 1;    // of all that common/training/step_time_model counts; a site's word
  bool bf16 = false;
  GpuLink link = GpuLink::kPcie;
  double nvlink_gb_per_s = 0;     // of one GPU, one direction; 0: none
  double tdp_watts = 0;           // 0: unknown
  double price_per_gpu_hour = 0;  // 0: none given
  bool is_mig_slice = false;
  double fp8_tflops = 0;            // dense, fp32 accumulation; 0: none
  double tf32_tflops = 0;           // dense; 0: none
  int64_t usable_memory_bytes = 0;  // what PyTorch sees of it; 0: nobody has read it
};

// How the GPUs of a job reach each other, where somebody has said it.
struct Interconnect {
  double link_gb_per_s = 0;     // of one GPU within its node, one direction; 0: as its card has
  double network_gb_per_s = 0;  // of one node to others, one direction; 0: not known
};

// Some nodes of a site, by exactly one of the three.
struct NodeCondition {
  std::string partition;
  std::string feature;
  std::string node;  // a host list expression
};

// What a site says about its GPUs.
struct SiteGpus {
  // GRES type as Slurm prints it -> catalogue name. Wins over everything.
  std::vector<std::pair<std::string, std::string>> aliases;
  // Untyped GRES ("gpu:4"): the first rule that matches a node says what its GPUs are.
  struct UntypedRule {
    NodeCondition where;
    std::string gpu;  // catalogue name
  };
  std::vector<UntypedRule> untyped;
  // How the GPUs of nodes reach each other; the first rule that matches a node decides.
  struct InterconnectRule {
    NodeCondition where;
    Interconnect interconnect;
  };
  std::vector<InterconnectRule> interconnects;
};

// `model` as an entry of gpus.yaml, which FromJson reads back.
nlohmann::json EntryOf(const GpuModel& model);

class GpuCatalogue {
 public:
  // From the JSON form of config/gpus.yaml. `overrides` (may be null) is a site's file of the same
  // shape, merged entry by entry. Errors name the entry and key by JSON pointer.
  static Result<GpuCatalogue> FromJson(const nlohmann::json& document);
  static Result<GpuCatalogue> FromJson(const nlohmann::json& document,
                                       const nlohmann::json& overrides);

  // The entry that `name` (a GRES type, a driver's product name, what a person types) means, or
  // nullptr when it means none. A name that leaves the memory size open ("a100") gets the smallest
  // card of that family, so that nothing is promised memory it may not have; one that leaves the
  // form open (SXM or PCIe) the one that the catalogue lists first. A MIG profile that no entry
  // has means none: its rates are not guessed. The pointer lives as long as the catalogue.
  const GpuModel* Resolve(std::string_view name) const;

  // " (did you mean 'l40s'?)" for a name that means none; "" where nothing is near.
  std::string NearTo(std::string_view name) const;

  // Whether a person who asks for `name` would accept `model`: "a100" accepts both sizes,
  // "a100-80" only one; a whole-card name never accepts a MIG slice, "h100_1g.11gb" accepts just
  // that slice.
  bool Accepts(std::string_view name, const GpuModel& model) const;

  // What else a person who says `name` may mean: whole cards that it fits as well as the one that
  // it resolves to. Empty where it is one card's own name, or none's.
  std::vector<const GpuModel*> OthersCalled(std::string_view name) const;

  const std::vector<GpuModel>& models() const { return models_; }

 private:
  struct Spellings {
    std::vector<std::string> folded;  // id, name and aliases as a whole
    std::vector<GpuName> parts;       // of the id, and of a slice's aliases

    bool HasWhole(const std::string& name) const;
    bool Matches(const GpuName& name, const GpuModel& model) const;
  };

  std::vector<GpuModel> models_;
  std::vector<Spellings> spellings_;  // parallel to models_
};

// "a100 is taken as A100 40GB SXM; a100-40gb-pcie and a100-80gb-sxm are others": what a name that
// several cards have was taken for; "" where only one has it.
std::string TakenAs(const GpuCatalogue& catalogue, std::string_view name);

}  // namespace gpuadvise
