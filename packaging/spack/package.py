# SPDX-License-Identifier: BSD-3-Clause
# A repository of one's own: spack repo create DIR, this file as DIR/packages/fvmpi/package.py, spack repo add DIR.
# The smoke test, as E4S runs it: spack test run fvmpi
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:  # Spack before 1.0 has it in spack.package
    pass


class Fvmpi(AutotoolsPackage):
    """fvmpi shows where an MPI program's time goes: how much of it is waiting,
    which rank makes others wait, and in which function. The program is neither
    compiled nor linked again."""

    homepage = "https://example.org/fvmpi"
    url = "https://example.org/fvmpi/releases/fvmpi-0.1.0.tar.xz"

    tags = ["e4s"]
    test_requires_compiler = True

    license("BSD-3-Clause AND GPL-3.0-or-later")

    # The sum of the release's tarball; the release page has it.
    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Profile programs of the MPI that Spack provides")

    depends_on("c", type="build")
    # begin: needs, written by packaging/update
    depends_on("binutils+headers+libiberty")
    depends_on("elfutils")
    depends_on("gmake", type="build")
    depends_on("jansson")
    depends_on("libmicrohttpd")
    depends_on("libpfm4")
    depends_on("libunwind")
    depends_on("otf2@3:")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite")
    depends_on("zlib-api")
    depends_on("zstd")
    # end: needs
    depends_on("mpi", when="+mpi")

    conflicts("platform=darwin", msg="fvmpi is for Linux")
    conflicts("platform=windows", msg="fvmpi is for Linux")

    # Spack's name of an MPI, and whose binary interface it has.
    _mpich = ("mpich", "mvapich", "mvapich2", "intel-oneapi-mpi", "cray-mpich")
    _openmpi = ("openmpi", "nvhpc", "hpcx-mpi")

    def _flavour(self):
        if self.spec.satisfies("~mpi"):
            return None
        name = self.spec["mpi"].name
        if name in self._mpich:
            return "mpich"
        if name in self._openmpi:
            return "openmpi"
        raise InstallError("fvmpi has no library for %s" % name)

    def configure_args(self):
        flavour = self._flavour()
        args = ["--without-mpi-abi"]
        for name in ("mpich", "openmpi"):
            if name == flavour:
                args.append("--with-%s=%s" % (name, self.spec["mpi"].mpicc))
            else:
                args.append("--without-%s" % name)
        return args

    def test_selftest(self):
        """profile a small program, and find its problem"""
        flavour = self._flavour()
        if flavour:
            bin = self.spec["mpi"].prefix.bin
            os.environ["PATH"] = bin + os.pathsep + os.environ["PATH"]
        selftest = which(self.prefix.bin.fvmpi)
        selftest("selftest", "--limit", "300", "--mpi", ",".join(filter(None, (flavour, "serial"))))
