// SPDX-License-Identifier: Apache-2.0
// Texts of profiles in GitHub-flavored Markdown, where they must not become markup.
#pragma once

#include "base/sink.h"

// A name as a code span, at most 120 characters. Only a backtick and the bar of a table have a
// meaning in it.
void stk_markdown_code(struct stk_sink *s, const char *text);
// A sentence on one line; Markdown and HTML markup is escaped.
void stk_markdown_plain(struct stk_sink *s, const char *text);
