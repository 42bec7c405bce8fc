# espalier_add_fuzz(NAME SOURCE file.cpp CORPUS folder LIBS targets...)
# SOURCE defines LLVMFuzzerTestOneInput. Always: a CTest test that replays CORPUS through it, so that
# what the fuzzer once found stays found under every compiler. With ESPALIER_FUZZ (needs clang): the
# fuzzer itself, fuzz_NAME; run it as `fuzz_NAME NEW_FOLDER CORPUS` and keep what it finds in CORPUS.
function(espalier_add_fuzz name)
  cmake_parse_arguments(FUZZ "" "SOURCE;CORPUS" "LIBS" ${ARGN})
  espalier_add_test(fuzz_${name}
    SOURCES ${FUZZ_SOURCE} ${PROJECT_SOURCE_DIR}/tests/support/replay_corpus.cpp LIBS ${FUZZ_LIBS})
  set_target_properties(test_fuzz_${name} PROPERTIES UNITY_BUILD ON)  # its two files are small, and read the same headers
  target_compile_definitions(test_fuzz_${name} PRIVATE ESPALIER_CORPUS="${FUZZ_CORPUS}")
  if(NOT ESPALIER_FUZZ)
    return()
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "ESPALIER_FUZZ needs clang: set CMAKE_CXX_COMPILER=clang++")
  endif()
  # The libraries as well, or the fuzzer is blind where it matters.
  foreach(library IN LISTS FUZZ_LIBS)
    get_target_property(aliased ${library} ALIASED_TARGET)
    target_compile_options(${aliased} PRIVATE -fsanitize=fuzzer-no-link)
  endforeach()
  add_executable(fuzz_${name} ${FUZZ_SOURCE})
  target_link_libraries(fuzz_${name} PRIVATE ${FUZZ_LIBS} espalier_warnings)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
endfunction()
