// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Sleep. A body that has been slow for a while stops, and stages skip it; contacts with it remain.
 * Bodies that touch fall asleep and wake together, since a support must not move away from under a
 * sleeping body. The pieces of a broken body sleep individually (piece_sleep.c), except those with
 * pins.
 *
 *      awake ──slow for "seconds", and all it touches too──► asleep
 *        ▲                                                     │
 *        └── touched fast, or a neighbour woke, or a collider ─┘
 *            came near, or anything was set
 *
 * Bodies fall asleep at the end of a frame and wake between two passes of a substep. The rules
 * depend on the state only, so results do not depend on the number of threads.
 */
#include "sleep/sleep.h"

#include "body/piece_query.h"
#include "body/validity.h"
#include "dynamics/substep.h"
#include "fracture/fracture.h"

#include <string.h>

void pl_wake(pl_body* body)
{
    body->quiet = 0;
    pl_pieces_wake(body);
    if (!body->asleep)
        return;
    body->asleep = false;
    pl_positions_changed(body);
}

void pl_scene_wake(pl_scene* scene)
{
    for (uint32_t b = 0; b < scene->body_count; ++b)
        pl_wake(scene->bodies[b]);
}

/* ------------------------------------------------------------------ units */

typedef struct box
{
    double lower[3], upper[3];
} box;

/* The unit of sleep: a body, or a piece of a broken body. */
typedef struct unit
{
    pl_body* body;
    uint32_t piece; /* or PL_NO_PIECE: the whole body */
    bool pinned;
    float fastest; /* squared speed of its fastest particle */
    box around;
} unit;

typedef struct units
{
    unit* items;
    uint8_t* has; /* by unit: a flag that spreads to neighbours */
    uint32_t count;
    size_t capacity, has_capacity;
} units;

static void units_free(units* all)
{
    pl_free(all->items);
    pl_free(all->has);
}

static bool is_welded(const pl_scene* scene, uint32_t body)
{
    for (size_t i = 0; i < scene->welds.count; ++i)
        if (scene->welds.items[i].body == body || scene->welds.items[i].other == body)
            return true;
    return false;
}

/* Whether the pieces of a body sleep individually. A welded body sleeps as a whole. */
static bool is_apart(const pl_scene* scene, uint32_t body)
{
    const pl_body* b = scene->bodies[body];
    return !b->asleep && b->fracture && b->fracture->piece_count > 1 && pl_pieces_now(b) > 1 &&
           !is_welded(scene, body);
}

static void unit_add_particle(const pl_body* body, uint32_t slot, unit* u)
{
    const pl_particles* p = &body->particles;
    float square = 0;
    if (!(p->mass[slot] > 0))
        return;
    for (int k = 0; k < 3; ++k)
    {
        double x = p->x[k][slot] + body->origin[k];
        square += p->v[k][slot] * p->v[k][slot];
        u->around.lower[k] = fmin(u->around.lower[k], x - body->spacing);
        u->around.upper[k] = fmax(u->around.upper[k], x + body->spacing);
    }
    u->fastest = square > u->fastest ? square : u->fastest;
    u->pinned = u->pinned || (body->pins.any && body->pins.frequency[slot] > 0);
}

static unit* add_unit(units* all, pl_body* body, uint32_t piece)
{
    if (!pl_grow((void**)&all->items, &all->capacity, (size_t)all->count + 1, sizeof *all->items) ||
        !pl_grow((void**)&all->has, &all->has_capacity, (size_t)all->count + 1, 1))
        return NULL;
    unit* u = &all->items[all->count++];
    *u = (unit){.body = body, .piece = piece, .pinned = body->pins.follow};
    for (int k = 0; k < 3; ++k)
        u->around.lower[k] = INFINITY, u->around.upper[k] = -INFINITY;
    return u;
}

/* Adds a unit for each living piece, in ascending order. */
static bool add_pieces(units* all, pl_body* body)
{
    const pl_fracture* f = body->fracture;
    uint32_t* piece = pl_pieces_of_slots(body);
    uint32_t* at = PL_NEW(uint32_t, f->piece_count);
    bool fine = piece && at;
    for (uint32_t p = 0; p < f->piece_count && fine; ++p)
    {
        at[p] = all->count;
        fine = !f->pieces[p].clusters || add_unit(all, body, p);
    }
    for (uint32_t s = 0; s < body->particles.slot_count && fine; ++s)
        if (piece[s] != PL_NO_PIECE && f->pieces[piece[s]].clusters)
            unit_add_particle(body, s, &all->items[at[piece[s]]]);
    pl_free(piece);
    pl_free(at);
    return fine;
}

static pl_status list_units(const pl_scene* scene, units* all)
{
    bool fine = true;
    for (uint32_t b = 0; b < scene->body_count && fine; ++b)
    {
        pl_body* body = scene->bodies[b];
        if (is_apart(scene, b))
        {
            fine = add_pieces(all, body);
            continue;
        }
        unit* u = add_unit(all, body, PL_NO_PIECE);
        for (uint32_t s = 0; u && s < body->particles.slot_count && !body->asleep; ++s)
            unit_add_particle(body, s, u);
        fine = u != NULL;
    }
    return fine ? PLIANT_OK : pl_fail_memory(all->count * sizeof *all->items);
}

