// SPDX-License-Identifier: GPL-3.0-or-later
/* Edits of a block of bytes that a fuzzer's input describes, eight bytes each. */
#ifndef PLIANT_FUZZ_EDITS_H
#define PLIANT_FUZZ_EDITS_H

#include "input.h"

/* Edits *data (malloc'd, moved when it grows) of *bytes bytes. The first "keep" bytes stay as they
 * are, and no edit makes it shorter than that. */
void fuzz_edit(fuzz_input* in, unsigned char** data, uint64_t* bytes, uint64_t keep);

#endif
