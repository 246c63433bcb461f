# SPDX-License-Identifier: Apache-2.0
# The JPEG decoder's tests compare with libjpeg-turbo.
foreach(name jpeg_exact jpeg_damage jpeg_speed jpeg_two)
    target_link_libraries(test_${name} PRIVATE PkgConfig::LIBJPEG)
endforeach()
