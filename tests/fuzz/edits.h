// SPDX-License-Identifier: GPL-3.0-or-later
/* Edits of a block of bytes, each encoded by eight bytes of the fuzzer's input. */
#ifndef PLIANT_FUZZ_EDITS_H
#define PLIANT_FUZZ_EDITS_H

#include "input.h"

/* Edits *data (malloc'd, reallocated when it grows) of *bytes bytes. The first "keep" bytes are not
 * changed or removed. */
void fuzz_edit(fuzz_input* in, unsigned char** data, uint64_t* bytes, uint64_t keep);

#endif