/* Adds the AABBs of sleeping bodies, which most frames do not need. */
static void add_sleepers(units* all)
{
    for (uint32_t u = 0; u < all->count; ++u)
        for (uint32_t s = 0;
             s < all->items[u].body->particles.slot_count && all->items[u].body->asleep; ++s)
            unit_add_particle(all->items[u].body, s, &all->items[u]);
}

static bool is_asleep(const unit* u)
{
    return u->body->asleep ||
           (u->piece != PL_NO_PIECE && u->body->fracture->pieces[u->piece].asleep);
}

static double* quiet_of(const unit* u)
{
    return u->piece == PL_NO_PIECE ? &u->body->quiet : &u->body->fracture->pieces[u->piece].quiet;
}

/* ------------------------------------------------------------------ neighbours */

static bool boxes_meet(const box* a, const box* b, double more)
{
    for (int k = 0; k < 3; ++k)
        if (!(a->lower[k] - more <= b->upper[k] && b->lower[k] <= a->upper[k] + more))
            return false;
    return true;
}

/* A body with welds is always one unit (is_apart). */
static bool spread_along_welds(const pl_scene* scene, units* all)
{
    bool any = false;
    for (size_t i = 0; i < scene->welds.count; ++i)
    {
        const pl_weld* weld = &scene->welds.items[i];
        uint32_t from = UINT32_MAX, to = UINT32_MAX;
        for (uint32_t u = 0; u < all->count && weld->other != PL_NO_BODY; ++u)
        {
            from = all->items[u].body == scene->bodies[weld->body] ? u : from;
            to = all->items[u].body == scene->bodies[weld->other] ? u : to;
        }
        if (to == UINT32_MAX || all->has[from] == all->has[to])
            continue;
        all->has[from] = all->has[to] = 1;
        any = true;
    }
    return any;
}

/* Spreads the flag to all units that are connected by overlapping AABBs or by welds. */
static void spread_to_neighbours(const pl_scene* scene, units* all)
{
    double more = 0;
    add_sleepers(all);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        more = fmax(more, pl_contact_thickness(scene->bodies[b], &scene->contact_settings));
    bool any = scene->cluster_contacts;
    while (!any && spread_along_welds(scene, all))
        ;
    while (any)
    {
        any = false;
        for (uint32_t a = 0; a < all->count; ++a)
            for (uint32_t b = 0; b < all->count && all->has[a]; ++b)
                if (!all->has[b] && boxes_meet(&all->items[a].around, &all->items[b].around, more))
                    all->has[b] = 1, any = true;
        any = spread_along_welds(scene, all) || any;
    }
}

/* ------------------------------------------------------------------ frames */

static bool may_sleep(const pl_scene* scene, const unit* u)
{
    return scene->sleep_speed > 0 && scene->field_count == 0 && !u->pinned &&
           !u->body->acceleration[0];
}

static void body_sleeps(pl_body* body)
{
    body->asleep = true;
    for (int k = 0; k < 3; ++k)
    {
        memset(body->particles.v[k], 0, sizeof(float) * body->particles.slot_count);
        body->remainder[k] = body->turn[k] = 0;
        body->components.impulse[k] = body->components.moment[k] = 0;
    }
    for (uint32_t c = 0; c < body->chunk_count; ++c)
    {
        pl_chunk* chunk = &body->chunks[c];
        for (int k = 0; k < 3; ++k)
            chunk->remainder[k] = chunk->torque[k] = 0;
        for (uint32_t row = 0; row < chunk->row_count; ++row)
        {
            float* sums = chunk->sums + (size_t)PL_SUM_FLOATS * row;
            memset(sums + PL_SUM_V, 0, 3 * sizeof *sums);
            memset(sums + PL_SUM_XV, 0, 3 * sizeof *sums);
        }
    }
    for (uint32_t c = 0; c < body->level_begin[1]; ++c)
        memset(body->clusters.sums[c] + 12, 0, 6 * sizeof(float)); /* velocity and spin */
}

/* Sets the velocities of sleeping pieces to 0. */
static pl_status stop_pieces(pl_body* body)
{
    const pl_fracture* f = body->fracture;
    uint32_t* piece = pl_pieces_of_slots(body);
    if (!piece)
        return pl_fail_memory((size_t)body->particles.slot_count * 4);
    for (uint32_t s = 0; s < body->particles.slot_count; ++s)
        for (int k = 0; k < 3 && piece[s] != PL_NO_PIECE && f->pieces[piece[s]].asleep; ++k)
            body->particles.v[k][s] = 0;
    pl_positions_changed(body);
    pl_free(piece);
    return PLIANT_OK;
}

