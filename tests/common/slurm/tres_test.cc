#include "common/slurm/tres.h"

#include <gtest/gtest.h>

namespace gpuadvise {
namespace {

const TresCounts kJob = {
    {"cpu", 8}, {"mem", 64 * 1024}, {"gres/gpu", 4}, {"gres/gpu:l40s", 4}, {"node", 1}};

TEST(Billing, AddsUpWeightsAsSlurmConfWritesThem) {
  EXPECT_DOUBLE_EQ(*ComputeBilling("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", kJob, false), 8 + 16 + 8);
  EXPECT_DOUBLE_EQ(*ComputeBilling("cpu=0.5,gres/gpu:l40s=3", kJob, false), 4 + 12);
}

TEST(Billing, MemoryWithoutASuffixIsCountedInMebibytes) {
  EXPECT_DOUBLE_EQ(*ComputeBilling("Mem=0.001", kJob, false), 65.536);
  EXPECT_DOUBLE_EQ(*ComputeBilling("Mem=16T", kJob, false), 1);
}

TEST(Billing, MaxTresTakesTheLargestPart) {
  EXPECT_DOUBLE_EQ(*ComputeBilling("CPU=1.0,Mem=0.25G,GRES/gpu=2.0", kJob, true), 16);
}

TEST(Billing, WhatTheJobDoesNotHoldCostsNothing) {
  EXPECT_DOUBLE_EQ(*ComputeBilling("gres/gpu:a100=9", kJob, false), 0);
}

TEST(Billing, IsUnknownWithoutWeightsOrWithOnesThatCannotBeRead) {
  EXPECT_FALSE(ComputeBilling("", kJob, false));
  for (const char* bad : {"CPU", "=1", "CPU=x", "Mem=1Q", "CPU=nan", "CPU=1,,Mem=2", "Mem=1GB"}) {
    EXPECT_FALSE(ComputeBilling(bad, kJob, false)) << bad;
  }
}

}  // namespace
}  // namespace gpuadvise
