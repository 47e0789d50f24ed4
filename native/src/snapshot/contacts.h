// SPDX-License-Identifier: GPL-3.0-or-later
/* Contacts, cuts and welds in a saved state (snapshot.c). */
#ifndef PL_SNAPSHOT_CONTACTS_H
#define PL_SNAPSHOT_CONTACTS_H

#include "base/archive.h"
#include "dynamics/scene.h"

/* Half-spaces and the pairs of the collision filter; members and shared particles are derived. */
void pl_save_proxies(pl_archive* a, pl_body* body);
void pl_save_cuts(pl_archive* a, pl_body* body);
void pl_save_contact_settings(pl_archive* a, pl_scene* scene);

/* Call after the bodies and colliders that they refer to. */
void pl_save_encounters(pl_archive* a, pl_scene* scene);
void pl_save_welds(pl_archive* a, pl_scene* scene);

#endif
