# What a builder may switch, and the compile settings that every target of ours shares.
option(ESPALIER_PLANNER "Build the planner and `espalier` (needs GLPK, Eigen, Boost)" ON)
option(ESPALIER_MPI "Build the executor and `espalier-mpi` (needs MPI)" ON)
option(ESPALIER_PYTHON "Build the Python module, where pybind11 is installed" ON)
option(ESPALIER_SMPI "The compilers are SimGrid's smpicc and smpicxx, so that SMPI simulates espalier-mpi" OFF)
option(ESPALIER_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(ESPALIER_UNIT_TESTS "Build the GoogleTest programs too; otherwise only tests of what is shipped" ON)
option(ESPALIER_SHARD_TESTS "Run many GoogleTest cases in one process; otherwise each is a CTest test" OFF)
option(ESPALIER_BENCH "Build the benchmarks (needs Google Benchmark)" OFF)
option(ESPALIER_FUZZ "Build the fuzz targets with libFuzzer (needs clang)" OFF)
option(ESPALIER_WERROR "Warnings are errors" OFF)
set(ESPALIER_SANITIZE "" CACHE STRING "Sanitizers for every target, e.g. address,undefined")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include(GNUInstallDirs)

# A compiler cache, where there is one: without a preprocessor run for each miss, and as precompiled headers need it.
find_program(ESPALIER_CCACHE ccache)
mark_as_advanced(ESPALIER_CCACHE)
if(ESPALIER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${ESPALIER_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
    ${ESPALIER_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

add_library(espalier_warnings INTERFACE)
target_compile_options(espalier_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow
  $<$<BOOL:${ESPALIER_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # Cries wolf at "text" + std::string under -O2 and up (gcc.gnu.org/PR105651).
  target_compile_options(espalier_warnings INTERFACE -Wno-restrict)
endif()
if(ESPALIER_SANITIZE)
  add_compile_options(-fsanitize=${ESPALIER_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  if(ESPALIER_SANITIZE MATCHES "undefined")
    # These look at every access through a pointer or reference, which is a third of the build's time (tests/ 40 %).
    # Null is a fault of the processor's as well, which asan reports with its stack; object-size is what asan does
    # better; nothing casts to a derived class; and bytes become numbers through memcpy and MPI alone.
    add_compile_options(-fno-sanitize=null,alignment,object-size,vptr)
  endif()
  add_link_options(-fsanitize=${ESPALIER_SANITIZE})
endif()
