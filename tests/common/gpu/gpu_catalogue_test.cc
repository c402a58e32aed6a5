#include "common/gpu/gpu_catalogue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

const GpuCatalogue& Shipped() { return ShippedGpus().catalogue(); }

std::string IdOf(std::string_view name) {
  const GpuModel* model = Shipped().Resolve(name);
  return model == nullptr ? "none" : model->id;
}

struct Spelling {
  const char* test;
  const char* name;
  const char* id;
};
class GpuSpelling : public testing::TestWithParam<Spelling> {};
TEST_P(GpuSpelling, MeansOneCard) { EXPECT_EQ(IdOf(GetParam().name), GetParam().id); }

INSTANTIATE_TEST_SUITE_P(
    GpuCatalogue, GpuSpelling,
    testing::Values(
        Spelling{"gpu4090", "gpu4090", "rtx4090"}, Spelling{"rtx4090", "rtx4090", "rtx4090"},
        Spelling{"nvidia_geforce_rtx_4090", "nvidia_geforce_rtx_4090", "rtx4090"},
        Spelling{"RTX_4090", "RTX 4090", "rtx4090"}, Spelling{"n4090", "4090", "rtx4090"},
        Spelling{"gpul40s", "gpul40s", "l40s"}, Spelling{"NVIDIA_L40S", "NVIDIA L40S", "l40s"},
        Spelling{"gpu2080", "gpu2080", "rtx2080ti"}, Spelling{"n2080", "2080", "rtx2080ti"},
        Spelling{"gpu2080ti", "gpu2080ti", "rtx2080ti"},
        Spelling{"rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", "rtx2080ti"},
        Spelling{"gpu4070", "gpu4070", "rtx4070"}, Spelling{"H100", "H100", "h100-80gb-sxm"},
        Spelling{"nvidia_h100_80gb_hbm3", "nvidia_h100_80gb_hbm3", "h100-80gb-sxm"},
        Spelling{"NVIDIA_H100_80GB_HBM3", "NVIDIA H100 80GB HBM3", "h100-80gb-sxm"},
        Spelling{"NVIDIA_H100_PCIe", "NVIDIA H100 PCIe", "h100-80gb-pcie"},
        Spelling{"nvidia_h100_nvl", "nvidia_h100_nvl", "h100-94gb-nvl"},
        Spelling{"h100_94gb", "h100_94gb", "h100-94gb-nvl"},
        Spelling{"h100_1g_11gb", "h100_1g.11gb", "h100-1g.11gb"},
        Spelling{"h100_1g_12gb", "nvidia_h100_nvl_1g.12gb", "h100-1g.11gb"},
        Spelling{"h100_1g_10gb", "nvidia_h100_80gb_hbm3_1g.10gb", "h100-1g.10gb"},
        Spelling{"bare_1g_5gb", "1g.5gb", "a100-1g.5gb"},
        Spelling{"a100_3g_20gb", "a100_3g.20gb", "a100-3g.20gb"},
        Spelling{"a100_mig_1g_5gb", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "a100-1g.5gb"},
        Spelling{"A100", "A100", "a100-40gb-sxm"},
        Spelling{"a100_sxm4_40", "nvidia_a100-sxm4-40gb", "a100-40gb-sxm"},
        Spelling{"a100_sxm4_80", "NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"},
        Spelling{"a100_pcie_40", "NVIDIA A100-PCIE-40GB", "a100-40gb-pcie"},
        Spelling{"a100_80_pcie", "NVIDIA A100 80GB PCIe", "a100-80gb-pcie"},
        Spelling{"a100_80", "a100-80", "a100-80gb-sxm"},
        Spelling{"a100_80gb_glued", "a10080gb", "a100-80gb-sxm"},
        Spelling{"a100_80g", "a100_80g", "a100-80gb-sxm"},
        Spelling{"a100sxm4_glued", "a100sxm4", "a100-40gb-sxm"},
        Spelling{"v100_sxm2_16", "Tesla V100-SXM2-16GB", "v100-16gb-sxm2"},
        Spelling{"v100_sxm2_32", "tesla_v100-sxm2-32gb", "v100-32gb-sxm2"},
        Spelling{"v100_pcie_32", "Tesla V100-PCIE-32GB", "v100-32gb-pcie"},
        Spelling{"v100", "v100", "v100-16gb-sxm2"}, Spelling{"t4", "Tesla T4", "t4"},
        Spelling{"h200", "nvidia_h200", "h200-141gb-sxm"},
        Spelling{"gh200", "nvidia_gh200_480gb", "gh200-96gb"},
        Spelling{"rtx_6000_ada", "NVIDIA RTX 6000 Ada Generation", "rtx6000-ada"},
        Spelling{"rtx6000", "rtx6000", "quadro-rtx6000"},
        Spelling{"quadro", "Quadro RTX 6000", "quadro-rtx6000"},
        Spelling{"a6000", "NVIDIA RTX A6000", "rtx-a6000"},
        Spelling{"a6000s", "a6000", "rtx-a6000"},
        Spelling{"gtx1080ti", "GeForce GTX 1080 Ti", "gtx1080ti"},
        Spelling{"rtx3090", "rtx_3090", "rtx3090"}, Spelling{"b200", "NVIDIA B200", "b200-180gb"},
        Spelling{"mi300x", "AMD Instinct MI300X", "mi300x"},
        Spelling{"plain2080", "NVIDIA GeForce RTX 2080", "rtx2080"},
        Spelling{"titan", "NVIDIA TITAN RTX", "titan-rtx"},
        Spelling{"pro6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro6000"},
        Spelling{"pro6000_bare", "rtx_pro_6000", "rtx-pro6000"},
        Spelling{"pro6000_server", "NVIDIA RTX PRO 6000 Blackwell Server Edition",
                 "rtx-pro6000-server"},
        Spelling{"pro6000_server_gres", "nvidia_rtx_pro_6000_blackwell_server_edition",
                 "rtx-pro6000-server"},
        Spelling{"pro6000_maxq", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
                 "rtx-pro6000-maxq"},
        Spelling{"pro4500", "NVIDIA RTX PRO 4500 Blackwell", "rtx-pro4500"},
        Spelling{"rtx5090", "NVIDIA GeForce RTX 5090", "rtx5090"},
        Spelling{"rtx5090_laptop", "NVIDIA GeForce RTX 5090 Laptop GPU", "rtx5090-laptop"},
        Spelling{"rtx4070_super", "NVIDIA GeForce RTX 4070 SUPER", "rtx4070super"},
        Spelling{"rtx4070_ti_super", "nvidia_geforce_rtx_4070_ti_super", "rtx4070tisuper"},
        Spelling{"rtx4090_d", "NVIDIA GeForce RTX 4090 D", "rtx4090d"},
        Spelling{"rtx3060_laptop", "NVIDIA GeForce RTX 3060 Laptop GPU", "rtx3060-laptop"},
        Spelling{"rtx2060_super", "NVIDIA GeForce RTX 2060 SUPER", "rtx2060super"},
        Spelling{"gtx1060_6gb", "NVIDIA GeForce GTX 1060 6GB", "gtx1060"},
        Spelling{"gtx1060_3gb", "GeForce GTX 1060 3GB", "gtx1060-3gb"},
        Spelling{"gtx1660ti", "NVIDIA GeForce GTX 1660 Ti", "gtx1660ti"},
        Spelling{"titan_x", "NVIDIA TITAN X (Pascal)", "titan-x"},
        Spelling{"titan_xp", "NVIDIA TITAN Xp", "titan-xp"},
        Spelling{"titan_v", "NVIDIA TITAN V", "titan-v"}, Spelling{"p40", "Tesla P40", "p40"},
        Spelling{"p100", "p100", "p100-16gb-pcie"},
        Spelling{"p100_12", "Tesla P100-PCIE-12GB", "p100-12gb-pcie"},
        Spelling{"p100_16", "Tesla P100-PCIE-16GB", "p100-16gb-pcie"},
        Spelling{"gv100", "Quadro GV100", "quadro-gv100"},
        Spelling{"quadro_rtx4000", "Quadro RTX 4000", "quadro-rtx4000"},
        Spelling{"rtx4000_ada", "NVIDIA RTX 4000 Ada Generation", "rtx4000-ada"},
        Spelling{"rtx4000_sff", "NVIDIA RTX 4000 SFF Ada Generation", "rtx4000-sff-ada"},
        Spelling{"a5500", "NVIDIA RTX A5500", "rtx-a5500"},
        Spelling{"a2000", "NVIDIA RTX A2000 12GB", "rtx-a2000-12gb"},
        Spelling{"a100_64", "NVIDIA A100-SXM-64GB", "a100-64gb-custom"},
        Spelling{"a800_active", "NVIDIA A800 40GB Active", "a800-40gb-active"},
        Spelling{"a800", "NVIDIA A800-SXM4-80GB", "a800-80gb-sxm"},
        Spelling{"h100_96", "nvidia_h100_96gb", "h100-96gb-sxm"},
        Spelling{"h100_nvl", "NVIDIA H100 NVL", "h100-94gb-nvl"},
        Spelling{"h100_64", "NVIDIA H100 64GB HBM2", "h100-64gb-custom"},
        Spelling{"h800", "NVIDIA H800", "h800-80gb-sxm"}, Spelling{"h20", "NVIDIA H20", "h20-96gb"},
        Spelling{"gh200_144", "NVIDIA GH200 144G HBM3e", "gh200-144gb"},
        Spelling{"gb300", "NVIDIA GB300", "gb300-288gb"},
        Spelling{"mi300a", "AMD Instinct MI300A", "mi300a"},
        Spelling{"mi355x", "AMD Instinct MI355X OAM", "mi355x"},
        Spelling{"mi50_32", "AMD Instinct MI50 32GB", "mi50-32gb"}),
    [](const auto& spelling) { return spelling.param.test; });

