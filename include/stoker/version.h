// SPDX-License-Identifier: Apache-2.0
// Version of libstoker.
#ifndef STOKER_VERSION_H
#define STOKER_VERSION_H

#define STOKER_VERSION_MAJOR 0
#define STOKER_VERSION_MINOR 1
#define STOKER_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
// "0.1.0"; static.
const char *stoker_version(void);
// Libraries this build uses and their versions ("SQLite 3.40.1"), one per line; NULL past the end.
const char *stoker_library(int index);
#ifdef __cplusplus
}
#endif
#endif
