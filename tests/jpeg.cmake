# SPDX-License-Identifier: Apache-2.0
# The JPEG decoder's tests compare with libjpeg-turbo where it is installed.
find_package(JPEG QUIET)
if(JPEG_FOUND)
    foreach(name jpeg_exact jpeg_damage jpeg_speed jpeg_two)
        target_link_libraries(test_${name} PRIVATE JPEG::JPEG)
        target_compile_definitions(test_${name} PRIVATE STOKER_HAVE_LIBJPEG=1)
    endforeach()
endif()
