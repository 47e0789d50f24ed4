// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Splitting a cluster (Jones, Martin, Levine, Shinar, Bargteil: Ductile Fracture for Clustered
 * Shape Matching, 2016). The plane goes through the centre of mass, normal to the direction of
 * largest stretch; members beyond it move to a new cluster. A particle that is also in clusters
 * whose centre is across the plane from it is divided, and these clusters get its copy:
 *
 *        . o . | D .        particle i is left of the plane, in the split cluster C and in D, whose
 *        . i . |   .        centre is right of it: i stays in C, its copy is in D with m w_D / W of
 *         C's  | new's      its mass, W being the sum of its weights
 *
 * So no particle of C connects the two sides any more, and every cluster keeps its mass. Masses are
 * whole quanta: the body's mass is conserved exactly.
 *
 * Departures: normals map to the rest shape by the transpose of F (published code used the
 * inverse), and the planes are recorded for the surfaces of cracks.
 */
#include "fracture/fracture_internal.h"

/* ------------------------------------------------------------------ plan */

static pl_member* add_members(pl_plan* plan, uint32_t count)
{
    if (!pl_grow((void**)&plan->members, &plan->member_capacity, plan->member_count + count,
                 sizeof *plan->members))
        return NULL;
    plan->member_count += count;
    return plan->members + plan->member_count - count;
}

/* Inserts a membership into a list of "count" sorted by cluster. */
static void insert_member(pl_member* list, uint32_t count, pl_member one)
{
    uint32_t at = count;
    for (; at > 0 && list[at - 1].cluster > one.cluster; --at)
        list[at] = list[at - 1];
    list[at] = one;
}

static bool is_beyond(vec3 x, const pl_fit* fit)
{
    return v3_dot(v3_sub(x, fit->x), fit->normal) > 0;
}

/* Side of another cluster: that of its centre, unless turn_small reversed it. */
static bool side_of(const pl_breaking* b, uint32_t cluster, const pl_fit* fit)
{
    bool beyond = is_beyond(v3_from(b->body->clusters.x[cluster]), fit);
    for (size_t i = 0; i < b->plan.turned_count; ++i)
        if (b->plan.turned[i] == cluster)
            return !beyond;
    return beyond;
}

/* Mass of the copy: moved / all of the quanta, rounded, with at least one quantum for each. */
static uint64_t share_quanta(uint64_t quanta, double moved, double all)
{
    uint64_t share = (uint64_t)(moved / all * (double)quanta + .5);
    return quanta < 2 ? 0 : PL_CLAMP(share, (uint64_t)1, quanta - 1);
}

/* Plans the member b->ids[index]. */
static bool plan_particle(pl_breaking* b, uint32_t index, const pl_fit* fit)
{
    const pl_body* body = b->body;
    const pl_particles* p = &body->particles;
    pl_plan* plan = &b->plan;
    const pl_list_of old = pl_known_of(&b->known, index);
    uint32_t id = b->ids[index], slot = p->slot_of[id], count = old.count;
    size_t first = plan->member_count;
    pl_member* list = add_members(plan, 2 * count);
    if (!list ||
        !pl_grow((void**)&plan->items, &plan->capacity, plan->count + 1, sizeof *plan->items))
        return false;
    vec3 x = v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]);
    bool beyond = plan->by_cells ? pl_voronoi_cells_side(b, id) : is_beyond(x, fit);
    pl_planned item = {.id = id, .side = beyond, .first = (uint32_t)first};
    pl_member* moved = list + count; /* temporary, moved behind the kept ones below */
    double all = 0, moved_weight = 0, own = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        pl_member one = old.members[i];
        double weight = (double)one.kernel * body->clusters.fade[one.cluster];
        all += weight;
        if (one.cluster == plan->cluster)
        {
            own = weight;
            one.cluster = beyond ? plan->fresh : one.cluster;
            insert_member(list, item.kept++, one);
        }
        else if (plan->by_cells || side_of(b, one.cluster, fit) == beyond)
            insert_member(list, item.kept++, one);
        else
        {
            moved[item.moved++] = one;
            moved_weight += weight;
        }
    }
    for (uint32_t i = 0; i < item.moved; ++i) /* close the gap */
        list[item.kept + i] = moved[i];
    plan->member_count -= count;
    if (item.moved && !(item.quanta = share_quanta(p->quanta[slot], moved_weight, all)))
        item.moved = 0; /* a single quantum cannot be divided: the particle leaves those clusters */
    double mw = p->mass[slot] * own / all;
    plan->mass[item.side] += mw;
    plan->x[item.side] = v3_mad(plan->x[item.side], x, mw);
    plan->items[plan->count++] = item;
    return true;
}

