// SPDX-License-Identifier: GPL-3.0-or-later
/* Fields and pressure: accelerations of particles in one substep. */
#include "body/validity.h"
#include "dynamics/pressure.h"
#include "dynamics/substep.h"

#include <string.h>

static void field_items(void* context, uint32_t begin, uint32_t end, uint32_t worker)
{
    const pl_substep* step = context;
    (void)worker;
    for (uint32_t i = begin; i < end; ++i)
    {
        const pl_item* item = &step->scene->chunks.items[i];
        pl_body* body = item->body;
        if (!body->valid.forces)
            continue;
        const pl_chunk* chunk = &body->chunks[item->begin];
        const float *x[3], *v[3];
        float* a[3];
        for (int k = 0; k < 3; ++k)
        {
            x[k] = body->particles.x[k] + chunk->slot_begin;
            v[k] = body->particles.v[k] + chunk->slot_begin;
            a[k] = body->force[k] + chunk->slot_begin;
            memset(a[k], 0, sizeof(float) * 8 * chunk->block_count);
        }
        for (uint32_t f = 0; f < step->scene->field_count; ++f)
            pl_field_add(&step->fields[f], body->origin, 8 * chunk->block_count, x, v, a);
    }
}

void pl_forces_free(pl_body* body)
{
    for (int k = 0; k < 3; ++k)
    {
        pl_free(body->force[k]);
        body->force[k] = NULL;
    }
}

pl_status pl_apply_forces(pl_substep* step)
{
    pl_scene* scene = step->scene;
    bool any = false;
    for (uint32_t b = 0; b < scene->body_count; ++b)
    {
        pl_body* body = scene->bodies[b];
        pl_forces_changed(body);
        if (body->asleep || (scene->field_count == 0 && body->material.pressure <= 0))
            continue;
        for (int k = 0; k < 3; ++k)
            if (!body->force[k] && !(body->force[k] = PL_NEW(float, body->particles.slot_count)))
                return pl_fail_memory((size_t)body->particles.slot_count * 4);
        pl_forces_begun(body);
        any = true;
    }
    if (any)
        pl_substep_run(step, &scene->chunks, 1, field_items);
    for (uint32_t b = 0; b < scene->body_count; ++b)
        if (scene->bodies[b]->material.pressure > 0 && !scene->bodies[b]->asleep)
            pl_pressure_add(scene->bodies[b], step->dt, scene->pool);
    return PLIANT_OK;
}
