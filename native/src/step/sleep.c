// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Sleep. A body that has been slow for a while stops, and no stage looks at it any more; it is
 * still there to be touched. Bodies that touch each other fall asleep together or not at all, and
 * wake together: what carries another must not go while that one sleeps.
 *
 *      awake ──slow for "seconds", and all it touches too──► asleep
 *        ▲                                                     │
 *        └── touched fast, or a neighbour woke, or a collider ─┘
 *            came near, or anything was set
 *
 * Bodies fall asleep at the end of a frame and wake between two passes of a substep, by rules that
 * look at nothing but the state: every number of threads gives the same.
 */
#include "substep.h"

#include <float.h>
#include <string.h>

void pl_wake(pl_body* body)
{
    body->quiet = 0;
    if (!body->asleep)
        return;
    body->asleep = false;
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        body->chunks[c].moved = 1;
    body->matched = false;
}

void pl_scene_wake(pl_scene* scene)
{
    for (uint32_t b = 0; b < scene->body_count; ++b)
        pl_wake(scene->bodies[b]);
}

static double greatest_speed(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    float most = 0;
    for (uint32_t s = 0; s < p->slot_count; ++s)
    {
        float square = p->v[0][s] * p->v[0][s] + p->v[1][s] * p->v[1][s] + p->v[2][s] * p->v[2][s];
        most = square > most ? square : most;
    }
    return sqrt(most);
}

/* ------------------------------------------------------------------ neighbours */

typedef struct box
{
    double lower[3], upper[3];
} box;

static box box_of(const pl_body* body)
{
    const pl_particles* p = &body->particles;
    box b;
    for (int k = 0; k < 3; ++k)
    {
        float low = FLT_MAX, high = -FLT_MAX;
        for (uint32_t s = 0; s < p->slot_count; ++s)
            if (p->mass[s] > 0)
            {
                low = p->x[k][s] < low ? p->x[k][s] : low;
                high = p->x[k][s] > high ? p->x[k][s] : high;
            }
        b.lower[k] = low + body->origin[k] - body->spacing;
        b.upper[k] = high + body->origin[k] + body->spacing;
    }
    return b;
}

static bool boxes_meet(const box* a, const box* b, double more)
{
    for (int k = 0; k < 3; ++k)
        if (!(a->lower[k] - more <= b->upper[k] && b->lower[k] <= a->upper[k] + more))
            return false;
    return true;
}

static bool spread_along_bonds(const pl_bonds* bonds, uint8_t* has)
{
    bool any = false;
    for (size_t i = 0; i < bonds->count; ++i)
    {
        const pl_bond* bond = &bonds->items[i];
        if (bond->other == PL_NO_BODY || has[bond->body] == has[bond->other])
            continue;
        has[bond->body] = has[bond->other] = 1;
        any = true;
    }
    return any;
}

