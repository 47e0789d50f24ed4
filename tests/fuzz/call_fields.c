// SPDX-License-Identifier: GPL-3.0-or-later
#include "call_fields.h"

/* clang-format off */
#define U(type, field, most) {offsetof(type, field), most}
#define D(type, field) {offsetof(type, field), 0}
#define COUNT(list) (sizeof(list) / sizeof *(list))

static const call_field scene_fields[] = {
    U(pliant_scene_desc, size, UINT32_MAX), U(pliant_scene_desc, threads, 2),
    U(pliant_scene_desc, simd, UINT32_MAX), U(pliant_scene_desc, reserved, UINT32_MAX),
    D(pliant_scene_desc, gravity[0]), D(pliant_scene_desc, gravity[1]),
    D(pliant_scene_desc, gravity[2]),
};

static const call_field frame_fields[] = {
    U(pliant_frame_desc, size, UINT32_MAX), U(pliant_frame_desc, substeps, 4),
    U(pliant_frame_desc, max_substeps, 4), U(pliant_frame_desc, reserved, UINT32_MAX),
    D(pliant_frame_desc, dt),
};

static const call_field material_fields[] = {
    U(pliant_material_desc, size, UINT32_MAX), U(pliant_material_desc, stiffness_kind, UINT32_MAX),
    D(pliant_material_desc, stiffness), D(pliant_material_desc, damping),
    D(pliant_material_desc, density), D(pliant_material_desc, strain_limit),
    D(pliant_material_desc, strain_relaxation), U(pliant_material_desc, strain_iterations, 8),
    U(pliant_material_desc, goal, UINT32_MAX), D(pliant_material_desc, beta),
    U(pliant_material_desc, rotation, UINT32_MAX),
    U(pliant_material_desc, damping_per_step, UINT32_MAX), D(pliant_material_desc, pressure),
    D(pliant_material_desc, inflation), D(pliant_material_desc, drag),
    D(pliant_material_desc, yield), D(pliant_material_desc, flow),
    D(pliant_material_desc, hardening), D(pliant_material_desc, plastic_limit),
    U(pliant_material_desc, flow_per_step, UINT32_MAX),
    U(pliant_material_desc, recluster, UINT32_MAX), D(pliant_material_desc, recluster_condition),
    D(pliant_material_desc, recluster_fade_in), D(pliant_material_desc, recluster_fade_out),
    U(pliant_material_desc, recluster_least, 8), U(pliant_material_desc, resample, UINT32_MAX),
};

static const call_field fracture_fields[] = {
    U(pliant_fracture_desc, size, UINT32_MAX), U(pliant_fracture_desc, settle, UINT32_MAX),
    D(pliant_fracture_desc, toughness), D(pliant_fracture_desc, boost),
    D(pliant_fracture_desc, falloff), D(pliant_fracture_desc, first_time),
    D(pliant_fracture_desc, smallest_piece), U(pliant_fracture_desc, most_pieces, UINT32_MAX),
    U(pliant_fracture_desc, cells, 32), U(pliant_fracture_desc, cell_seed, UINT32_MAX),
    U(pliant_fracture_desc, reserved, UINT32_MAX),
};

static const call_field collider_fields[] = {
    U(pliant_collider_desc, size, UINT32_MAX), U(pliant_collider_desc, shape, UINT32_MAX),
    D(pliant_collider_desc, pose.position[0]), D(pliant_collider_desc, pose.position[1]),
    D(pliant_collider_desc, pose.position[2]), D(pliant_collider_desc, pose.rotation[0]),
    D(pliant_collider_desc, pose.rotation[1]), D(pliant_collider_desc, pose.rotation[2]),
    D(pliant_collider_desc, pose.rotation[3]), D(pliant_collider_desc, pose.extent[0]),
    D(pliant_collider_desc, pose.extent[1]), D(pliant_collider_desc, pose.extent[2]),
    D(pliant_collider_desc, friction), D(pliant_collider_desc, restitution),
    D(pliant_collider_desc, thickness), U(pliant_collider_desc, inside_out, UINT32_MAX),
    U(pliant_collider_desc, groups, UINT32_MAX), D(pliant_collider_desc, surface_velocity[0]),
    D(pliant_collider_desc, surface_velocity[1]), D(pliant_collider_desc, surface_velocity[2]),
    D(pliant_collider_desc, surface_spin[0]), D(pliant_collider_desc, surface_spin[1]),
    D(pliant_collider_desc, surface_spin[2]), D(pliant_collider_desc, surface_centre[0]),
    D(pliant_collider_desc, surface_centre[1]), D(pliant_collider_desc, surface_centre[2]),
};

static const call_field contact_fields[] = {
    U(pliant_contact_desc, size, UINT32_MAX), U(pliant_contact_desc, enabled, UINT32_MAX),
    D(pliant_contact_desc, stiffness), D(pliant_contact_desc, friction),
    D(pliant_contact_desc, restitution), D(pliant_contact_desc, thickness),
    U(pliant_contact_desc, iterations, 8), U(pliant_contact_desc, reserved, UINT32_MAX),
};