TEST(GpuCatalogue, UnknownNamesMeanNothing) {
  for (const char* name : {"", "gpu", "nvidia", "80gb", "x9000", "a100-65gb", "h100_1g.13gb",
                           "h100x", "a1001", "1g.99gb", "a100_1g.11gb", "-"}) {
    EXPECT_EQ(IdOf(name), "none") << name;
  }
}

TEST(GpuCatalogue, A100WithFortyIsNeverEighty) {
  for (const char* name :
       {"a100", "a100-40", "a100_40gb", "A100-SXM", "a100 pcie", "nvidia_a100"}) {
    EXPECT_EQ(Shipped().Resolve(name)->memory_gb, 40) << name;
  }
  EXPECT_FALSE(Shipped().Accepts("a100-80", *Shipped().Resolve("a100-40")));
  EXPECT_FALSE(Shipped().Accepts("a100-40", *Shipped().Resolve("a100-80")));
}

TEST(GpuCatalogue, OpenNameAcceptsEverySizeAndForm) {
  for (const char* id : {"a100-40gb-sxm", "a100-80gb-sxm", "a100-80gb-pcie"}) {
    EXPECT_TRUE(Shipped().Accepts("a100", *Shipped().Resolve(id))) << id;
  }
  EXPECT_TRUE(Shipped().Accepts("a100-80gb", *Shipped().Resolve("a100-80gb-pcie")));
  EXPECT_FALSE(Shipped().Accepts("a100-80gb-sxm", *Shipped().Resolve("a100-80gb-pcie")));
}

