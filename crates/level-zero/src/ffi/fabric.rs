//! The fabric: a vertex for each device, and no edges, as nothing connects them.

use super::driver::devices;
use super::types::VertexProperties;
use super::{Handle, api, change, enumerate, get, put};
use crate::objects::vertex::Vertex;
use opencl_sys as cl;
use std::sync::Arc;
use visakit_driver::device::{Device, Platform};
use visakit_driver::handle::{Object, export};

fn handle(vertex: &Arc<Vertex>) -> Handle {
    let known = vertex.handle().get();
    super::pointer(if known == 0 { export(vertex) } else { known })
}

fn vertices() -> Vec<Handle> {
    devices()
        .iter()
        .map(|device| handle(&Vertex::of(device)))
        .collect()
}

api! {
    fn zeFabricVertexGetExp(driver: Handle, count: *mut u32, to: *mut Handle) {
        get::<Platform>(driver)?;
        enumerate(count, to, vertices().into_iter())
    }

    fn zeFabricVertexGetSubVerticesExp(vertex: Handle, count: *mut u32, to: *mut Handle) {
        get::<Vertex>(vertex)?;
        enumerate(count, to, std::iter::empty())
    }

    fn zeFabricVertexGetPropertiesExp(vertex: Handle, to: *mut VertexProperties) {
        let vertex = get::<Vertex>(vertex)?;
        let uuid = vertex.device.info(cl::CL_DEVICE_UUID_KHR)?;
        change(to, |properties| {
            // `ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE`, of this machine.
            (properties.kind, properties.remote) = (1, 0);
            properties.address = vertex.device.model.bus();
            for (to, from) in properties.uuid.iter_mut().zip(uuid) {
                *to = from;
            }
        })
    }

    fn zeFabricVertexGetDeviceExp(vertex: Handle, to: *mut Handle) {
        put(to, super::pointer(get::<Vertex>(vertex)?.device.handle().get()))
    }

    fn zeDeviceGetFabricVertexExp(device: Handle, to: *mut Handle) {
        let device = get::<Device>(device)?;
        put(to, handle(&Vertex::of(&device)))
    }

    fn zeFabricEdgeGetExp(from: Handle, to: Handle, count: *mut u32, edges: *mut Handle) {
        get::<Vertex>(from)?;
        get::<Vertex>(to)?;
        enumerate(count, edges, std::iter::empty())
    }
}