/* Units without the flag fall asleep. A body whose last piece does so sleeps as a whole. */
static pl_status fall_asleep(pl_scene* scene, const units* all)
{
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        uint32_t fresh = 0, awake = 0;
        for (uint32_t u = 0; u < all->count && !body->asleep; ++u)
        {
            const unit* one = &all->items[u];
            if (one->body != body)
                continue;
            awake += all->has[u];
            fresh += !all->has[u] && !is_asleep(one);
            if (one->piece != PL_NO_PIECE && !all->has[u] && !is_asleep(one))
                pl_piece_sleep(body, one->piece);
        }
        if (!fresh)
            continue;
        if (awake)
            PL_TRY(stop_pieces(body));
        else
        {
            pl_pieces_wake(body); /* the whole body sleeps instead */
            body_sleeps(body);
        }
    }
    return PLIANT_OK;
}

pl_status pl_sleep_end_frame(pl_scene* scene, double dt)
{
    bool any = false;
    units all = {0};
    pl_status status = list_units(scene, &all);
    for (uint32_t u = 0; u < all.count && status == PLIANT_OK; ++u)
    {
        const unit* one = &all.items[u];
        all.has[u] = 0;
        if (is_asleep(one))
            continue;
        bool slow = may_sleep(scene, one) && sqrt(one->fastest) < scene->sleep_speed;
        double* quiet = quiet_of(one);
        *quiet = slow ? *quiet + dt : 0;
        all.has[u] = !(slow && *quiet >= scene->sleep_seconds); /* restless */
        any = any || !all.has[u];
    }
    if (any && status == PLIANT_OK)
    {
        spread_to_neighbours(scene, &all);
        status = fall_asleep(scene, &all);
    }
    units_free(&all);
    return status;
}

static bool comes_near(const pl_collider* collider, const pl_body* body, const box* own)
{
    pl_collider_step step;
    box around;
    bool runs = pl_collider_running(collider, body->origin, 1).on;
    if (collider->mesh)
        return pl_mesh_collider_sweep(collider->mesh, runs, around.lower, around.upper) &&
               boxes_meet(&around, own, collider->thickness);
    if (memcmp(&collider->from, &collider->to, sizeof collider->from) == 0 && !runs)
        return false;
    pl_collider_prepare(collider, body->origin, 0, 1, &step);
    for (int k = 0; k < 3; ++k)
        if (!(step.lower[k] <= own->upper[k] - body->origin[k] &&
              own->lower[k] - body->origin[k] <= step.upper[k]))
            return false;
    return true;
}

static void wake_unit(const unit* u)
{
    if (u->body->asleep || u->piece == PL_NO_PIECE)
        pl_wake(u->body);
    else
        pl_piece_wake(u->body, u->piece);
}

/* A restored body has no fits, and the stages that make them skip sleeping bodies. */
static pl_status fit_sleepers(pl_scene* scene)
{
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
        any = any || (scene->bodies[b]->asleep && !scene->bodies[b]->valid.rows);
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

/* Whether any body or piece sleeps. */
static bool any_asleep(const pl_scene* scene)
{
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        const pl_body* body = scene->bodies[b];
        if (body->asleep)
            return true;
        for (uint32_t p = 0; body->fracture && p < body->fracture->piece_count; ++p)
            if (body->fracture->pieces[p].asleep)
                return true;
    }
    return false;
}

pl_status pl_sleep_begin_frame(pl_scene* scene)
{
    bool any = false;
    units all = {0};
    PL_TRY(fit_sleepers(scene));
    if (!any_asleep(scene))
        return PLIANT_OK;
    pl_status status = list_units(scene, &all);
    add_sleepers(&all);
    for (uint32_t u = 0; u < all.count && status == PLIANT_OK; ++u)
        for (uint32_t i = 0; i < scene->collider_count && is_asleep(&all.items[u]); ++i)
            if (comes_near(scene->colliders[i], all.items[u].body, &all.items[u].around))
            {
                wake_unit(&all.items[u]);
                any = true;
            }
    units_free(&all);
    PL_TRY(status);
    for (size_t i = 0; i < scene->welds.count; ++i)
    {
        const pl_weld* weld = &scene->welds.items[i];
        any = any || (weld->other != PL_NO_BODY &&
                      scene->bodies[weld->body]->asleep != scene->bodies[weld->other]->asleep);
    }
    return any ? pl_sleep_wake_neighbours(scene) : PLIANT_OK;
}

pl_status pl_sleep_wake_neighbours(pl_scene* scene)
{
    units all = {0};
    pl_status status = list_units(scene, &all);
    /* only from units that woke just now: others may lie beside sleepers without waking them */
    for (uint32_t u = 0; u < all.count && status == PLIANT_OK; ++u)
        all.has[u] = !is_asleep(&all.items[u]) && *quiet_of(&all.items[u]) == 0;
    if (status == PLIANT_OK)
        spread_to_neighbours(scene, &all);
    for (uint32_t u = 0; u < all.count && status == PLIANT_OK; ++u)
        if (all.has[u] && is_asleep(&all.items[u]))
            wake_unit(&all.items[u]);
    units_free(&all);
    return status;
}
