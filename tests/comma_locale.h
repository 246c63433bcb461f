// SPDX-License-Identifier: Apache-2.0
// A locale whose decimal mark is a comma: one that is installed, else one compiled into a folder of
// its own with localedef, where the system has that and the sources of locales.
#ifndef STK_TESTS_COMMA_LOCALE_H
#define STK_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool comma_is_set(void)
{
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    return strcmp(text, "0,5") == 0;
}

// Sets it for the whole program. False: this system has none.
static inline bool comma_locale_set(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8",
                                        "pt_BR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_ALL, names[i]) && comma_is_set()) {
            return true;
        }
    }
    char dir[] = "/tmp/stoker-locale-XXXXXX", command[200];
    if (!mkdtemp(dir)) {
        return false;
    }
    snprintf(command, sizeof command, "localedef -i de_DE -f ISO-8859-1 '%s/de_DE' >/dev/null 2>&1",
             dir);
    bool is_made = system(command) == 0;
    setenv("LOCPATH", dir, 1);
    bool is_set = is_made && setlocale(LC_ALL, "de_DE") && comma_is_set();
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r '%s'", dir);
    return system(command) == 0 && is_set;
}

#endif