static pl_status make_plan(pl_breaking* b, uint32_t cluster, uint32_t fresh, const pl_fit* fit)
{
    pl_plan* plan = &b->plan;
    plan->cluster = cluster;
    plan->fresh = fresh;
    plan->count = plan->member_count = 0;
    for (int side = 0; side < 2; ++side)
        plan->mass[side] = 0, plan->x[side] = v3(0, 0, 0);
    for (uint32_t i = 0; i < fit->count; ++i)
        if (!plan_particle(b, i, fit))
            return pl_fail_memory((size_t)fit->count * 64);
    for (int side = 0; side < 2; ++side)
        if (plan->mass[side] > 0)
            plan->x[side] = v3_scale(plan->x[side], 1 / plan->mass[side]);
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ limits */

/* Whether the plan does not change a member. */
static bool is_left_alone(const pl_breaking* b, size_t index)
{
    const pl_planned* item = &b->plan.items[index];
    return item->side == 0 && item->kept == pl_known_of(&b->known, index).count;
}

/* Applies the plan to the graph, or reverts it. */
static pl_status share_plan(pl_breaking* b, bool undo)
{
    const pl_plan* plan = &b->plan;
    for (size_t i = 0; i < plan->count; ++i)
    {
        const pl_planned* item = &plan->items[i];
        const pl_member* members = plan->members + item->first;
        pl_list_of kept = {members, item->kept}, moved = {members + item->kept, item->moved};
        if (is_left_alone(b, i))
            continue;
        if (!(undo ? pl_shares_undo : pl_shares_change)(b, pl_known_of(&b->known, i), kept, moved))
            return pl_fail_memory(b->body->level_begin[1]);
    }
    return PLIANT_OK;
}

/* Applies the plan to the graph and finds the resulting components. */
static pl_status try_plan(pl_breaking* b)
{
    const pl_plan* plan = &b->plan;
    pl_clusters* k = &b->body->clusters;
    k->mass[plan->cluster] = (float)plan->mass[0];
    k->mass[plan->fresh] = (float)plan->mass[1];
    b->lost_count = 0;
    if (!pl_pieces_lose(b, plan->cluster) || !pl_pieces_lose(b, plan->fresh))
        return pl_fail_memory(8);
    PL_TRY(share_plan(b, false));
    return pl_pieces_look(b);
}

/* If components are too small (*any), reverses the side of their clusters: on the other side they
 * stay connected to the clusters that they share particles with. *hopeless: that cannot help,
 * because such a component contains a half of the split cluster or is the remainder. */
static pl_status turn_small(pl_breaking* b, bool* any, bool* hopeless)
{
    pl_plan* plan = &b->plan;
    double least = b->fracture->desc.smallest_piece * b->body->mass * (1 - 1e-6);
    *any = *hopeless = false;
    for (uint32_t i = 0; b->found.count > 1 && i < b->found.count; ++i)
    {
        const pl_part_found* part = &b->found.parts[i];
        if (!(part->mass < least))
            continue;
        *any = true;
        *hopeless = *hopeless || part->count == 0;
        if (!pl_grow((void**)&plan->turned, &plan->turned_capacity,
                     plan->turned_count + part->count, sizeof *plan->turned))
            return pl_fail_memory((plan->turned_count + part->count) * 4);
        for (uint32_t n = 0; n < part->count; ++n)
        {
            uint32_t c = b->found.clusters[part->first + n];
            *hopeless = *hopeless || c == plan->cluster || c == plan->fresh;
            plan->turned[plan->turned_count++] = c;
        }
    }
    return PLIANT_OK;
}

/* Whether both sides of the plane have at least the mass of the smallest piece. Otherwise a crack
 * along it can only detach a piece that is not allowed; starting it would leave a stretched bridge
 * that never breaks. */
static bool can_detach(const pl_breaking* b, uint32_t cluster, const pl_fit* fit)
{
    const pl_clusters* k = &b->body->clusters;
    double least = b->fracture->desc.smallest_piece * b->body->mass, mass[2] = {0, 0};
    if (!(least > 0))
        return true;
    for (uint32_t c = 0; c < b->body->level_begin[1]; ++c)
        if (k->fade[c] > 0 && k->piece[c] == k->piece[cluster] && c != cluster)
            mass[is_beyond(v3_from(k->x[c]), fit)] += k->mass[c];
    return mass[0] + .5 * fit->mass >= least && mass[1] + .5 * fit->mass >= least;
}

/* Finds a plan within the limits. *allowed: it was found and applied to the graph. */
static pl_status find_plan(pl_breaking* b, const pl_fit* fit, bool* allowed)
{
    const pliant_fracture_desc* desc = &b->fracture->desc;
    uint32_t cluster = b->plan.cluster, fresh = b->plan.fresh;
    bool small = false, hopeless = false;
    *allowed = false;
    for (int round = 0; round < 3 && !hopeless; ++round)
    {
        PL_TRY(try_plan(b));
        PL_TRY(turn_small(b, &small, &hopeless));
        *allowed = !small && (!desc->most_pieces ||
                              pl_pieces_now(b->body) + b->found.count - 1 <= desc->most_pieces);
        if (*allowed)
            return PLIANT_OK;
        PL_TRY(share_plan(b, true));
        if (!small || b->plan.by_cells) /* cells allow no alternative plan */
            return PLIANT_OK;
        PL_TRY(make_plan(b, cluster, fresh, fit));
    }
    return PLIANT_OK;
}

/* ------------------------------------------------------------------ applying the plan */

static pl_status divide(pl_breaking* b, const pl_planned* item)
{
    pl_fracture* f = b->fracture;
    const pl_particles* p = &b->body->particles;
    const pl_member* kept = b->plan.members + item->first;
    uint32_t copy;
    PL_TRY(pl_edit_part(b->edit, p->slot_of[item->id], item->quanta, kept, item->kept,
                        kept + item->kept, item->moved, &copy));
    if (!pl_grow((void**)&f->divided, &f->divided_capacity, f->divided_count + 1,
                 sizeof *f->divided))
        return pl_fail_memory(f->divided_count * sizeof *f->divided);
    f->divided[f->divided_count++] = (pl_divided){item->id, p->id[copy], !item->side};
    return PLIANT_OK;
}

static pl_status apply_plan(pl_breaking* b)
{
    const pl_plan* plan = &b->plan;
    for (size_t i = 0; i < plan->count; ++i)
    {
        const pl_planned* item = &plan->items[i];
        if (is_left_alone(b, i))
            continue;
        if (item->moved)
            PL_TRY(divide(b, item));
        else
            PL_TRY(pl_edit_put(b->edit, b->body->particles.slot_of[item->id],
                               plan->members + item->first, item->kept));
    }
    return PLIANT_OK;
}

/* Sets the state of the two clusters until the next fit, and marks clusters beside the crack. */
static void note_sides(pl_breaking* b)
{
    const pl_plan* plan = &b->plan;
    pl_clusters* k = &b->body->clusters;
    for (int side = 0; side < 2; ++side)
    {
        uint32_t c = side ? plan->fresh : plan->cluster;
        k->mass[c] = (float)plan->mass[side];
        v3_store(plan->x[side], k->x[c]);
        k->settling[c] = b->fracture->desc.settle != 0;
        k->split_time[c] = b->time;
        k->cracked[c] = 1;
    }
    for (size_t i = 0; i < plan->count; ++i)
    {
        /* without divided particles any cluster around may have members across the crack */
        const pl_planned* item = &plan->items[i];
        uint32_t from = plan->by_cells ? 0 : item->kept;
        for (uint32_t n = from; n < item->kept + item->moved; ++n)
            k->cracked[plan->members[item->first + n].cluster] = 1;
    }
}

/* Records the split with its plane in the body's rest shape. */
static pl_status record(pl_breaking* b, const pl_fit* fit)
{
    pl_fracture* f = b->fracture;
    pl_body* body = b->body;
    const float* g = body->clusters.from_body[b->plan.cluster];
    vec3 normal = m3_mulv(m3_transpose(fit->f), fit->normal);
    if (body->clusters.own[b->plan.cluster])
        normal = v3(g[0] * normal.x + g[3] * normal.y + g[6] * normal.z,
                    g[1] * normal.x + g[4] * normal.y + g[7] * normal.z,
                    g[2] * normal.x + g[5] * normal.y + g[8] * normal.z);
    normal = b->plan.by_cells ? b->plan.rest_normal : v3_normalised(normal);
    if (!pl_grow((void**)&f->splits, &f->split_capacity, f->split_count + 1, sizeof *f->splits))
        return pl_fail_memory(f->split_count * sizeof *f->splits);
    pl_split* split = &f->splits[f->split_count];
    *split = (pl_split){.moment = b->moment,
                        .substep = b->substep,
                        .cluster = b->plan.cluster,
                        .fresh = b->plan.fresh,
                        .reach = (float)fit->reach,
                        .divided_end = (uint32_t)f->divided_count};
    v3_store(b->plan.by_cells ? b->plan.rest_point : fit->in_body, split->point);
    v3_store(normal, split->normal);
    ++f->split_count;
    return PLIANT_OK;
}

/* Records the cut for contacts (cuts.h). */
static pl_status cut(pl_breaking* b)
{
    const pl_fracture* f = b->fracture;
    const pl_split* split = &f->splits[f->split_count - 1];
    const pl_plan* plan = &b->plan;
    vec3 normal = v3_from(split->normal);
    pl_cut_plane plane = {{split->normal[0], split->normal[1], split->normal[2],
                           (float)-v3_dot(normal, v3_from(split->point))}};
    uint32_t index;
    if (!(v3_length(normal) > .5))
        return PLIANT_OK; /* singular F: the plane is undefined */
    PL_TRY(pl_cuts_plane(b->body, &plane, &index));
    for (size_t i = 0; i < plan->count; ++i)
        PL_TRY(pl_cuts_note(b->body, plan->items[i].id, index, plan->items[i].side));
    for (size_t i = f->split_count > 1 ? split[-1].divided_end : 0; i < split->divided_end; ++i)
        PL_TRY(pl_cuts_note(b->body, f->divided[i].copy, index, f->divided[i].toward));
    return PLIANT_OK;
}

/* Whether both sides of the plane, or of the cells, have members. */
static pl_status find_sides(pl_breaking* b, const pl_fit* fit, bool* has)
{
    const pl_particles* p = &b->body->particles;
    uint32_t beyond = 0;
    b->plan.by_cells = b->fracture->cell_count > 0;
    if (b->plan.by_cells)
        return pl_voronoi_cells_divide(b, fit, has);
    for (uint32_t i = 0; i < fit->count; ++i)
    {
        uint32_t slot = p->slot_of[b->ids[i]];
        beyond += is_beyond(v3(p->x[0][slot], p->x[1][slot], p->x[2][slot]), fit);
    }
    *has = beyond > 0 && beyond < fit->count;
    return PLIANT_OK;
}

/* Delays the next attempt as after a split. */
static void refuse(pl_breaking* b, uint32_t cluster)
{
    b->body->clusters.settling[cluster] = 1;
    b->body->clusters.split_time[cluster] = b->time;
}

pl_status pl_split_cluster(pl_breaking* b, uint32_t cluster, const pl_fit* fit, bool* done)
{
    uint32_t fresh;
    pl_piece* piece = &b->fracture->pieces[b->body->clusters.piece[cluster]];
    bool parts;
    *done = false;
    PL_TRY(find_sides(b, fit, &parts));
    if (!parts || !can_detach(b, cluster, fit))
        return PLIANT_OK;
    PL_TRY(pl_edit_add_cluster(b->edit, cluster, &fresh));
    ++piece->clusters;
    b->plan.turned_count = 0;
    PL_TRY(make_plan(b, cluster, fresh, fit));
    PL_TRY(find_plan(b, fit, done));
    if (!*done)
    {
        --piece->clusters;
        b->body->clusters.mass[cluster] = (float)fit->mass;
        refuse(b, cluster);
        pl_edit_drop_cluster(b->edit, fresh);
        return PLIANT_OK;
    }
    PL_TRY(apply_plan(b));
    PL_TRY(pl_pieces_part(b));
    note_sides(b);
    PL_TRY(record(b, fit));
    PL_TRY(cut(b));
    b->any = true;
    return pl_note_small(b, cluster) && pl_note_small(b, fresh) ? PLIANT_OK : pl_fail_memory(64);
}
