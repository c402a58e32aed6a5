#include "common/process/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>

#include "tests/fakes/temporary_folder.h"

namespace gpuadvise {
namespace {

Result<OpenedFile> Open(const std::string& path) {
  return OpenRegularFile(path, {1024, "note", ::geteuid()});
}

TEST(RegularFile, IsOpenedAndReadWhole) {
  const TemporaryFolder folder;
  const auto file = Open(folder.Write("note", "hello"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->about.st_size, 5);
  EXPECT_EQ(ReadAll(file->descriptor, 1024), "hello");
}

TEST(RegularFile, WhatIsNoneIsRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  EXPECT_EQ(Open(folder.Path("none")).error().code, ErrorCode::kNotFound);
  ASSERT_EQ(::mkfifo(folder.Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(Open(folder.Path("pipe")).error().message, "it is not a regular file");
  std::filesystem::create_symlink(folder.Write("real", ""), folder.Path("link"));
  EXPECT_EQ(Open(folder.Path("link")).error().message, "it is a link, which is not followed");
  EXPECT_EQ(Open(folder.Write("long", std::string(1025, 'x'))).error().message,
            "it is longer than 1 KiB, which no note is");
}

TEST(RegularFile, AnothersIsRefusedWhereTheOwnerCounts) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("note", "");
  const auto theirs = OpenRegularFile(path, {1024, "note", ::geteuid() + 1});
  EXPECT_EQ(theirs.error().message, "it belongs to somebody else");
  EXPECT_TRUE(OpenRegularFile(path, {1024, "note", {}}));
}

TEST(Files, OfAnEndlessOneLittleMoreThanTheBoundIsRead) {
  const Descriptor endless(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const auto text = ReadAll(endless, 100'000);
  ASSERT_TRUE(text);
  EXPECT_GT(text->size(), 100'000u);
  EXPECT_LT(text->size(), 200'000u);
}

TEST(Files, OnlyWhoWaitsReadsOnWhereNothingIsThereYet) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor input(ends[0]);
  Descriptor output(ends[1]);
  EXPECT_EQ(ReadAll(input, 100), tl::unexpected<int>(EAGAIN));
  EXPECT_EQ(ReadAllWithin(input, 100, std::chrono::milliseconds(1)),
            tl::unexpected<int>(ETIMEDOUT));
  auto reading =
      std::async(std::launch::async, [&] { return ReadAllWithin(input, 100, std::nullopt); });
  ASSERT_TRUE(WriteAll(output, "late"));
  ASSERT_TRUE(output.Close());
  EXPECT_EQ(reading.get(), "late");
}

TEST(Files, AFullDiskIsAnErrorOfWriting) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(WriteAll(full, "text"));
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace
}  // namespace gpuadvise