TEST(GpuCatalogue, DriversNameAcceptsJustThatCard) {
  EXPECT_TRUE(Shipped().Accepts("nvidia_h100_80gb_hbm3", *Shipped().Resolve("h100-80gb-sxm")));
  EXPECT_FALSE(Shipped().Accepts("nvidia_h100_80gb_hbm3", *Shipped().Resolve("h100-80gb-pcie")));
}

TEST(GpuCatalogue, WholeCardNameNeverAcceptsASlice) {
  const GpuModel& slice = *Shipped().Resolve("h100_1g.11gb");
  EXPECT_FALSE(Shipped().Accepts("h100", slice));
  EXPECT_TRUE(Shipped().Accepts("h100_1g.11gb", slice));
  EXPECT_TRUE(Shipped().Accepts("1g.11gb", slice));
  EXPECT_FALSE(Shipped().Accepts("h100_1g.11gb", *Shipped().Resolve("h100-94gb-nvl")));
  EXPECT_FALSE(Shipped().Accepts("h100_1g.10gb", slice));
}

TEST(GpuCatalogue, EveryEntryIsFoundByItsOwnIdAndName) {
  for (const GpuModel& model : Shipped().models()) {
    EXPECT_EQ(IdOf(model.id), model.id);
    EXPECT_EQ(IdOf(model.display_name), model.id);
    EXPECT_TRUE(Shipped().Accepts(model.id, model)) << model.id;
  }
}

TEST(GpuCatalogue, FiguresAreDenseNotMarketing) {
  EXPECT_DOUBLE_EQ(Shipped().Resolve("h100-80gb-sxm")->dense_tflops, 989.5);
  EXPECT_DOUBLE_EQ(Shipped().Resolve("rtx2080ti")->dense_tflops, 53.8);
  EXPECT_DOUBLE_EQ(Shipped().Resolve("rtx4090")->dense_tflops, 165.2);
  EXPECT_DOUBLE_EQ(Shipped().Resolve("rtx-a6000")->dense_tflops, 154.8);
  EXPECT_DOUBLE_EQ(Shipped().Resolve("l40s")->dense_tflops, 362);
}

