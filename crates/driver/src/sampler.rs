//! Samplers.

use crate::context::Context;
use crate::error::{Code, Result, ensure, fail};
use crate::handle::{Handle, Object, references};
use crate::info::Answer;
use opencl_sys as cl;
use std::sync::Arc;
use visakit_exec::memory::{Addressing, Filter, Sampler as State};

/// A sampler.
#[derive(Debug)]
pub struct Sampler {
    handle: Handle,
    context: Arc<Context>,
    /// Its state.
    pub state: State,
    normalized: bool,
    addressing: u32,
    filter: u32,
    properties: Vec<u64>,
}

impl Object for Sampler {
    const INVALID: Code = Code(cl::CL_INVALID_SAMPLER);
    const NAME: &'static str = "sampler";
    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Sampler {
    /// A sampler.
    ///
    /// # Errors
    /// Modes that are not known.
    pub fn new(
        context: &Arc<Context>,
        (normalized, addressing, filter): (bool, u32, u32),
        properties: Vec<u64>,
    ) -> Result<Arc<Self>> {
        ensure(
            context.devices.iter().any(|d| d.has_images()),
            cl::CL_INVALID_OPERATION,
        )?;
        let state = State {
            normalized,
            addressing: match addressing {
                cl::CL_ADDRESS_NONE => Addressing::Unchecked,
                cl::CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
                cl::CL_ADDRESS_CLAMP => Addressing::ClampToBorder,
                cl::CL_ADDRESS_REPEAT => Addressing::Repeat,
                cl::CL_ADDRESS_MIRRORED_REPEAT => Addressing::Mirror,
                _ => return fail(cl::CL_INVALID_VALUE),
            },
            filter: match filter {
                cl::CL_FILTER_NEAREST => Filter::Nearest,
                cl::CL_FILTER_LINEAR => Filter::Linear,
                _ => return fail(cl::CL_INVALID_VALUE),
            },
        };
        Ok(Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            state,
            normalized,
            addressing,
            filter,
            properties,
        }))
    }

    /// Whether coordinates are normalized, the addressing mode and the filter.
    pub(crate) const fn modes(&self) -> (bool, u32, u32) {
        (self.normalized, self.addressing, self.filter)
    }

    /// `clGetSamplerInfo`.
    ///
    /// # Errors
    /// `CL_INVALID_VALUE` for an unknown query.
    pub fn info(&self, name: u32) -> Result<Vec<u8>> {
        Ok(match name {
            cl::CL_SAMPLER_REFERENCE_COUNT => references(self).answer(),
            cl::CL_SAMPLER_CONTEXT => self.context.handle().get().answer(),
            cl::CL_SAMPLER_NORMALIZED_COORDS => self.normalized.answer(),
            cl::CL_SAMPLER_ADDRESSING_MODE => self.addressing.answer(),
            cl::CL_SAMPLER_FILTER_MODE => self.filter.answer(),
            cl::CL_SAMPLER_PROPERTIES => self.properties.clone().answer(),
            _ => return fail(cl::CL_INVALID_VALUE),
        })
    }
}
