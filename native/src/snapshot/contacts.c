// SPDX-License-Identifier: GPL-3.0-or-later
#include "snapshot/contacts.h"

#include "collision/mesh/mesh_collider.h"

static bool planes_fit(const pl_proxies* proxies, uint32_t clusters, uint32_t planes)
{
    if (!proxies->plane_begin)
        return planes == 0;
    if (proxies->plane_begin[0] != 0 || proxies->plane_begin[clusters] != planes ||
        (planes && !proxies->plane))
        return false;
    for (uint32_t c = 0; c < clusters; ++c)
        if (proxies->plane_begin[c] > proxies->plane_begin[c + 1])
            return false;
    for (uint32_t i = 0; i < planes; ++i)
    {
        double length = v3_length(v3_from(proxies->plane[i]));
        if (!(length > .5 && length < 2 && isfinite(proxies->plane[i][3])))
            return false;
    }
    return true;
}

static bool held_fit(const pl_collision_filter* rules, uint32_t clusters)
{
    if (rules->held_count && !rules->held)
        return false;
    for (size_t i = 0; i < rules->held_count; ++i)
    {
        uint32_t a = (uint32_t)(rules->held[i] >> 32), b = (uint32_t)rules->held[i];
        if (a >= b || b >= clusters || (i && rules->held[i - 1] >= rules->held[i]))
            return false;
    }
    return true;
}

void pl_save_proxies(pl_archive* a, pl_body* body)
{
    pl_proxies* proxies = &body->proxies;
    uint32_t clusters = body->level_begin[1];
    uint32_t planes = proxies->plane_begin ? proxies->plane_begin[clusters] : 0;
    uint64_t held = body->collision_filter.held_count;
    pl_archive_tag(a, "PROX");
    pl_archive_u32(a, &body->contact_groups);
    pl_archive_bool(a, &body->no_self_contact);
    pl_archive_f64(a, &body->friction);
    pl_archive_f64(a, &body->restitution);
    pl_archive_f64(a, &body->thickness);
    pl_archive_bool(a, &body->asleep);
    pl_archive_f64(a, &body->quiet);
    pl_archive_u32(a, &planes);
    pl_archive_u64(a, &held);
    PL_ARCHIVE_ARRAY(a, proxies->plane_begin, (uint64_t)clusters + 1);
    PL_ARCHIVE_ARRAY(a, proxies->plane, planes);
    PL_ARCHIVE_ARRAY(a, body->collision_filter.held, held);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    proxies->plane_capacity = proxies->plane ? planes : 0;
    proxies->count = proxies->plane_begin ? clusters : 0;
    body->collision_filter.held_count = (size_t)held;
    pl_archive_require(a, planes_fit(proxies, clusters, planes), "the half-spaces of clusters");
    pl_archive_require(a,
                       isfinite(body->friction) && body->restitution <= 1 &&
                           isfinite(body->restitution) && isfinite(body->thickness),
                       "the surface of a body");
    pl_archive_require(a, held_fit(&body->collision_filter, clusters),
                       "the clusters that do not collide yet");
}

static bool cuts_fit(const pl_cuts* cuts, const pl_particles* p)
{
    if (cuts->id_count > p->id_count || (cuts->plane_count && !cuts->plane) ||
        (cuts->count && !cuts->cut) || (cuts->id_count && !cuts->last))
        return false;
    for (uint32_t i = 0; i < cuts->plane_count; ++i)
    {
        double length = v3_length(v3_from(cuts->plane[i].plane));
        if (!(length > .5 && length < 2 && isfinite(cuts->plane[i].plane[3])))
            return false;
    }
    for (uint32_t i = 0; i < cuts->count; ++i)
        if (cuts->cut[i].particle >= cuts->id_count || cuts->cut[i].before > i ||
            cuts->cut[i].side / 2 >= cuts->plane_count)
            return false;
    for (uint32_t i = 0; i < cuts->id_count; ++i)
        if (cuts->last[i] > cuts->count)
            return false;
    return true;
}

void pl_save_cuts(pl_archive* a, pl_body* body)
{
    pl_cuts* cuts = &body->cuts;
    pl_archive_tag(a, "CUTS");
    pl_archive_u32(a, &cuts->plane_count);
    pl_archive_u32(a, &cuts->count);
    pl_archive_u32(a, &cuts->id_count);
    PL_ARCHIVE_ARRAY(a, cuts->plane, cuts->plane_count);
    PL_ARCHIVE_ARRAY(a, cuts->cut, cuts->count);
    PL_ARCHIVE_ARRAY(a, cuts->last, cuts->id_count);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    cuts->plane_capacity = cuts->plane_count, cuts->capacity = cuts->count;
    cuts->last_capacity = cuts->id_count;
    pl_archive_require(a, cuts_fit(cuts, &body->particles), "where a body was split");
}

