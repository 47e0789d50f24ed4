// SPDX-License-Identifier: GPL-3.0-or-later
/* Calls everything that can be called on a scene that came from damaged data, and puts right
 * checksums on such data. Statuses may be what they like, but PLIANT_ERROR_INTERNAL fails a check.
 */
#ifndef PLIANT_TEST_POKE_H
#define PLIANT_TEST_POKE_H

#include "native/support/test.h"

#include <stdint.h>

/* Puts the right size and checksum on a state block that was changed. */
void seal_block(unsigned char* block, uint64_t bytes);
/* Advances, reads every channel, skins, sets everything, saves, hashes, advances again. */
void call_everything_scene(pliant_scene scene);
/* The same of one body, without advancing. */
void call_everything_body(pliant_body body);
/* What a scene saves restores it; handles of its bodies are new then. */
void call_everything_saved(pliant_scene scene);
/* Fails a check if a status says that the library is at fault. */
pliant_status try_call(pliant_status status);

#endif
