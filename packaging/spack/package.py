# Spack recipe: spack repo add packaging/spack is not needed; copy it to a repository as packages/espalier/package.py.
from spack.package import *


class Espalier(CMakePackage):
    """Plans, proves and runs collective communication on heterogeneous networks."""

    # Where the sources are published: put your own copy's address here until they are.
    homepage = "https://espalier.example.org"
    git = "https://espalier.example.org/espalier.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("planner", default=True, description="The planner, which links GLPK")
    variant("mpi", default=True, description="The executor")
    variant("python", default=False, description="The Python package")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt@9:")
    depends_on("openssl@1.1.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("mpi", when="+mpi")
    depends_on("xxhash", when="+mpi")
    with when("+planner"):
        depends_on("glpk@5:")
        depends_on("eigen@3.4:3")
        depends_on("boost@1.74:+graph")
        depends_on("pugixml")
        depends_on("yaml-cpp")
        depends_on("graphviz")
        depends_on("pkgconfig", type="build")
    with when("+python"):
        depends_on("python@3.9:")
        depends_on("py-pybind11@2.10:", type="build")
        depends_on("py-numpy", type=("build", "run"))

    conflicts("%gcc@:11", msg="needs C++20 of GCC 12")

    def cmake_args(self):
        return [
            self.define_from_variant("ESPALIER_PLANNER", "planner"),
            self.define_from_variant("ESPALIER_MPI", "mpi"),
            self.define_from_variant("ESPALIER_PYTHON", "python"),
            self.define("ESPALIER_TESTS", False),
        ]
