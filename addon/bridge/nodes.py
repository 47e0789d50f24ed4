# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that change from frame to frame, as attributes of a mesh, without Pliant running.

Blender plays positions from files, but no other attribute. So the values are the positions of a
companion: an object that is in no collection, whose own Mesh Cache modifier moves its vertices. A
Geometry Nodes modifier copies them from there, bit for bit, in whatever Blender the file is opened.
"""
import bpy


OFFSET_NODE = "Pliant Offset"


def companion(name, vertices):
    """An object of loose vertices that nobody sees."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(vertices)
    return bpy.data.objects.new(name, mesh)


def remove_companion(obj):
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


class Builder:
    """A Geometry Nodes group under construction: one geometry in, one out."""

    def __init__(self, name):
        self.group = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            self.group.interface.new_socket("Geometry", in_out=direction,
                                            socket_type="NodeSocketGeometry")
        self._column = 0
        self._geometry = self.node("NodeGroupInput").outputs[0]

    def node(self, kind, inputs=(), **settings):
        """A node; inputs: a value or an output for each name."""
        node = self.group.nodes.new(kind)
        node.location.x, self._column = 200 * self._column, self._column + 1
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in dict(inputs).items():
            socket = next(s for s in node.inputs if s.name == name and s.enabled)
            if isinstance(value, bpy.types.NodeSocket):
                self.group.links.new(value, socket)
            else:
                socket.default_value = value
        return node

    def sampled(self, source, offset):
        """The position of the companion's vertex index + offset."""
        info = self.node("GeometryNodeObjectInfo", {"Object": source}, transform_space="ORIGINAL")
        index = self.node("GeometryNodeInputIndex").outputs[0]
        if offset:
            # whole numbers, exact up to 16 million particles in any Blender
            add = self.node("ShaderNodeMath", operation="ADD", name=OFFSET_NODE)
            self.group.links.new(index, add.inputs[0])
            add.inputs[1].default_value = offset
            index = add.outputs[0]
        position = self.node("GeometryNodeInputPosition").outputs[0]
        node = self.node("GeometryNodeSampleIndex", {"Geometry": info.outputs["Geometry"]},
                         data_type="FLOAT_VECTOR", domain="POINT")
        for name, value in (("Value", position), ("Index", index)):
            self.group.links.new(value, next(s for s in node.inputs
                                             if s.name == name and s.enabled))
        return next(s for s in node.outputs if s.enabled)

    def parts(self, vector):
        return self.node("ShaderNodeSeparateXYZ", {"Vector": vector}).outputs

    def store(self, name, value, data_type):
        """Keeps a value as a point attribute of the geometry."""
        node = self.node("GeometryNodeStoreNamedAttribute",
                         {"Geometry": self._geometry, "Name": name}, data_type=data_type,
                         domain="POINT")
        self.group.links.new(value, next(s for s in node.inputs
                                         if s.name == "Value" and s.enabled))
        self._geometry = node.outputs[0]

    def to_points(self, radius):
        """Makes a point cloud of the vertices."""
        node = self.node("GeometryNodeMeshToPoints", {"Mesh": self._geometry, "Radius": radius})
        self._geometry = node.outputs[0]

    def finish(self):
        self.node("NodeGroupOutput", {"Geometry": self._geometry})
        return self.group


def velocity_group(source):
    """A group that gives each vertex the position of the companion's as its "velocity"."""
    builder = Builder("Pliant Velocity")
    builder.store("velocity", builder.sampled(source, 0), "FLOAT_VECTOR")
    return builder.finish()


def particle_group(source, count, radius):
    """Velocity from the companion's first `count` vertices, stretch and plastic strain from x
    and y of those after them; radius: of the points that particles become, None: they stay vertices."""
    builder = Builder("Pliant Particles")
    builder.store("velocity", builder.sampled(source, 0), "FLOAT_VECTOR")
    strains = builder.parts(builder.sampled(source, count))
    builder.store("stretch", strains[0], "FLOAT")
    builder.store("plastic_strain", strains[1], "FLOAT")
    if radius is not None:
        builder.to_points(radius)
    return builder.finish()


def set_particle_count(group, count):
    """Tells a particle_group() that there are now this many particles."""
    node = group.nodes.get(OFFSET_NODE)
    if node is not None:
        node.inputs[1].default_value = count
