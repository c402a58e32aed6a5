// Licence lists in Slurm's format: of a job ("matlab:2,ansys@server", "matlab|octave") and of the
// cluster. Pure functions, any thread.
#pragma once

#include <string_view>

#include "common/slurm/snapshot.h"

namespace gpuadvise::collect {

// Fills `licenses` and `any_license` from a job's list. A name without a count means 1; malformed
// parts are left out; "" and "(null)" mean none.
void FillLicenses(std::string_view text, JobRequest& request);

// A list without alternatives, as for a reservation.
TresCounts LicensesOf(std::string_view text);

}  // namespace gpuadvise::collect
