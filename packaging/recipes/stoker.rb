# Homebrew formula of stoker @VERSION@. ARCHIVES is the folder of the release that this is published with.
class Stoker < Formula
  desc "Why a training job's GPU waits, and what to do about it"
  homepage "@HOMEPAGE@"
  url "@ARCHIVES@/stoker-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "isa-l"
  depends_on "libmicrohttpd"
  depends_on "libnghttp2"
  depends_on "pcre2"
  depends_on "sqlite"
  depends_on "zstd"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DSTOKER_DATA=OFF", "-DSTOKER_TESTS=OFF", "-DSTOKER_LEAN=ON", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_match "stoker #{version}", shell_output("#{bin}/stoker --version")
    (testpath/"trace.json").write '{"traceEvents": []}'
    assert_match "trace.json", shell_output("#{bin}/stoker why trace.json 2>&1", 4)
  end
end
