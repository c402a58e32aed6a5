#include "common/time/training_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "common/memory/measured_memory.h"
#include "common/spec/stage_needs.h"
#include "tests/fakes/shipped_catalogues.h"

namespace gpuadvise {
namespace {

TrainingSpec Gr00t() {
  TrainingSpec training;
  training.max_steps = 10000;
  training.effective_batch_size = BatchRange{120, 144};
  return training;
}

const MeasuredStep kOn4090{"rtx4090", 4, 10, 3.9, 0};

ParallelLayout Shape(const char* gpu, int64_t gpus, int64_t micro, int64_t nodes = 1) {
  return {ShippedGpus().catalogue().Resolve(gpu), gpus, nodes, micro, 1, {}};
}

RunTimeBasis Basis(std::vector<MeasuredStep> measured, double params = 0, int64_t tokens = 0) {
  RunTimeBasis basis;
  basis.measured = std::move(measured);
  basis.params = params;
  basis.tokens_per_sample = tokens;
  return basis;
}

double HoursOn(const RunTimeBasis& basis, const ParallelLayout& shape, int64_t effective) {
  Result<Rate> rate = EstimateRate(Gr00t(), basis, shape, ShippedGpus().catalogue());
  EXPECT_TRUE(rate) << (rate ? "" : rate.error().message);
  return rate ? 10000.0 * static_cast<double>(effective) / rate->samples_per_second / 3600 : 0;
}

TEST(RunTime, AnAnchorGivesItsOwnTimeBack) {
  EXPECT_NEAR(HoursOn(Basis({kOn4090}), Shape("rtx4090", 4, 10), 120), 3.9 * 10000 / 3600, 1e-6);
}

TEST(RunTime, TheGuidesHoursOnL40SFollowFromTheTimingOn4090) {
  double hours = HoursOn(Basis({kOn4090}), Shape("l40s", 6, 24), 144) + kStartUpSeconds / 3600;
  EXPECT_GE(hours, 6.5);  // Isaac-GR00T's team guide: 7-9 h
  EXPECT_LE(hours, 9);
}

TEST(RunTime, ATimingOnTheSameCardWinsOverOneOnAnother) {
  const RunTimeBasis both = Basis({{"l40s", 6, 12, 2.6, 0, 144}, kOn4090});
  EXPECT_NEAR(HoursOn(both, Shape("rtx4090", 4, 10), 120), 3.9 * 10000 / 3600, 1e-6);
}

TEST(RunTime, DoubtGrowsWithTheDistanceFromATiming) {
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  const RunTimeBasis timed = Basis({kOn4090});
  double same = EstimateRate(Gr00t(), timed, Shape("rtx4090", 4, 10), catalogue)->sigma;
  double other = EstimateRate(Gr00t(), timed, Shape("l40s", 6, 10), catalogue)->sigma;
  double none = EstimateRate(Gr00t(), Basis({}, 2e9, 512), Shape("l40s", 6, 10), catalogue)->sigma;
  EXPECT_LT(same, other);
  EXPECT_LT(other, none);
}

TEST(RunTime, WithoutAnyBasisItSaysWhatToAdd) {
  Result<Rate> rate = EstimateRate(Gr00t(), {}, Shape("l40s", 1, 1), ShippedGpus().catalogue());
  ASSERT_FALSE(rate);
  EXPECT_NE(rate.error().message.find("seconds_per_step"), std::string::npos);
}

TEST(RunTime, AnUnknownCardInATimingIsNamed) {
  Result<Rate> rate = EstimateRate(Gr00t(), Basis({{"rtx9999x", 1, 1, 1, 0}}), Shape("l40s", 1, 1),
                                   ShippedGpus().catalogue());
  ASSERT_FALSE(rate);
  EXPECT_EQ(rate.error().pointer, "/measured/0/gpu");
}

// --- with a shape ---

RunTimeBasis Llama(std::vector<MeasuredStep> measured = {}) {
  static const ModelShape* shape = [] { return &*ShippedModels().Find("llama-3.2-3b")->shape; }();
  RunTimeBasis basis = Basis(std::move(measured));
  basis.shape = shape;
  basis.setup.seq_length = 1024;
  return basis;
}

double SecondsPerSample(const RunTimeBasis& basis, const ParallelLayout& shape) {
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  training.gradient_checkpointing = Checkpointing::kNone;
  Result<Rate> rate = EstimateRate(training, basis, shape, ShippedGpus().catalogue());
  EXPECT_TRUE(rate) << (rate ? "" : rate.error().message);
  return rate ? 1 / rate->samples_per_second : 0;
}

TEST(RunTimeByShape, OneTimingOfABusyGpuCorrectsEveryOtherByNearlyItsFactor) {
  const double here = SecondsPerSample(Llama(), Shape("l40s", 1, 4));
  const double there = SecondsPerSample(Llama(), Shape("rtx4090", 1, 4));
  const MeasuredStep slower{"rtx4090", 1, 4, 2 * 4 * there, 0, 4};
  EXPECT_NEAR(SecondsPerSample(Llama({slower}), Shape("l40s", 1, 4)), 2 * here, 0.02 * here);
  EXPECT_NEAR(SecondsPerSample(Llama({slower}), Shape("rtx4090", 1, 4)), 2 * there, 1e-9);
}

TEST(RunTimeByShape, WhatSeveralGpusTookLongerIsTheirTransfersFirst) {
  ParallelLayout one = Shape("l40s", 1, 4);
  ParallelLayout four = Shape("l40s", 4, 4);
  one.node_gpus = four.node_gpus = 4;
  const double counted = SecondsPerSample(Llama(), one);
  const double together = SecondsPerSample(Llama(), four);
  const auto timed = Llama({{"l40s", 4, 4, 1.5 * 16 * together, 0, 16}});
  EXPECT_NEAR(SecondsPerSample(timed, four), 1.5 * together, 1e-9);
  const double alone = SecondsPerSample(timed, one);
  EXPECT_GT(alone, counted);
  EXPECT_LT(alone, 1.2 * counted);
  one.interconnect.network_gb_per_s = 50;  // between nodes: nothing to one node
  EXPECT_NEAR(SecondsPerSample(timed, one), alone, 1e-9);
}

TEST(RunTimeByShape, WhatIsAssumedOrWaitsForItsHostIsDoubtedMore) {
  const auto doubt = [](bool assumed, int64_t batch) {
    TrainingSpec training;
    training.samples = 1000;
    RunTimeBasis basis = Llama();
    basis.parts_assumed = assumed;
    return EstimateRate(training, basis, Shape("h100-80gb", 1, batch), ShippedGpus().catalogue())
        ->sigma;
  };
  EXPECT_NEAR(doubt(false, 16), 0.16, 0.01);
  EXPECT_NEAR(doubt(true, 16), 0.21, 0.01);
  RunTimeBasis small = Llama();
  small.setup.seq_length = 64;
  small.setup.optim = "adamw_torch_fused";
  EXPECT_GT(EstimateRate(TrainingSpec{}, small, Shape("h100-80gb", 1, 1), ShippedGpus().catalogue())
                ->sigma,
            0.19);
}

TEST(RunTimeByShape, WhereCheckpointingWasLeftToUsATimingRanAsTheCardIsAdvised) {
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  training.method = Method::kLora;
  const ModelShape& shape = *ShippedModels().Find("llama-3.2-3b")->shape;
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  const auto at = [&](const char* gpu, int64_t batch) {
    return MeasuredSetups(shape, training, true, catalogue)
        .Of({gpu, 1, batch, 1, 0, 0}, *catalogue.Resolve(gpu))
        .checkpointing;
  };
  EXPECT_EQ(at("a100-80gb", 4), Checkpointing::kNone);
  EXPECT_EQ(at("rtx3090", 1), Checkpointing::kFull);  // it fits without; a batch of 8 does not
  EXPECT_EQ(at("rtx3090", 8), Checkpointing::kFull);
}

TEST(RunTimeByShape, ABatchThatRanOnlyWithCheckpointingSaysThatTheCardRunsWithIt) {
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  const ModelShape& shape = *ShippedModels().Find("bert-large")->shape;
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  const GpuModel& card = *catalogue.Resolve("rtx3090");
  const auto advised = [&] {
    return SetupGivenMeasured(card, shape, training, Precision::kBf16, 1, catalogue).checkpointing;
  };
  EXPECT_EQ(advised(), Checkpointing::kNone);
  training.measured = {{"rtx3090", 1, 64, 5, 0, 0}};
  EXPECT_EQ(advised(), Checkpointing::kFull);
  training.measured = {{"a100-80gb", 1, 64, 5, 0, 0}};
  EXPECT_EQ(advised(), Checkpointing::kNone);
}

// --- several timings ---

TEST(RunTimeByShape, OfTwoTimingsOnTheCardTheOneWithTheSameBatchIsGivenBack) {
  const auto basis = Llama({{"l40s", 1, 2, 2, 0, 2}, {"l40s", 1, 8, 4, 0, 8}});
  EXPECT_NEAR(SecondsPerSample(basis, Shape("l40s", 1, 2)), 1, 1e-9);
  EXPECT_NEAR(SecondsPerSample(basis, Shape("l40s", 1, 8)), 0.5, 1e-9);
}

TEST(RunTimeByShape, BetweenTwoTimingsOnTheCardNothingJumps) {
  const auto basis = Llama({{"l40s", 1, 64, 64, 0, 64}, {"l40s", 1, 256, 128, 0, 256}});
  double before = SecondsPerSample(basis, Shape("l40s", 1, 64));
  for (int64_t batch = 65; batch <= 256; ++batch) {
    const double now = SecondsPerSample(basis, Shape("l40s", 1, batch));
    EXPECT_LE(now, before * 1.001) << batch;
    EXPECT_GE(now, before * 0.97) << batch;
    before = now;
  }
}

TEST(RunTimeByShape, ATimingOnACardUnlikeThisOneBarelyMovesIt) {
  const auto timed = [](double on_4090, double on_2080ti) {
    std::vector<MeasuredStep> measured;
    const double good = SecondsPerSample(Llama(), Shape("rtx4090", 1, 4));
    const double old = SecondsPerSample(Llama(), Shape("rtx2080ti", 1, 4));
    measured.push_back({"rtx4090", 1, 4, 4 * good * on_4090, 0, 4});
    if (on_2080ti > 0) measured.push_back({"rtx2080ti", 1, 4, 4 * old * on_2080ti, 0, 4});
    return Llama(measured);
  };
  const double alone = SecondsPerSample(timed(1, 0), Shape("l40s", 1, 4));
  const double with_old = SecondsPerSample(timed(1, 1.6), Shape("l40s", 1, 4));
  EXPECT_NEAR(with_old / alone, 1, 0.1);  // a plain mean of both would be 26 % longer
}

TEST(RunTimeByShape, OfTwoTimingsTheOneOnTheMoreAlikeCardDecides) {
  const auto per_sample = [](const char* gpu, const std::vector<MeasuredStep>& measured) {
    return SecondsPerSample(Llama(measured), Shape(gpu, 1, 4));
  };
  const auto timed = [&](const char* gpu, double factor) {
    return MeasuredStep{gpu, 1, 4, 4 * per_sample(gpu, {}) * factor, 0, 4};
  };
  const std::vector<MeasuredStep> both = {timed("a100-80gb", 1), timed("rtx2080ti", 2)};
  const auto factor = [&](const char* gpu) { return per_sample(gpu, both) / per_sample(gpu, {}); };
  EXPECT_LT(factor("a100-40gb"), 1.1);
  EXPECT_LT(factor("rtx-a6000"), 1.2);
  EXPECT_GT(factor("rtx2080"), 1.8);
}

TEST(RunTimeByShape, TimingsThatDisagreeAreSaidSoAndDoubted) {
  const double on_4090 = SecondsPerSample(Llama(), Shape("rtx4090", 1, 4));
  const double on_a100 = SecondsPerSample(Llama(), Shape("a100-80gb", 1, 4));
  const auto rate = [&](double factor) {
    const auto basis = Llama(
        {{"rtx4090", 1, 4, 4 * on_4090, 0, 4}, {"a100-80gb", 1, 4, 4 * on_a100 * factor, 0, 4}});
    TrainingSpec training;
    training.samples = 1000;
    training.gradient_checkpointing = Checkpointing::kNone;
    training.max_seq_length = 1024;
    return *EstimateRate(training, basis, Shape("h100-80gb", 1, 4), ShippedGpus().catalogue());
  };
  EXPECT_EQ(rate(1.34).disagreement,
            "your timings disagree by 34 %: A100 80GB SXM × 1 took longer than RTX 4090 × 1 would "
            "suggest");
  EXPECT_EQ(rate(1.1).disagreement, "");
  EXPECT_GT(rate(1.34).sigma, rate(1).sigma);
}

const GpuModel* DrawnCard() {
  const std::vector<GpuModel>& cards = ShippedGpus().catalogue().models();
  return &cards[*rc::gen::inRange<size_t>(0, cards.size())];
}

// Consistent with `factor` on every card.
MeasuredStep TimedBy(double factor, const RunTimeBasis& basis, const GpuModel& gpu, int64_t gpus,
                     int64_t batch, const TrainingSpec& training) {
  RunTimeBasis untimed = basis;
  untimed.measured.clear();
  const ParallelLayout layout{&gpu, gpus, 1, batch, 1, {}};
  const auto rate = EstimateRate(training, untimed, layout, ShippedGpus().catalogue());
  const double seconds = factor * static_cast<double>(gpus * batch) / rate->samples_per_second;
  return {gpu.id, gpus, batch, seconds, 0, gpus * batch};
}

RC_GTEST_PROP(Timings, ThatTookAsLongAsCountedChangeNothingHoweverManyTheyAre, ()) {
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  training.gradient_checkpointing = Checkpointing::kNone;
  const GpuModel* target = DrawnCard();
  RunTimeBasis basis = Llama();
  const ParallelLayout asked{target, 1, 1, *rc::gen::inRange<int64_t>(1, 64), 1, {}};
  const GpuCatalogue& catalogue = ShippedGpus().catalogue();
  const double counted = EstimateRate(training, basis, asked, catalogue)->samples_per_second;
  const auto timings = *rc::gen::inRange(1, 6);
  RunTimeBasis slower = basis;
  for (int i = 0; i < timings; ++i) {
    const GpuModel* on = DrawnCard();
    const int64_t gpus = on->is_mig_slice ? 1 : *rc::gen::inRange<int64_t>(1, 9);
    // basis.setup is as on the asked card; that of the timing has its own precision
    RC_PRE(*PrecisionOn(*on, training, true) == *PrecisionOn(*target, training, true));
    const int64_t batch = *rc::gen::inRange<int64_t>(1, 64);
    basis.measured.push_back(TimedBy(1, basis, *on, gpus, batch, training));
    slower.measured.push_back(TimedBy(1.5, basis, *on, gpus, batch, training));
    const auto rate = EstimateRate(training, basis, asked, catalogue);
    RC_ASSERT(rate.has_value());
    RC_ASSERT(std::abs(rate->samples_per_second / counted - 1) < 1e-6);
    RC_ASSERT(EstimateRate(training, slower, asked, catalogue)->samples_per_second <= counted);
  }
}

// H100 over A6000 for a training that took `seconds` for 16 samples on the A6000.
double H100OverA6000(const TrainingSpec& training, double seconds) {
  RunTimeBasis basis = Basis({{"rtx-a6000", 1, 16, seconds, 0, 16}});
  basis.setup.zero_stage = static_cast<int>(training.zero_stage.value_or(0));
  basis.setup.deepspeed = training.zero_stage.has_value();
  const auto rate = [&](const char* gpu) {
    return EstimateRate(training, basis, Shape(gpu, 1, 16), ShippedGpus().catalogue())
        ->samples_per_second;
  };
  return rate("h100-80gb-sxm") / rate("rtx-a6000");
}

TEST(Timings, WithoutAShapeWhatShardsOrAdaptsIsATransformer) {
  const TrainingSpec unknown = Gr00t();
  TrainingSpec shards = unknown;
  shards.zero_stage = 2;
  TrainingSpec adapts = unknown;
  adapts.method = Method::kLora;
  const double ratio = H100OverA6000(shards, 138.6);
  EXPECT_GE(ratio, 598 / (1.4 * 100));  // the H100 guide's 100 h, within 1.4
  EXPECT_LE(ratio, 989 / 154.8);        // of the dense tensor rates
  EXPECT_NEAR(H100OverA6000(adapts, 138.6), ratio, 0.25 * ratio);
  EXPECT_NEAR(std::log(H100OverA6000(unknown, 138.6)), 0.76 * std::log(ratio), 0.05);
}

TEST(Timings, WithoutAShapeShortStepsGainLessFromAFasterCard) {
  const TrainingSpec training = Gr00t();
  EXPECT_LT(H100OverA6000(training, 0.05), 0.7 * H100OverA6000(training, 50));
  EXPECT_GE(H100OverA6000(training, 0.05), 1);
}

TEST(Timings, OverSeveralNodesAreCarriedAsSuch) {
  // The network, not the cards, took most of it.
  RunTimeBasis basis = Llama();
  const auto on_one = [&](int64_t nodes) {
    MeasuredStep timing{"a100-80gb", 16, 4, 20, 0, 64};
    timing.nodes = nodes;
    basis.measured = {timing};
    TrainingSpec training;
    training.samples = 1000;
    training.gradient_checkpointing = Checkpointing::kNone;
    training.max_seq_length = 1024;
    return EstimateRate(training, basis, Shape("h100-80gb", 1, 4), ShippedGpus().catalogue())
        ->samples_per_second;
  };
  EXPECT_GT(on_one(16), 1.2 * on_one(1));
  EXPECT_DOUBLE_EQ(on_one(2), on_one(0)) << "unsaid: as few nodes of eight as hold them";
}

TEST(RunTime, GpusThatShareALayerWorkOnOneSampleTogether) {
  RunTimeBasis basis = Llama();
  basis.tokens_per_sample = 1024;
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  training.gradient_checkpointing = Checkpointing::kNone;
  const auto rate = [&](int64_t gpus) {
    basis.setup = SetupFrom(training, Precision::kBf16, gpus);
    return EstimateRate(training, basis, Shape("h100-80gb-sxm", gpus, 4), ShippedGpus().catalogue())
        ->samples_per_second;
  };
  const double alone = rate(1);
  training.tensor_parallel_size = 4;
  EXPECT_LT(rate(4), 4 * alone) << "not four samples at a time";
  EXPECT_GT(rate(4), 2 * alone);
}

TEST(Timings, FarFromTheirOwnCountAreDoubtedAloud) {
  const auto rate = [&](double factor) {
    RunTimeBasis basis = Llama();
    TrainingSpec training;
    training.samples = 1000;
    training.gradient_checkpointing = Checkpointing::kNone;
    training.max_seq_length = 1024;
    const ParallelLayout there = Shape("rtx4090", 1, 4);
    const auto counted = EstimateRate(training, basis, there, ShippedGpus().catalogue());
    basis.measured = {{"rtx4090", 1, 4, factor * 4 / counted->samples_per_second, 0, 4}};
    return *EstimateRate(training, basis, Shape("l40s", 1, 4), ShippedGpus().catalogue());
  };
  EXPECT_EQ(rate(1.3).disagreement, "");
  EXPECT_NE(rate(2.5).disagreement.find("RTX 4090 × 1 took 2.5 times as long as computed"),
            std::string::npos)
      << rate(2.5).disagreement;
  EXPECT_NE(rate(0.4).disagreement.find("set mean_seq_length"), std::string::npos);
  EXPECT_GT(rate(2.5).sigma, rate(1).sigma);
}

RC_GTEST_PROP(Timings, OnTheCardItselfWinOverAllOthers, ()) {
  TrainingSpec training;
  training.samples = 1000;
  training.max_seq_length = 1024;
  training.gradient_checkpointing = Checkpointing::kNone;
  RunTimeBasis basis = Llama({{"l40s", 2, 4, 3, 0, 8}});
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    const GpuModel* on = DrawnCard();
    RC_PRE(on->id != "l40s");
    basis.measured.push_back(
        {on->id, 1, *rc::gen::inRange<int64_t>(1, 64), *rc::gen::inRange(1, 1000) / 10.0, 0, 64});
  }
  const auto rate = EstimateRate(training, basis, Shape("l40s", 2, 4), ShippedGpus().catalogue());
  RC_ASSERT(std::abs(rate->samples_per_second * 3 / 8 - 1) < 1e-6);
  RC_ASSERT(rate->basis == "timed on L40S × 2");
}

TEST(RunTimeByShape, TheNetworkBetweenNodesAddsDoubtIfSlowAndMoreIfNotDescribed) {
  const auto doubt = [](const char* gpu, int64_t nodes, double network, int64_t batch) {
    TrainingSpec training;
    training.samples = 1000;
    ParallelLayout layout = Shape(gpu, 4, batch, nodes);
    layout.interconnect.network_gb_per_s = network;
    return EstimateRate(training, Llama(), layout, ShippedGpus().catalogue())->sigma;
  };
  for (const char* gpu : {"l40s", "rtx4090", "a100-80gb"}) {
    EXPECT_EQ(doubt(gpu, 1, 25, 1), doubt(gpu, 1, 0, 1)) << gpu;
    for (const int64_t nodes : {2, 8}) {
      const double described = doubt(gpu, nodes, kAssumedNetworkGbPerS, 1);
      EXPECT_NEAR(doubt(gpu, nodes, 0, 1) - described, 0.5, 1e-9) << gpu;
      EXPECT_LT(doubt(gpu, nodes, 4 * kAssumedNetworkGbPerS, 1), described) << gpu;
    }
  }
}

TEST(RunTimeByShape, AFasterNetworkIsNeverSlower) {
  TrainingSpec training;
  training.samples = 1000;
  double before = 0;
  for (const double network : {1.0, 3.0, 12.0, 50.0, 400.0}) {
    ParallelLayout two = Shape("l40s", 4, 1, 2);
    two.interconnect.network_gb_per_s = network;
    const double rate =
        EstimateRate(training, Llama(), two, ShippedGpus().catalogue())->samples_per_second;
    EXPECT_GE(rate, before) << network;
    before = rate;
  }
  EXPECT_LE(before, 2 / SecondsPerSample(Llama(), Shape("l40s", 4, 1)) * (1 + 1e-9));
}

TEST(RunTimeByShape, ASlowLoaderIsTheLimit) {
  TrainingSpec training;
  training.samples = 1000;
  training.dataloader_seconds_per_sample = 20;
  training.dataloader_num_workers = 4;
  Result<Rate> rate =
      EstimateRate(training, Llama(), Shape("l40s", 1, 1), ShippedGpus().catalogue());
  EXPECT_NEAR(rate->samples_per_second, 4.0 / 20, 1e-9);
  EXPECT_GT(rate->step.loader, 0);
}

TEST(ScalingEfficiency, NeverRisesWithMoreGpusAndNeverExceedsOne) {
  for (GpuLink link :
       {GpuLink::kPcieNoP2p, GpuLink::kPcie, GpuLink::kNvlinkPairs, GpuLink::kNvlink}) {
    double before = 1;
    for (int64_t gpus = 1; gpus <= 16; ++gpus) {
      double efficiency = ScalingEfficiency(link, gpus, 1);
      EXPECT_LE(efficiency, before + 1e-12);
      EXPECT_GT(efficiency, 0);
      before = efficiency;
    }
    EXPECT_LT(ScalingEfficiency(link, 4, 2), ScalingEfficiency(link, 4, 1));
  }
}

TEST(CountWork, LessThanASampleIsOneAndMoreThanCanBeCountedIsTheMost) {
  TrainingSpec training;
  training.num_train_epochs = 0.5;
  training.num_samples = 1;
  EXPECT_EQ(CountWork(training, 8).samples, 1);
  EXPECT_EQ(CountWork(training, 8).steps, 1);
  TrainingSpec endless;
  endless.max_steps = int64_t{1} << 60;
  EXPECT_GT(CountWork(endless, 1 << 20).samples, 0);
}

TEST(CountWork, StepsAreKeptAndEpochsAreTheSameWorkAtAnyBatch) {
  EXPECT_EQ(CountWork(Gr00t(), 120).samples, 1'200'000);
  EXPECT_EQ(CountWork(Gr00t(), 144).steps, 10000);
  TrainingSpec epochs;
  epochs.num_train_epochs = 3;
  epochs.num_samples = 1001;
  EXPECT_EQ(CountWork(epochs, 10).samples, 3003);
  EXPECT_EQ(CountWork(epochs, 10).steps, 301);
}

}  // namespace
}  // namespace gpuadvise
