#include "daemon/collect/licenses.h"

#include <gtest/gtest.h>

namespace gpuadvise::collect {
namespace {

JobRequest With(std::string_view text) {
  JobRequest request;
  FillLicenses(text, request);
  return request;
}

TEST(FillLicenses, CountsWhatIsListedAndOneWithoutACount) {
  const JobRequest request = With("matlab:2,ansys@flexlm");
  EXPECT_EQ(request.licenses, (TresCounts{{"matlab", 2}, {"ansys@flexlm", 1}}));
  EXPECT_FALSE(request.any_license);
}

TEST(FillLicenses, OneOfSeveralIsEnoughWhereABarIsBetween) {
  const JobRequest request = With("matlab:2|octave");
  EXPECT_EQ(request.licenses, (TresCounts{{"matlab", 2}, {"octave", 1}}));
  EXPECT_TRUE(request.any_license);
}

TEST(FillLicenses, NothingAndPartsThatAreNoneAreLeftOut) {
  EXPECT_TRUE(With("(null)").licenses.empty());
  EXPECT_TRUE(With("").licenses.empty());
  EXPECT_EQ(With(":3,,matlab:x,a:1").licenses, (TresCounts{{"a", 1}}));
}

}  // namespace
}  // namespace gpuadvise::collect
