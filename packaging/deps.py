# SPDX-License-Identifier: Apache-2.0
"""Builds the C libraries of sources.tsv for a target into a prefix: headers, static libraries, pkg-config files, and the
shared libraries that the program loads.

Each library has a function that runs its own build system, without programs, tests and documentation. The pkg-config
files are written here: a static library has to name what it needs itself.
"""

import os
import pathlib
import shutil
import subprocess

import sources
import targets

OPTIMIZED = "-O3 -fPIC -DNDEBUG -ffunction-sections -fdata-sections"


class Build:
    """One library being built: its tree, the prefix, and how commands are run."""

    def __init__(self, target: targets.Target, tree: pathlib.Path, prefix: pathlib.Path, tools: pathlib.Path, jobs: int):
        self.target, self.tree, self.prefix, self.tools, self.jobs = target, tree, prefix, tools, jobs
        self.env = targets.environment(tools)
        self.log = prefix / "log" / f"{tree.name}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)

    def run(self, *words: object, cwd: "pathlib.Path | None" = None, native: bool = False) -> None:
        env = {**os.environ, "CC": "cc", "LC_ALL": "C"} if native else self.env
        with open(self.log, "ab") as log:
            done = subprocess.run([str(w) for w in words], cwd=cwd or self.tree, env=env, stdout=log, stderr=log, check=False)
        if done.returncode != 0:
            raise SystemExit(f"release: {self.tree.name} for {self.target.name} could not be built; see {self.log}")

    def cmake(self, *options: str) -> None:
        common = (f"-DCMAKE_TOOLCHAIN_FILE={self.tools}/toolchain.cmake", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                  "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                  f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_C_FLAGS=-ffunction-sections -fdata-sections", "-DCMAKE_POLICY_VERSION_MINIMUM=3.5")  # fmt: skip
        self.run("cmake", "-G", "Ninja", "-S", self.tree, "-B", self.tree / "stoker-build", *common, *options)
        self.run("cmake", "--build", self.tree / "stoker-build", "-j", self.jobs)
        self.run("cmake", "--install", self.tree / "stoker-build")

    def compile(self, library: str, files: "list[str]", *flags: str) -> None:
        """A static library of a few files."""
        objects = []
        for file in files:
            objects.append(self.tree / (pathlib.Path(file).name + ".o"))
            self.run(self.tools / "cc", *OPTIMIZED.split(), *flags, "-c", file, "-o", objects[-1])
        (self.prefix / "lib").mkdir(parents=True, exist_ok=True)
        self.run(self.tools / "ar", "rcsD", self.prefix / "lib" / library, *objects)

    def header(self, name: str, to: str = "") -> None:
        at = self.prefix / "include" / to
        at.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.tree / name, at / pathlib.Path(name).name)


def zlib(b: Build) -> None:
    files = [f"{n}.c" for n in ("adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate "
                                "inftrees trees uncompr zutil").split()]  # fmt: skip
    b.compile("libz.a", files, "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H", "-D_LARGEFILE64_SOURCE=1", "-D_FILE_OFFSET_BITS=64")
    b.header("zlib.h")
    b.header("zconf.h")


def zstd(b: Build) -> None:
    b.run("make", "-C", "lib", f"-j{b.jobs}", "libzstd.a", f"CFLAGS={OPTIMIZED}", "ZSTD_LEGACY_SUPPORT=0")
    (b.prefix / "lib").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(b.tree / "lib/libzstd.a", b.prefix / "lib/libzstd.a")
    for name in ("zstd.h", "zdict.h", "zstd_errors.h"):
        b.header(f"lib/{name}")


