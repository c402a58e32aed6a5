# What makes a fault in memory harder to use, in every build: stack protector, checked C functions
# (where the compiler optimises, without which they do nothing), control-flow marks, read-only
# relocations, programs at addresses that nobody knows. tests/packaging/hardened_test.py looks at
# the programs. Sanitizers replace the checked C functions by their own.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fcf-protection GPUADVISE_HAS_CF_PROTECTION)

target_compile_options(gpuadvise_flags INTERFACE -fstack-protector-strong -fPIE
                                                 $<$<BOOL:${GPUADVISE_HAS_CF_PROTECTION}>:-fcf-protection>)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT GPUADVISE_FUZZ)
  # Some distributions' compilers define it by themselves, to another value.
  target_compile_options(gpuadvise_flags INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>)
endif()
set(pie -pie)
if(GPUADVISE_STATIC)
  set(pie -static-pie)
endif()
target_link_options(gpuadvise_flags INTERFACE
  $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${pie}> -Wl,-z,relro,-z,now,-z,noexecstack)