/* Spreads a property of bodies to those whose boxes meet, from one to the next. */
static pl_status spread_to_neighbours(const pl_scene* scene, uint8_t* has)
{
    box* boxes = PL_NEW(box, scene->body_count);
    if (!boxes)
        return pl_fail_memory(scene->body_count * sizeof *boxes);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        boxes[b] = box_of(scene->bodies[b]);
    double more = 0;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        more = fmax(more, pl_contact_thickness(scene->bodies[b], &scene->contact_settings));
    bool any = scene->cluster_contacts;
    while (!any && spread_along_bonds(&scene->bonds, has))
        ;
    while (any)
    {
        any = false;
        for (uint32_t a = 0; a < scene->body_count; ++a)
            for (uint32_t b = 0; b < scene->body_count && has[a]; ++b)
                if (!has[b] && boxes_meet(&boxes[a], &boxes[b], more))
                    has[b] = 1, any = true;
        any = spread_along_bonds(&scene->bonds, has) || any;
    }
    pl_free(boxes);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ frames */

static bool may_sleep(const pl_scene* scene, const pl_body* body)
{
    return scene->sleep_speed > 0 && scene->field_count == 0 && !body->pins.any &&
           !body->pins.follow && !body->acceleration[0];
}

static void fall_asleep(pl_body* body)
{
    body->asleep = true;
    for (int k = 0; k < 3; ++k)
    {
        memset(body->particles.v[k], 0, sizeof(float) * body->particles.slot_count);
        body->remainder[k] = body->turn[k] = 0;
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
        for (int k = 0; k < 3; ++k)
            body->chunks[c].remainder[k] = body->chunks[c].torque[k] = 0;
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        memset(body->clusters.sums[c] + 12, 0, 6 * sizeof(float)); /* velocity and spin */
}

pl_status pl_sleep_end_frame(pl_scene* scene, double dt)
{
    bool any = false, all = true;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (body->asleep)
            continue;
        bool slow = may_sleep(scene, body) && greatest_speed(body) < scene->sleep_speed;
        body->quiet = slow ? body->quiet + dt : 0;
        bool ready = slow && body->quiet >= scene->sleep_seconds;
        any = any || ready;
        all = all && ready;
    }
    if (!any)
        return PLIANT_OK;
    uint8_t* restless = PL_NEW(uint8_t, scene->body_count);
    if (!restless)
        return pl_fail_memory(scene->body_count);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        restless[b] =
            !scene->bodies[b]->asleep &&
            !(scene->bodies[b]->quiet > 0 && scene->bodies[b]->quiet >= scene->sleep_seconds);
    pl_status status = all ? PLIANT_OK : spread_to_neighbours(scene, restless);
    for (uint32_t b = 0; b < scene->body_count && status == PLIANT_OK; ++b)
        if (!restless[b] && !scene->bodies[b]->asleep)
            fall_asleep(scene->bodies[b]);
    pl_free(restless);
    return status;
}

static bool comes_near(const pl_collider* collider, const pl_body* body)
{
    pl_collider_step step;
    box own = box_of(body), around;
    bool runs = pl_collider_running(collider, body->origin, 1).on;
    if (collider->mesh)
        return pl_mesh_collider_sweep(collider->mesh, runs, around.lower, around.upper) &&
               boxes_meet(&around, &own, collider->thickness);
    if (memcmp(&collider->from, &collider->to, sizeof collider->from) == 0 && !runs)
        return false;
    pl_collider_prepare(collider, body->origin, 0, 1, &step);
    for (int k = 0; k < 3; ++k)
        if (!(step.lower[k] <= own.upper[k] - body->origin[k] &&
              own.lower[k] - body->origin[k] <= step.upper[k]))
            return false;
    return true;
}

/* A restored body has no fits yet, and asleep it gets none. */
static pl_status fit_sleepers(pl_scene* scene)
{
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        any = any || (scene->bodies[b]->asleep && !scene->bodies[b]->matched);
    uint8_t* asleep = any ? PL_NEW(uint8_t, scene->body_count) : NULL;
    if (any && !asleep)
        return pl_fail_memory(scene->body_count);
    for (uint32_t b = 0; b < scene->body_count && any; ++b)
    {
        asleep[b] = scene->bodies[b]->asleep;
        scene->bodies[b]->asleep = false;
    }
    pl_status status = any ? pl_scene_refresh(scene) : PLIANT_OK;
    for (uint32_t b = 0; b < scene->body_count && any; ++b)
        scene->bodies[b]->asleep = asleep[b];
    pl_free(asleep);
    return status;
}

pl_status pl_sleep_begin_frame(pl_scene* scene)
{
    bool any = false;
    PL_TRY(fit_sleepers(scene));
    for (uint32_t b = 0; b < scene->body_count; ++b)
        for (uint32_t i = 0; i < scene->collider_count && scene->bodies[b]->asleep; ++i)
            if (comes_near(scene->colliders[i], scene->bodies[b]))
            {
                pl_wake(scene->bodies[b]);
                any = true;
            }
    for (size_t i = 0; i < scene->bonds.count; ++i)
    {
        const pl_bond* bond = &scene->bonds.items[i];
        any = any || (bond->other != PL_NO_BODY &&
                      scene->bodies[bond->body]->asleep != scene->bodies[bond->other]->asleep);
    }
    return any ? pl_sleep_wake_neighbours(scene) : PLIANT_OK;
}

pl_status pl_sleep_wake_neighbours(pl_scene* scene)
{
    uint8_t* awake = PL_NEW(uint8_t, scene->body_count);
    if (!awake)
        return pl_fail_memory(scene->body_count);
    /* only from those that were woken just now: others lie beside sleepers without waking them */
    for (uint32_t b = 0; b < scene->body_count; ++b)
        awake[b] = !scene->bodies[b]->asleep && scene->bodies[b]->quiet == 0;
    pl_status status = spread_to_neighbours(scene, awake);
    for (uint32_t b = 0; b < scene->body_count && status == PLIANT_OK; ++b)
        if (awake[b] && scene->bodies[b]->asleep)
            pl_wake(scene->bodies[b]);
    pl_free(awake);
    return status;
}
