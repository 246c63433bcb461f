// SPDX-License-Identifier: Apache-2.0
// A file inside the program, byte for byte, by the assembler's .incbin: gcc and clang have it for
// every supported machine. cmake has to name the file as one that the source depends on.
#pragma once

#ifdef __APPLE__ // Mach-O has other sections, and an underscore before each name
#define STK_EMBED_BEGIN ".section __TEXT,__const\n"
#define STK_EMBED_NAME(symbol) ".globl _" symbol "\n.private_extern _" symbol "\n_" symbol ":\n"
#define STK_EMBED_END ".text\n"
#else
#define STK_EMBED_BEGIN ".pushsection .rodata\n"
#define STK_EMBED_NAME(symbol) ".global " symbol "\n.hidden " symbol "\n" symbol ":\n"
#define STK_EMBED_END ".popsection\n"
#endif

// Two names in C: `symbol` is the first byte, `symbol`_end the zero byte after the last.
#define STK_EMBED(symbol, path)                                                                    \
    __asm__(STK_EMBED_BEGIN STK_EMBED_NAME(#symbol) ".incbin \"" path "\"\n" STK_EMBED_NAME(       \
        #symbol "_end") ".byte 0\n" STK_EMBED_END);                                                \
    extern const char symbol[], symbol##_end[];
