# SPDX-License-Identifier: Apache-2.0
"""What released packages are built for, and the compiler for each: zig's clang with the libc of the oldest systems.

A target's folder holds wrappers `cc`, `ar` and `ranlib`, because build systems take a compiler as one path. zig traps on
undefined behavior by default where optimization is off, which configure scripts do not expect: that is turned off. Paths
of the machine that builds are mapped away, so that another folder gives the same bytes.
"""

import os
import pathlib
import platform
import shutil
from typing import NamedTuple


class Target(NamedTuple):
    name: str
    zig: str  # zig's name of processor, system and C library
    tag: str  # the platform of wheels
    suffix: str  # of Python's modules
    loader: str  # the libc's dynamic loader, as the emulator needs it

    @property
    def cpu(self) -> str:
        return self.zig.split("-")[0]

    @property
    def is_musl(self) -> bool:
        return "musl" in self.zig

    @property
    def is_macos(self) -> bool:
        """Only the program, with what reads profiles; not among the targets that are built by default."""
        return "macos" in self.zig

    @property
    def triple(self) -> str:
        if self.is_macos:
            return f"{self.cpu}-macos"
        return f"{self.cpu}-linux-{'musl' if self.is_musl else 'gnu'}"

    @property
    def is_native(self) -> bool:
        """Runs here as it is."""
        return self.cpu == platform.machine() and not self.is_musl and not self.is_macos


TARGETS = [
    Target("x86_64-gnu", "x86_64-linux-gnu.2.17", "manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    Target("x86_64-musl", "x86_64-linux-musl", "musllinux_1_2_x86_64", "x86_64-linux-musl", "ld-musl-x86_64.so.1"),
    Target("aarch64-gnu", "aarch64-linux-gnu.2.17", "manylinux_2_17_aarch64.manylinux2014_aarch64", "aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
    Target("aarch64-musl", "aarch64-linux-musl", "musllinux_1_2_aarch64", "aarch64-linux-musl", "ld-musl-aarch64.so.1"),
    Target("aarch64-macos", "aarch64-macos.11.0", "", "", ""),
]  # fmt: skip


def by_name(name: str) -> Target:
    for target in TARGETS:
        if target.name == name:
            return target
    raise SystemExit(f"release: no target '{name}'; there are {', '.join(t.name for t in TARGETS)}")


def zig_program() -> str:
    """The path of zig: of the package ziglang next to this Python."""
    try:
        import ziglang
    except ImportError:
        raise SystemExit("release: the package ziglang is missing; `./dev release` installs it") from None
    return str(pathlib.Path(ziglang.__file__).parent / "zig")


def _script(path: pathlib.Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def write_tools(target: Target, folder: pathlib.Path, maps: "list[tuple[pathlib.Path, str]]") -> pathlib.Path:
    """The wrappers for a target in `folder`. maps: (folder, what debugging information and __FILE__ call it)."""
    folder.mkdir(parents=True, exist_ok=True)
    zig = zig_program()
    flags = f"-target {target.zig} -fno-sanitize=undefined -fno-sanitize-trap=undefined"
    for at, name in maps:
        flags += f" '-ffile-prefix-map={at}={name}'"
    if target.is_musl:  # zig links programs for musl statically by default, and those load no libraries
        flags += " -dynamic"
    cache = f"ZIG_GLOBAL_CACHE_DIR='{folder}/zig' ZIG_LOCAL_CACHE_DIR='{folder}/zig'"
    _script(folder / "cc", f"{cache} exec '{zig}' cc {flags} \"$@\"")
    _script(folder / "ar", f"exec '{zig}' ar \"$@\"")
    _script(folder / "ranlib", f"exec '{zig}' ranlib \"$@\"")
    (folder / "toolchain.cmake").write_text(_toolchain(target, folder))
    return folder


def _toolchain(target: Target, folder: pathlib.Path) -> str:
    lines = [
        f"set(CMAKE_SYSTEM_NAME {'Darwin' if target.is_macos else 'Linux'})",
        f"set(CMAKE_SYSTEM_PROCESSOR {target.cpu})",
        f"set(CMAKE_C_COMPILER {folder}/cc)",
        f"set(CMAKE_AR {folder}/ar CACHE FILEPATH \"\")",
        f"set(CMAKE_RANLIB {folder}/ranlib CACHE FILEPATH \"\")",
        f"set(ENV{{PKG_CONFIG_LIBDIR}} {folder.parent}/deps/lib/pkgconfig)",
        f"set(CMAKE_FIND_ROOT_PATH {folder.parent}/deps)",
        "set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)",
        "set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)",
        "set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)",
        "set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)",
        "set(CMAKE_C_COMPILER_WORKS TRUE)",
    ]
    if target.is_macos:  # zig has what Apple's SDK is asked for, and signs programs as Apple's linker does
        lines += ['set(CMAKE_OSX_SYSROOT "")', 'set(CMAKE_OSX_ARCHITECTURES "")', "set(CMAKE_INSTALL_NAME_TOOL true)"]
    if shutil.which("ccache"):
        lines.append("set(CMAKE_C_COMPILER_LAUNCHER ccache)")
    return "\n".join(lines) + "\n"


def environment(tools: pathlib.Path) -> "dict[str, str]":
    """For make, configure and CMake of a target."""
    env = {k: v for k, v in os.environ.items() if k not in ("CFLAGS", "LDFLAGS", "CPPFLAGS", "CI")}
    names = {"CC": "cc", "AR": "ar", "RANLIB": "ranlib"}
    env.update({k: str(tools / v) for k, v in names.items()})
    env.update({"CCACHE_COMPILERTYPE": "clang", "CCACHE_COMPILERCHECK": "content", "CCACHE_NOHASHDIR": "1", "LC_ALL": "C"})
    return env