void pl_save_contact_settings(pl_archive* a, pl_scene* scene)
{
    pl_contact_settings* s = &scene->contact_settings;
    pl_archive_tag(a, "TOUC");
    pl_archive_f64(a, &scene->sleep_speed);
    pl_archive_f64(a, &scene->sleep_seconds);
    pl_archive_bool(a, &scene->cluster_contacts);
    pl_archive_f64(a, &s->stiffness);
    pl_archive_f64(a, &s->friction);
    pl_archive_f64(a, &s->restitution);
    pl_archive_f64(a, &s->thickness);
    pl_archive_u32(a, &s->iterations);
    pl_archive_require(a,
                       scene->sleep_speed >= 0 && scene->sleep_seconds >= 0 &&
                           isfinite(scene->sleep_speed) && isfinite(scene->sleep_seconds),
                       "when bodies fall asleep");
    pl_archive_require(a,
                       s->stiffness >= 0 && s->stiffness <= 1 && s->friction >= 0 &&
                           s->restitution >= 0 && s->restitution <= 1 && s->thickness >= 0 &&
                           isfinite(s->friction) && isfinite(s->thickness) && s->iterations <= 1000,
                       "the settings of contacts");
}

/* Whether a weld refers to existing objects. */
static bool weld_fits(const pl_scene* scene, const pl_weld* weld)
{
    if (weld->body >= scene->body_count || !(weld->most >= 0) || !v3_finite(v3_fromd(weld->anchor)))
        return false;
    const pl_particles* p = &scene->bodies[weld->body]->particles;
    if (weld->particle >= p->id_count || p->slot_of[weld->particle] >= p->slot_count)
        return false;
    if (weld->other == PL_NO_BODY)
    {
        const pl_mesh_collider* mesh =
            weld->target < scene->collider_count ? scene->colliders[weld->target]->mesh : NULL;
        return weld->target < scene->collider_count &&
               (!mesh || weld->triangle < mesh->triangle_count) && isfinite(weld->weights[0]) &&
               isfinite(weld->weights[1]);
    }
    return weld->other < scene->body_count && weld->other != weld->body &&
           weld->target < scene->bodies[weld->other]->level_begin[1];
}

void pl_save_welds(pl_archive* a, pl_scene* scene)
{
    uint64_t count = scene->welds.count;
    pl_archive_tag(a, "BOND");
    pl_archive_u64(a, &count);
    if (pl_archive_reading(a))
        scene->welds.count = 0;
    for (uint64_t i = 0; i < count && !pl_archive_failed(a); ++i)
    {
        pl_weld weld = {0};
        if (!pl_archive_reading(a))
            weld = scene->welds.items[i];
        pl_archive_u32(a, &weld.body);
        pl_archive_u32(a, &weld.particle);
        pl_archive_u32(a, &weld.other);
        pl_archive_u32(a, &weld.target);
        pl_archive_u32(a, &weld.triangle);
        for (int k = 0; k < 2; ++k)
            pl_archive_f64(a, &weld.weights[k]);
        for (int k = 0; k < 3; ++k)
            pl_archive_f64(a, &weld.anchor[k]);
        pl_archive_f64(a, &weld.most);
        if (!pl_archive_reading(a) || pl_archive_failed(a))
            continue;
        bool fits =
            weld_fits(scene, &weld) && pl_grow((void**)&scene->welds.items, &scene->welds.capacity,
                                               (size_t)i + 1, sizeof weld);
        pl_archive_require(a, fits, "a weld");
        if (fits)
            scene->welds.items[scene->welds.count++] = weld;
    }
}

static bool restitution_side_fits(const pl_scene* scene, pl_restitution_side b)
{
    if (b.body >= scene->body_count)
        return false;
    const pl_fracture* f = scene->bodies[b.body]->fracture;
    return b.piece == 0 || (f && b.piece < f->piece_count);
}

void pl_save_encounters(pl_archive* a, pl_scene* scene)
{
    uint64_t count = scene->encounters.count;
    pl_archive_tag(a, "RBND");
    pl_archive_u64(a, &count);
    PL_ARCHIVE_ARRAY(a, scene->encounters.items, count);
    if (!pl_archive_reading(a) || pl_archive_failed(a))
        return;
    scene->encounters.count = scene->encounters.capacity =
        scene->encounters.items ? (size_t)count : 0;
    for (size_t i = 0; i < scene->encounters.count; ++i)
    {
        const pl_encounter* r = &scene->encounters.items[i];
        pl_archive_require(
            a,
            pl_restitution_side_before(r->a, r->b) && restitution_side_fits(scene, r->a) &&
                restitution_side_fits(scene, r->b) && isfinite(r->approach) && isfinite(r->age) &&
                r->weight >= 0 && isfinite(r->weight) && r->restitution >= 0 &&
                r->restitution <= 1 && v3_finite(v3_fromd(r->way)) &&
                v3_finite(v3_fromd(r->pressed)) && v3_finite(v3_fromd(r->at)),
            "bodies that bounce");
    }
}
