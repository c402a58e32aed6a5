// The result of a back-test as a table and as JSON. docs/forecast.md explains the columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "backtest/back_test.h"
#include "backtest/job_log.h"

namespace gpuadvise::backtest {

std::string ReportTable(const JobLog& log, const BackTestResult& result);

nlohmann::json ReportJson(const JobLog& log, const BackTestResult& result);

}  // namespace gpuadvise::backtest