// Never NVIDIA's sparse figures, which are twice these.
TEST(GpuCatalogue, RatesOfEightBitsAndTf32FollowTheHalfPrecision) {
  EXPECT_DOUBLE_EQ(Shipped().Resolve("h100-80gb-sxm")->fp8_tflops, 1979);
  EXPECT_NEAR(Shipped().Resolve("rtx4090")->fp8_tflops, 330.3, 0.2);
  EXPECT_NEAR(Shipped().Resolve("mi300x")->fp8_tflops, 2614.9, 1);
  EXPECT_EQ(Shipped().Resolve("a100-80gb-sxm")->fp8_tflops, 0);
  EXPECT_EQ(Shipped().Resolve("mi210")->fp8_tflops, 0);
  EXPECT_DOUBLE_EQ(Shipped().Resolve("a100-80gb-sxm")->tf32_tflops, 156);
  EXPECT_EQ(Shipped().Resolve("v100")->tf32_tflops, 0);
}

// GeForce cards since Turing accumulate in fp32 at half the rate of the same chip's other cards.
TEST(GpuCatalogue, TheMatrixRateIsAMultipleOfThePlainRateByKindOfCard) {
  for (const GpuModel& gpu : Shipped().models()) {
    const bool geforce = gpu.link == GpuLink::kPcieNoP2p;
    const double ratio = gpu.dense_tflops / gpu.fp32_tflops;
    if (gpu.architecture == "Pascal") {
      EXPECT_DOUBLE_EQ(ratio, 1) << gpu.id;
    } else if (geforce && gpu.architecture != "Turing" && gpu.id != "rtx5090d") {
      EXPECT_NEAR(ratio, 2, 0.03) << gpu.id;
    } else if (gpu.id.starts_with("rtx-a") || gpu.id.ends_with("-ada")) {
      EXPECT_NEAR(ratio, 4, 0.03) << gpu.id;
    }
  }
}

TEST(GpuCatalogue, CardsOfTheTeamGuidesHaveTheirTraits) {
  const GpuModel& turing = *Shipped().Resolve("gpu2080");
  EXPECT_FALSE(turing.bf16);
  EXPECT_EQ(turing.memory_bytes, 11LL << 30);
  EXPECT_EQ(Shipped().Resolve("gpu4090")->link, GpuLink::kPcieNoP2p);
  const GpuModel& slice = *Shipped().Resolve("h100_1g.11gb");
  EXPECT_TRUE(slice.is_mig_slice);
  EXPECT_EQ(slice.link, GpuLink::kNone);
  EXPECT_DOUBLE_EQ(slice.memory_gb, 10.75);
}

TEST(GpuCatalogue, FiguresAreInTheRangesOfTheirKind) {
  for (const GpuModel& gpu : Shipped().models()) {
    EXPECT_LE(gpu.fp32_tflops, gpu.dense_tflops) << gpu.id;
    EXPECT_GT(gpu.matrix_share, 0.3) << gpu.id;
    EXPECT_LT(gpu.matrix_share, 1.6) << gpu.id;
    EXPECT_EQ(gpu.efficiency, 1) << gpu.id << ": a site's word alone";
    EXPECT_EQ(gpu.link == GpuLink::kNvlink && gpu.nvlink_gb_per_s == 0, false) << gpu.id;
  }
}

TEST(GpuCatalogue, AnEntryReadsBackAsItWasWritten) {
  json entries = json::array();
  for (const GpuModel& gpu : Shipped().models()) entries.push_back(EntryOf(gpu));
  const Result<GpuCatalogue> again = GpuCatalogue::FromJson({{"gpus", entries}});
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(again->models().size(), Shipped().models().size());
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(EntryOf(again->models()[i]), entries[i]);
  }
}

// ---- the file's form, on a tiny document -----------------------------------------------------

json TinyDocument() {
  return json::parse(R"({"gpus": [
    {"id": "l40s", "name": "L40S", "architecture": "Ada", "compute_capability": 8.9, "memory_gb": 48,
     "memory_bandwidth_gb_per_s": 864, "dense_tflops": 362, "efficiency": 0.2, "link": "pcie"}]})");
}

std::string ErrorOf(const json& document, const json& overrides = nullptr) {
  const auto catalogue = GpuCatalogue::FromJson(document, overrides);
  return catalogue ? "" : catalogue.error().pointer + ": " + catalogue.error().message;
}

