# SPDX-License-Identifier: Apache-2.0
# The image codecs' fuzz target, or a replay of its seeds; and the comparison with TensorFlow, where
# an interpreter that has it is named by STOKER_TENSORFLOW_PYTHON (environment).
if(STOKER_FUZZ)
    add_executable(fuzz_image fuzz/fuzz_image.c)
    target_compile_options(fuzz_image PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_image PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz_image PRIVATE stoker)
else()
    add_executable(replay_image fuzz/fuzz_image.c)
    target_compile_definitions(replay_image PRIVATE FUZZ_REPLAY)
    target_link_libraries(replay_image PRIVATE stoker)
    file(GLOB inputs CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/image/*
        ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/image/*)
    add_test(NAME unit.replay_image COMMAND replay_image ${inputs})
    set_tests_properties(unit.replay_image PROPERTIES TIMEOUT 300)
endif()
if(NOT STOKER_FUZZ AND NOT STOKER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    add_library(stoker_image_peer SHARED peers/image_peer.c)
    target_link_libraries(stoker_image_peer PRIVATE stoker)
    add_test(NAME peers.image_vs_tf COMMAND sh -c "exec \"\${STOKER_TENSORFLOW_PYTHON:-python3}\" \"$1\" \"$2\" 60"
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/image_vs_tf $<TARGET_FILE:stoker_image_peer>)
    set_tests_properties(peers.image_vs_tf PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
