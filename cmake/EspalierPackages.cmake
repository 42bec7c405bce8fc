# Debian packages of a build (cpack), one for each component of the installation. espalier-mpi is free of GLPK, so
# whatever links it is in packages of its own: espalier, espalier-preload, python3-espalier.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME espalier)
set(CPACK_PACKAGE_CONTACT "The Espalier developers <espalier@users.noreply.github.com>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake)
set(CPACK_ESPALIER_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_COMPONENTS_ALL "")

# espalier_package(COMPONENT NAME SUMMARY EXTENDED)
macro(espalier_package component name summary extended)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${extended}")
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
endmacro()

if(ESPALIER_PLANNER)
  espalier_package(planner espalier "plans collective communication on heterogeneous networks"
    "Espalier finds the trees along which broadcasts, reductions and other collective operations are fastest on a given network, proves how far each plan is from the best possible, and simulates it.")
endif()
if(ESPALIER_MPI)
  espalier_package(mpi espalier-mpi "runs plans of collective communication with MPI"
    "The executor of Espalier: it probes the network between the ranks of an mpirun, copies files and runs collective operations along plans. It needs no linear programming.")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS openmpi-bin)
  set(CPACK_DEBIAN_MPI_PACKAGE_SUGGESTS espalier)
  espalier_package(preload espalier-preload "plans of Espalier for unmodified MPI programs"
    "A library to be preloaded: collective operations of an MPI program follow Espalier's plans, without a change of the program.")
  set(CPACK_DEBIAN_PRELOAD_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
endif()
espalier_package(dev libespalier-dev "libraries and headers of Espalier"
  "The planner, the simulator and the executor of Espalier for C++ and C programs, found by CMake as the package espalier.")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libglpk-dev, libeigen3-dev, libboost-dev, libpugixml-dev, libyaml-cpp-dev, libgraphviz-dev, libfmt-dev, nlohmann-json3-dev, libopenmpi-dev, libxxhash-dev, libssl-dev")
if(TARGET _espalier OR TARGET _espalier_mpi)
  espalier_package(python python3-espalier "Python package of Espalier"
    "Plans collective communication on heterogeneous networks from Python, and executes plans on the communicators of mpi4py.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-mpi4py, python3-networkx")
endif()
include(CPack)