static const call_field weld_fields[] = {
    U(pliant_weld_desc, size, UINT32_MAX), U(pliant_weld_desc, reserved, UINT32_MAX),
    D(pliant_weld_desc, distance), D(pliant_weld_desc, strength),
};

static const call_field field_fields[] = {
    U(pliant_field_desc, size, UINT32_MAX), U(pliant_field_desc, kind, UINT32_MAX),
    U(pliant_field_desc, shape, UINT32_MAX), U(pliant_field_desc, falloff_type, UINT32_MAX),
    U(pliant_field_desc, side, UINT32_MAX), U(pliant_field_desc, use_min_distance, UINT32_MAX),
    U(pliant_field_desc, use_max_distance, UINT32_MAX),
    U(pliant_field_desc, use_radial_min, UINT32_MAX),
    U(pliant_field_desc, use_radial_max, UINT32_MAX),
    U(pliant_field_desc, use_gravity_falloff, UINT32_MAX),
    U(pliant_field_desc, use_global_coords, UINT32_MAX),
    U(pliant_field_desc, use_2d_force, UINT32_MAX), D(pliant_field_desc, matrix[0]),
    D(pliant_field_desc, matrix[1]), D(pliant_field_desc, matrix[2]),
    D(pliant_field_desc, matrix[3]), D(pliant_field_desc, matrix[4]),
    D(pliant_field_desc, matrix[5]), D(pliant_field_desc, matrix[6]),
    D(pliant_field_desc, matrix[7]), D(pliant_field_desc, matrix[8]),
    D(pliant_field_desc, matrix[9]), D(pliant_field_desc, matrix[10]),
    D(pliant_field_desc, matrix[11]), D(pliant_field_desc, matrix[12]),
    D(pliant_field_desc, matrix[13]), D(pliant_field_desc, matrix[14]),
    D(pliant_field_desc, matrix[15]), D(pliant_field_desc, strength), D(pliant_field_desc, flow),
    D(pliant_field_desc, inflow), D(pliant_field_desc, falloff_power),
    D(pliant_field_desc, distance_min), D(pliant_field_desc, distance_max),
    D(pliant_field_desc, radial_falloff), D(pliant_field_desc, radial_min),
    D(pliant_field_desc, radial_max), D(pliant_field_desc, harmonic_damping),
    D(pliant_field_desc, rest_length), D(pliant_field_desc, linear_drag),
    D(pliant_field_desc, quadratic_drag), D(pliant_field_desc, noise_size),
    D(pliant_field_desc, wind_factor),
};

static const call_field skin_fields[] = {
    U(pliant_skin_desc, size, UINT32_MAX), D(pliant_skin_desc, origin[0]),
    D(pliant_skin_desc, origin[1]), D(pliant_skin_desc, origin[2]), D(pliant_skin_desc, radius),
    U(pliant_skin_desc, rebind, UINT32_MAX),
};

static const call_field body_fields[] = {
    U(pliant_body_desc, size, UINT32_MAX), D(pliant_body_desc, points_origin[0]),
    D(pliant_body_desc, points_origin[1]), D(pliant_body_desc, points_origin[2]),
    U(pliant_body_desc, sample.size, UINT32_MAX), U(pliant_body_desc, sample.mode, UINT32_MAX),
    U(pliant_body_desc, sample.count, 64), U(pliant_body_desc, sample.seed, UINT32_MAX),
    D(pliant_body_desc, sample.spacing), D(pliant_body_desc, sample.thickness),
    U(pliant_body_desc, sample.shells_apart, UINT32_MAX),
    U(pliant_body_desc, sample.reserved, UINT32_MAX),
    U(pliant_body_desc, cluster.size, UINT32_MAX),
    U(pliant_body_desc, cluster.algorithm, UINT32_MAX),
    U(pliant_body_desc, cluster.kernel, UINT32_MAX), U(pliant_body_desc, cluster.count, 64),
    D(pliant_body_desc, cluster.cluster_size), D(pliant_body_desc, cluster.radius),
    D(pliant_body_desc, cluster.overlap), D(pliant_body_desc, cluster.kernel_parameter),
    U(pliant_body_desc, cluster.max_iterations, 30), U(pliant_body_desc, cluster.seed, UINT32_MAX),
    U(pliant_body_desc, cluster.fixed, UINT32_MAX),
    U(pliant_body_desc, cluster.reserved, UINT32_MAX),
    U(pliant_body_desc, levels.size, UINT32_MAX), U(pliant_body_desc, levels.kind, UINT32_MAX),
    U(pliant_body_desc, levels.count, 64), U(pliant_body_desc, levels.reduction, UINT32_MAX),
    D(pliant_body_desc, levels.radius_multiplier),
    U(pliant_body_desc, levels.weighting, UINT32_MAX),
    U(pliant_body_desc, levels.favour_fine, UINT32_MAX), D(pliant_body_desc, levels.a),
    D(pliant_body_desc, levels.b), D(pliant_body_desc, levels.damping[0]),
    D(pliant_body_desc, levels.damping[1]), D(pliant_body_desc, levels.damping[2]),
    D(pliant_body_desc, levels.damping[3]), U(pliant_body_desc, material.size, UINT32_MAX),
    U(pliant_body_desc, material.stiffness_kind, UINT32_MAX),
    D(pliant_body_desc, material.stiffness), D(pliant_body_desc, material.damping),
    D(pliant_body_desc, material.density), D(pliant_body_desc, material.strain_limit),
    D(pliant_body_desc, material.strain_relaxation),
    U(pliant_body_desc, material.strain_iterations, 8),
    U(pliant_body_desc, material.goal, UINT32_MAX), D(pliant_body_desc, material.beta),
    U(pliant_body_desc, material.rotation, UINT32_MAX),
    U(pliant_body_desc, material.damping_per_step, UINT32_MAX),
    D(pliant_body_desc, material.pressure), D(pliant_body_desc, material.inflation),
    D(pliant_body_desc, material.drag), D(pliant_body_desc, material.yield),
    D(pliant_body_desc, material.flow), D(pliant_body_desc, material.hardening),
    D(pliant_body_desc, material.plastic_limit),
    U(pliant_body_desc, material.flow_per_step, UINT32_MAX),
    U(pliant_body_desc, material.recluster, UINT32_MAX),
    D(pliant_body_desc, material.recluster_condition),
    D(pliant_body_desc, material.recluster_fade_in),
    D(pliant_body_desc, material.recluster_fade_out),
    U(pliant_body_desc, material.recluster_least, 8),
    U(pliant_body_desc, material.resample, UINT32_MAX), D(pliant_body_desc, velocity[0]),
    D(pliant_body_desc, velocity[1]), D(pliant_body_desc, velocity[2]),
    D(pliant_body_desc, angular_velocity[0]), D(pliant_body_desc, angular_velocity[1]),
    D(pliant_body_desc, angular_velocity[2]),
};

