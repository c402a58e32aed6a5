# gpuadvise_find_libslurm(WANTED SOURCES): sets GPUADVISE_LIBSLURM_FITS, SLURM_INCLUDE_DIR and SLURM_LIBRARY.
#
# SOURCES, those that know libslurm, are compiled against the slurm.h that is found, and what no public header declares is
# looked for in the library: a Slurm that does not fit costs slurm-api alone, with a sentence. The outcome is kept for as
# long as headers and sources are the same.
function(gpuadvise_find_libslurm wanted sources)
  set(GPUADVISE_LIBSLURM_FITS OFF PARENT_SCOPE)
  if(NOT ${wanted})
    message(STATUS "gpuadvise-collect-api is not built (${wanted}=${${wanted}}): slurm-cli is used instead")
    return()
  endif()
  find_path(SLURM_INCLUDE_DIR slurm/slurm.h)
  find_library(SLURM_LIBRARY slurm)
  set(why "slurm/slurm.h or libslurm is not found; install libslurm's headers, or set SLURM_INCLUDE_DIR and SLURM_LIBRARY")
  if(SLURM_INCLUDE_DIR AND SLURM_LIBRARY)
    _gpuadvise_try_libslurm("${sources}" fits)
    if(fits)
      set(GPUADVISE_LIBSLURM_FITS ON PARENT_SCOPE)
      return()
    endif()
    set(why "slurm-api does not compile with ${SLURM_INCLUDE_DIR}/slurm/slurm.h and ${SLURM_LIBRARY}; Slurm 20.11 to 26.05 fit")
  endif()
  if(${wanted} STREQUAL AUTO)
    message(STATUS "gpuadvise-collect-api is not built: ${why}. Everything else is; slurm-cli is used instead")
  else()
    message(FATAL_ERROR "${wanted}=${${wanted}}, but ${why}")
  endif()
endfunction()

# What libslurm itself needs is the loader's matter: a library of another distribution may be linked with.
set(GPUADVISE_LIBSLURM_LINK -Wl,--allow-shlib-undefined)

function(_gpuadvise_try_libslurm sources fits)
  set(files "")
  set(state ${SLURM_LIBRARY})
  file(GLOB headers ${SLURM_INCLUDE_DIR}/slurm/slurm*.h)
  foreach(source IN LISTS sources ITEMS slurm_compat.h)
    list(APPEND headers ${CMAKE_CURRENT_SOURCE_DIR}/${source})
    list(APPEND files ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  list(FILTER files EXCLUDE REGEX "\\.h$")
  foreach(header IN LISTS headers)
    file(SHA256 ${header} hash)
    string(APPEND state ${hash})
  endforeach()
  string(SHA256 state "${state}")
  if(NOT GPUADVISE_LIBSLURM_TRIED STREQUAL state)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    try_compile(compiles SOURCES ${files} CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON NO_CACHE
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}\;${SLURM_INCLUDE_DIR}")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
    try_compile(links SOURCE_FROM_CONTENT undeclared.cc "
#include \"daemon/collect/slurm_compat.h\"
int main() {
  using namespace gpuadvise::collect::slurm_compat;
  FreeConf(nullptr);
  return ReasonString(0) == nullptr || slurm_bit_size(nullptr) != slurm_bit_test(nullptr, 0);
}
"               CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON NO_CACHE LINK_LIBRARIES ${SLURM_LIBRARY}
                LINK_OPTIONS ${GPUADVISE_LIBSLURM_LINK}
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}\;${SLURM_INCLUDE_DIR}")
    set(outcome OFF)
    if(compiles AND links)
      set(outcome ON)
    endif()
    set(GPUADVISE_LIBSLURM_OUTCOME ${outcome} CACHE INTERNAL "Whether slurm-api fits this libslurm")
    set(GPUADVISE_LIBSLURM_TRIED ${state} CACHE INTERNAL "The headers and sources that were tried")
  endif()
  set(${fits} ${GPUADVISE_LIBSLURM_OUTCOME} PARENT_SCOPE)
endfunction()