def sqlite(b: Build) -> None:
    b.run("sh", "./configure", "--disable-tcl", "--disable-readline", native=True)
    b.run("make", "sqlite3.c", "sqlite3.h", native=True)
    b.compile("libsqlite3.a", ["sqlite3.c"], "-O2", "-DSQLITE_THREADSAFE=1", "-DSQLITE_ENABLE_COLUMN_METADATA",
              "-DSQLITE_ENABLE_MATH_FUNCTIONS", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_DQS=0")  # fmt: skip
    b.header("sqlite3.h")


def pcre2(b: Build) -> None:
    b.cmake("-DPCRE2_SUPPORT_JIT=ON", "-DPCRE2_BUILD_PCRE2GREP=OFF", "-DPCRE2_BUILD_TESTS=OFF", "-DBUILD_SHARED_LIBS=OFF")


def isal(b: Build) -> None:
    """Only what stoker uses: inflate, and the checksum that it needs."""
    words = ["make", "-f", "Makefile.unx", f"-j{b.jobs}", "lib", "isa-l.h", "units=igzip crc", f"host_cpu={b.target.cpu}"]
    b.run(*words, f"arch={'aarch64' if b.target.cpu == 'aarch64' else ''}", f"CC={b.tools}/cc", f"AR={b.tools}/ar",
          f"CFLAGS_={OPTIMIZED}", f"CFLAGS_aarch64={OPTIMIZED}", "STRIP=true", "STRIP_gcc=true",
          *(["AS=nasm"] if b.target.cpu == "x86_64" else []))  # fmt: skip
    shutil.copyfile(b.tree / "bin/isa-l.a", b.prefix / "lib/libisal.a")
    b.header("isa-l.h")
    for header in sorted((b.tree / "include").glob("*.h")):
        b.header(f"include/{header.name}", "isa-l")


def jpeg(b: Build) -> None:
    b.cmake("-DENABLE_SHARED=OFF", "-DWITH_TURBOJPEG=OFF", "-DWITH_TOOLS=OFF", "-DWITH_TESTS=OFF", "-DREQUIRE_SIMD=ON")


def png(b: Build) -> None:
    b.cmake("-DPNG_SHARED=OFF", "-DPNG_TESTS=OFF", "-DPNG_TOOLS=OFF", "-DPNG_FRAMEWORK=OFF")


def webp(b: Build) -> None:
    parts = "ANIM_UTILS CWEBP DWEBP GIF2WEBP IMG2WEBP VWEBP WEBPINFO WEBPMUX EXTRAS LIBWEBPMUX"
    b.cmake("-DBUILD_SHARED_LIBS=OFF", *(f"-DWEBP_BUILD_{part}=OFF" for part in parts.split()))


def kissfft(b: Build) -> None:
    names = ["kiss_fft", "kiss_fftr", "kiss_fftnd", "kiss_fftndr", "kfc"]
    b.compile("libkissfft-float.a", [f"{n}.c" for n in names], "-Dkiss_fft_scalar=float")
    for header in sorted(b.tree.glob("*.h")):
        b.header(header.name, "kissfft")


def microhttpd(b: Build) -> None:
    off = "https doc examples tools static nls curl bauth dauth postprocessor experimental".split()
    b.run("sh", "./configure", f"--host={b.target.triple}", f"--prefix={b.prefix}", "--enable-shared", "--disable-largefile",
          *(f"--disable-{part}" for part in off), f"CFLAGS={OPTIMIZED}", "LDFLAGS=-Wl,-s")  # fmt: skip
    b.run("make", f"-j{b.jobs}", "-C", "src/microhttpd", "libmicrohttpd.la")
    b.run("make", "-C", "src/microhttpd", "install-libLTLIBRARIES")
    b.header("src/include/microhttpd.h")


def nghttp2(b: Build) -> None:
    b.cmake("-DENABLE_LIB_ONLY=ON", "-DENABLE_DOC=OFF", "-DBUILD_SHARED_LIBS=ON", "-DBUILD_STATIC_LIBS=OFF", "-DBUILD_TESTING=OFF",
            "-DCMAKE_SHARED_LINKER_FLAGS=-s")  # fmt: skip


# name -> its function, the name for pkg-config, what to link, flags to compile with.
BUILDERS = {
    "zlib": (zlib, "zlib", "-lz", ""),
    "zstd": (zstd, "libzstd", "-lzstd", ""),
    "sqlite": (sqlite, "sqlite3", "-lsqlite3 -lm", ""),
    "pcre2": (pcre2, "libpcre2-8", "-lpcre2-8", "-DPCRE2_STATIC"),
    "isa-l": (isal, "libisal", "-lisal", ""),
    "libjpeg-turbo": (jpeg, "libjpeg", "-ljpeg", ""),
    "libpng": (png, "libpng", "-lpng16 -lz -lm", ""),
    "libwebp": (webp, "libwebp", "-lwebp -lsharpyuv -lm", ""),
    "kissfft": (kissfft, "kissfft-float", "-lkissfft-float -lm", "-Dkiss_fft_scalar=float"),
    "libmicrohttpd": (microhttpd, "libmicrohttpd", "-lmicrohttpd", ""),
    "nghttp2": (nghttp2, "libnghttp2", "-lnghttp2", ""),
}


MACOS = ("zlib", "zstd", "sqlite", "pcre2")  # what reading needs


def _describe(source: sources.Source, prefix: pathlib.Path) -> None:
    """The pkg-config file; the library's own are removed, as they would shadow it."""
    _, name, libs, flags = BUILDERS[source.name]
    folder = prefix / "lib/pkgconfig"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"Name: {name}\nDescription: {source.homepage}\nVersion: {source.version}\n"
    text += f"Libs: -L{prefix}/lib {libs}\nCflags: -I{prefix}/include {flags}\n"
    (folder / f"{name}.pc").write_text(text)


def build(target: targets.Target, archives: pathlib.Path, at: pathlib.Path, jobs: int) -> pathlib.Path:
    """All libraries in `at`/deps; a library that is already there, from the same archive, is kept."""
    prefix, trees, tools = at / "deps", at / "trees", at / "tools"
    targets.write_tools(target, tools, [(trees, "third-party"), (prefix, "deps")])
    for source in sources.table():
        if target.is_macos and source.name not in MACOS:
            continue
        stamp = prefix / "built" / source.name
        if stamp.is_file() and stamp.read_text() == source.sha256:
            continue
        print(f"release: {target.name}: {source.name} {source.version}", flush=True)
        tree = trees / source.name
        if tree.exists():
            shutil.rmtree(tree)
        sources.unpack(source, archives, tree)
        BUILDERS[source.name][0](Build(target, tree, prefix, tools, jobs))
        _describe(source, prefix)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(source.sha256)
    return prefix