/* clang-format on */

void call_change(fuzz_input* in, void* desc, uint32_t count, const call_field* fields)
{
    uint32_t changes = fuzz_u8(in) % 6;
    for (uint32_t i = 0; i < changes; ++i)
    {
        const call_field* field = &fields[fuzz_u8(in) % count];
        if (field->most)
        {
            uint32_t value = fuzz_whole(in);
            value = value < field->most ? value : field->most;
            memcpy((char*)desc + field->offset, &value, sizeof value);
            continue;
        }
        double value = fuzz_number(in);
        memcpy((char*)desc + field->offset, &value, sizeof value);
    }
}

pliant_scene_desc call_scene(fuzz_input* in)
{
    pliant_scene_desc desc;
    pliant_scene_desc_init(&desc, sizeof desc);
    desc.threads = 1;
    call_change(in, &desc, COUNT(scene_fields), scene_fields);
    return desc;
}

pliant_frame_desc call_frame(fuzz_input* in)
{
    pliant_frame_desc desc;
    pliant_frame_desc_init(&desc, sizeof desc);
    desc.substeps = 2;
    call_change(in, &desc, COUNT(frame_fields), frame_fields);
    return desc;
}

pliant_material_desc call_material(fuzz_input* in)
{
    pliant_material_desc desc;
    pliant_material_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(material_fields), material_fields);
    return desc;
}

pliant_fracture_desc call_fracture(fuzz_input* in)
{
    pliant_fracture_desc desc;
    pliant_fracture_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(fracture_fields), fracture_fields);
    return desc;
}

pliant_collider_desc call_collider(fuzz_input* in)
{
    pliant_collider_desc desc;
    pliant_collider_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(collider_fields), collider_fields);
    return desc;
}

pliant_contact_desc call_contacts(fuzz_input* in)
{
    pliant_contact_desc desc;
    pliant_contact_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(contact_fields), contact_fields);
    return desc;
}

pliant_weld_desc call_weld(fuzz_input* in)
{
    pliant_weld_desc desc;
    pliant_weld_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(weld_fields), weld_fields);
    return desc;
}

pliant_field_desc call_field_desc(fuzz_input* in)
{
    pliant_field_desc desc;
    pliant_field_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(field_fields), field_fields);
    return desc;
}

pliant_skin_desc call_skin(fuzz_input* in)
{
    pliant_skin_desc desc;
    pliant_skin_desc_init(&desc, sizeof desc);
    call_change(in, &desc, COUNT(skin_fields), skin_fields);
    return desc;
}

pliant_body_desc call_body(fuzz_input* in)
{
    pliant_body_desc desc;
    pliant_body_desc_init(&desc, sizeof desc);
    desc.sample.count = 40;
    desc.cluster.count = 4;
    desc.cluster.max_iterations = 30;
    call_change(in, &desc, COUNT(body_fields), body_fields);
    /* a small spacing is valid but slow */
    if (desc.sample.spacing > 0 && desc.sample.spacing < .2)
        desc.sample.spacing = .2;
    return desc;
}
