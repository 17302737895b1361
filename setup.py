"""What pyproject.toml cannot say: a wheel brings the libraries behind attnlab and what they read, so that it needs neither
make nor this checkout at run time. `make python` builds them first.

    pip install .          python -m build          make python && pip wheel .

In the package `attnlab` they lie as here: build/runtime (libraries), build/images (PTX and cubins of stages of attention),
chips, profiler/groups, runtime/attnlab-nvcc. pip install -e . copies nothing: the libraries are those of build/."""
import glob
import os
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

BUILD = os.environ.get('BUILD') or 'build'
BROUGHT = ('chips/*.txt', 'profiler/groups/*.txt', 'runtime/attnlab-nvcc', 'runtime/compat.h')
BUILT = ('runtime/libattnlab.so', 'runtime/attnlab-[0-9].so', 'images/stage-[12346]/*.ptx', 'images/stage-[12346]/*.cubin')
THEIRS = ('libjansson.so.4', 'libgomp.so.1')  # which not every machine has


def needed(library):
    """{name: path} of the shared libraries that a library needs."""
    lines = subprocess.run(['ldd', library], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[0]: line.split()[2] for line in lines if '=> /' in line}


class Bring(build_py):
    def run(self):
        shutil.rmtree(os.path.join(self.build_lib, 'attnlab'), ignore_errors=True)  # of an earlier wheel
        super().run()
        if self.editable_mode:
            return
        subprocess.run(['make', '--no-print-directory', 'python'], check=True)
        package = os.path.join(self.build_lib, 'attnlab')
        for root, patterns, to in (('.', BROUGHT, ''), (BUILD, BUILT, 'build')):
            for path in (p for pattern in patterns for p in glob.glob(os.path.join(root, pattern))):
                self.bring(path, os.path.join(package, to, os.path.relpath(path, root)))
        libraries = needed(os.path.join(BUILD, 'runtime', 'libattnlab.so'))
        for name in THEIRS:
            self.bring(libraries[name], os.path.join(package, 'build', 'runtime', 'theirs', name))

    @staticmethod
    def bring(path, to):
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copyfile(path, to)
        shutil.copymode(path, to)


class Platform(bdist_wheel):
    """For this machine's processor and every Python 3: nothing is compiled for an interpreter."""

    def get_tag(self):
        return 'py3', 'none', super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={'build_py': Bring, 'bdist_wheel': Platform}, distclass=Binary)
