# espalier_add_library(NAME [CALCULATES] SOURCES... HEADERS... PUBLIC libs... PRIVATE libs...)
# CALCULATES: most of the tests' time is spent in it, so it is optimised more in sanitizer builds. One folder's target: espalier_NAME, alias espalier::NAME, installed and exported with its headers.
function(espalier_add_library name)
  cmake_parse_arguments(LIB "CALCULATES" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  add_library(espalier_${name} ${LIB_SOURCES})
  add_library(espalier::${name} ALIAS espalier_${name})
  set_target_properties(espalier_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(espalier_${name} PUBLIC cxx_std_20)
  target_include_directories(espalier_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/espalier>)
  target_link_libraries(espalier_${name}
    PUBLIC ${LIB_PUBLIC}
    PRIVATE ${LIB_PRIVATE} $<BUILD_INTERFACE:espalier_warnings>)
  if(ESPALIER_SANITIZE AND LIB_CALCULATES)
    target_compile_options(espalier_${name} PRIVATE -O2)
  endif()
  install(TARGETS espalier_${name} EXPORT espalier-targets)
  foreach(header IN LISTS LIB_HEADERS)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE folder)
    cmake_path(GET header PARENT_PATH sub)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/espalier/${folder}/${sub})
  endforeach()
endfunction()

# The package files, so that another project can find_package(espalier).
function(espalier_install_package)
  include(CMakePackageConfigHelpers)
  set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/espalier-config.cmake.in
    ${PROJECT_BINARY_DIR}/espalier-config.cmake INSTALL_DESTINATION ${dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/espalier-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(EXPORT espalier-targets NAMESPACE espalier:: DESTINATION ${dir})
  install(FILES ${PROJECT_BINARY_DIR}/espalier-config.cmake
    ${PROJECT_BINARY_DIR}/espalier-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindGLPK.cmake DESTINATION ${dir})
endfunction()
