# SPDX-License-Identifier: Apache-2.0
# Images' operations, layers and imported pipelines beside TensorFlow's and PyTorch's own, where interpreters
# that have them are named by STOKER_TF_PYTHON and STOKER_TORCH_PYTHON (environment).
if(STOKER_IS_PLAIN)
    add_library(stoker_image_peer SHARED peers/image_peer.c)
    target_link_libraries(stoker_image_peer PRIVATE stoker)
    add_test(NAME peers.image_vs_tf COMMAND sh -c "exec \"\${STOKER_TF_PYTHON:-python3}\" \"$1\" \"$2\" 60"
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/image_vs_tf $<TARGET_FILE:stoker_image_peer>)
    add_test(NAME peers.keras_layers COMMAND sh -c "exec \"\${STOKER_TF_PYTHON:-python3}\" \"$1\""
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/keras_layers)
    add_test(NAME peers.from_tf COMMAND sh -c "exec \"\${STOKER_TF_PYTHON:-python3}\" \"$1\""
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/from_tf)
    add_test(NAME peers.from_torch_images COMMAND sh -c "exec \"\${STOKER_TORCH_PYTHON:-python3}\" \"$1\""
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/from_torch_images)
    add_test(NAME peers.from_torch_recorded COMMAND sh -c "exec \"\${STOKER_TORCH_PYTHON:-python3}\" \"$1\""
        sh ${CMAKE_CURRENT_SOURCE_DIR}/peers/from_torch_recorded)
    set_tests_properties(peers.keras_layers peers.from_tf peers.from_torch_images peers.from_torch_recorded PROPERTIES ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python
        SKIP_RETURN_CODE 77 TIMEOUT ${STOKER_TEST_SECONDS})
    set_tests_properties(peers.image_vs_tf PROPERTIES TIMEOUT ${STOKER_TEST_SECONDS})
endif()
