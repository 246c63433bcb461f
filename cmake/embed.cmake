# SPDX-License-Identifier: Apache-2.0
# The files of web/ as a table in C: cmake -DWEB=DIR -DOUT=FILE -P cmake/embed.cmake. See src/serve/assets.h.
file(GLOB files ${WEB}/*.html ${WEB}/*.js ${WEB}/*.css ${WEB}/*.svg)
list(SORT files)
set(arrays)
set(rows)
set(i 0)
foreach(file ${files})
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX)
    file(SIZE ${file} size)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND arrays "static const unsigned char file_${i}[] = {\n${hex}0};\n")
    string(APPEND rows "    {\"${name}\", file_${i}, ${size}},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "// Made by cmake/embed.cmake.\n#include \"serve/assets.h\"\n${arrays}
const struct stk_asset stk_assets[] = {\n${rows}    {NULL, NULL, 0}};\n")
