// Licences as Slurm writes them: of a job ("matlab:2,ansys@server", "matlab|octave") and of the
// cluster. Pure functions, any thread.
#pragma once

#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// Fills `licenses` and `any_license` from a job's list; a name without a count is one of it. Parts
// that are none are left out. Nothing for "" and "(null)".
void FillLicenses(std::string_view text, JobRequest& request);

// The same list without alternatives, as of a reservation.
TresCounts LicensesOf(std::string_view text);

}  // namespace gpuadvise::collect