TEST(GpuCatalogueFile, SiteChangesOnlyTheKeysItGives) {
  const auto catalogue = GpuCatalogue::FromJson(
      TinyDocument(), json::parse(R"({"gpus": [{"id": "l40s", "price_per_gpu_hour": 1.5}]})"));
  ASSERT_TRUE(catalogue.has_value());
  ASSERT_EQ(catalogue->models().size(), 1u);
  EXPECT_DOUBLE_EQ(catalogue->models()[0].price_per_gpu_hour, 1.5);
  EXPECT_DOUBLE_EQ(catalogue->models()[0].dense_tflops, 362);
}

TEST(GpuCatalogueFile, SiteAddsACardWithAliases) {
  json site = TinyDocument();
  site["gpus"][0]["id"] = "ourcard";
  site["gpus"][0]["name"] = "Our Card";
  site["gpus"][0]["aliases"] = {"x9000"};
  const auto catalogue = GpuCatalogue::FromJson(TinyDocument(), site);
  ASSERT_TRUE(catalogue.has_value());
  EXPECT_EQ(catalogue->Resolve("gpu_X9000")->id, "ourcard");
}

TEST(GpuCatalogueFile, ACardRunsAsItsArchitectureDoesWithinItsPowerLimit) {
  json document = TinyDocument();
  document["architectures"] = {{{"name", "Ada"}, {"matrix_share", 1.0}, {"tflops_per_watt", 0.7}}};
  document["gpus"][0]["architecture"] = "Ada";
  document["gpus"][0]["tdp_watts"] = 1e4;
  EXPECT_DOUBLE_EQ(GpuCatalogue::FromJson(document)->models()[0].matrix_share, 1.0);
  document["gpus"][0]["tdp_watts"] = 100;
  const double dense = document["gpus"][0]["dense_tflops"].get<double>();
  EXPECT_DOUBLE_EQ(GpuCatalogue::FromJson(document)->models()[0].matrix_share, 70 / dense);
  document["gpus"][0]["matrix_share"] = 0.5;  // measured
  EXPECT_DOUBLE_EQ(GpuCatalogue::FromJson(document)->models()[0].matrix_share, 0.5);
}

TEST(GpuCatalogueFile, ASiteCorrectsAnArchitectureAndEveryWrongShareIsNamed) {
  const json site = {{"architectures", {{{"name", "Ada"}, {"flash_share", 0.5}}}}};
  EXPECT_TRUE(GpuCatalogue::FromJson(TinyDocument(), site));
  const json wrong = {{"architectures", {{{"name", "Ada"}, {"flash_share", 50}}}}};
  const auto refused = GpuCatalogue::FromJson(TinyDocument(), wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().pointer, "/architectures/0/flash_share");
}

TEST(GpuCatalogueFile, MissingKeyIsNamedByPointer) {
  json document = TinyDocument();
  document["gpus"][0].erase("dense_tflops");
  EXPECT_EQ(ErrorOf(document),
            "/gpus/0/dense_tflops: dense_tflops is missing from this GPU's entry");
}

TEST(GpuCatalogueFile, WrongKeysAndValuesAreRefused) {
  for (const char* patch : {R"({"efficiency": 24})", R"({"link": "nvlnk"})", R"({"bf16": "yes"})",
                            R"({"memory_gb": 0})", R"({"densetflops": 3})"}) {
    json document = TinyDocument();
    document["gpus"][0].merge_patch(json::parse(patch));
    EXPECT_NE(ErrorOf(document), "") << patch;
  }
  EXPECT_NE(ErrorOf(json::parse(R"({"gpu": []})")), "");
  EXPECT_NE(ErrorOf(json::parse(R"({"gpus": [3]})")), "");
  EXPECT_NE(ErrorOf(TinyDocument(), json::parse(R"({"gpus": [{"id": "new"}]})")), "");
}

RC_GTEST_PROP(GpuCatalogueProperty, AnyNameIsAnswered, (const std::string& name)) {
  const GpuModel* model = Shipped().Resolve(name);
  if (model != nullptr) RC_ASSERT(Shipped().Accepts(name, *model));
}

RC_GTEST_PROP(GpuCatalogueProperty, ResolvedCardIsAlwaysAccepted, ()) {
  const auto& models = Shipped().models();
  const GpuModel& model = models[*rc::gen::inRange<size_t>(0, models.size())];
  const std::string prefix = *rc::gen::element<std::string>("", "gpu", "nvidia_", "NVIDIA ");
  const GpuModel* resolved = Shipped().Resolve(prefix + model.id);
  RC_ASSERT(resolved == &model);
}

}  // namespace
}  // namespace gpuadvise
