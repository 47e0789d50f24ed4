// SPDX-License-Identifier: GPL-3.0-or-later
/* The part of the saved state that contacts between clusters have. */
#ifndef PL_SNAPSHOT_CONTACTS_H
#define PL_SNAPSHOT_CONTACTS_H

#include "base/archive.h"
#include "dynamics/scene.h"

/* Half-spaces and pairs that are held back; members and who shares what follow from the rest. */
void pl_save_proxies(pl_archive* a, pl_body* body);
void pl_save_cuts(pl_archive* a, pl_body* body);
void pl_save_contact_settings(pl_archive* a, pl_scene* scene);

/* After the bodies and colliders that they are between. */
void pl_save_encounters(pl_archive* a, pl_scene* scene);
void pl_save_welds(pl_archive* a, pl_scene* scene);

#endif
