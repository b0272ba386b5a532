//! Where a kernel faulted: its text, its line in the source, the buffer that is nearest.

use crate::Status;
use crate::output::{Failure, printable};
use crate::render;
use visakit::isa::object::SourceFiles;
use visakit_exec::{Fault, FaultKind, Program};
use visakit_launch::{Kernel, LaunchError, MemoryObject, ObjectKind, Tracer};

/// The program of a launch, and where its buffers are: a run takes the launch.
pub(super) struct Launched<'k> {
    kernel: &'k Kernel<'k>,
    objects: Vec<MemoryObject>,
    text: Tracer,
}

impl<'k> Launched<'k> {
    pub(super) fn new(
        kernel: &'k Kernel<'k>,
        objects: Vec<MemoryObject>,
        program: &Program,
    ) -> Self {
        Self {
            kernel,
            objects,
            text: Tracer::new(kernel.object(), kernel.grf_bytes, program),
        }
    }

    /// Reports why a run failed.
    pub(super) fn failed(&self, error: LaunchError) -> Failure {
        let LaunchError::Fault { fault, .. } = &error else {
            return error.into();
        };
        // Other addresses are places in local memory or scratch, or those of functions.
        let address = match fault.kind {
            FaultKind::MemoryOutOfBounds { .. } => fault.address,
            _ => None,
        };
        let near = address.and_then(|address| self.near(address));
        let message = format!("{error}{}", near.unwrap_or_default());
        let (file, line) = self.line(fault);
        let text = self.text.line(fault.routine, fault.instruction).trim();
        let routine = self.kernel.object().routine(fault.routine);
        let routine = routine.map_or_else(String::new, |r| r.display_name().into_owned());
        let place = format!("{routine}: {text}");
        let help = match fault.kind {
            FaultKind::MemoryOutOfBounds { .. } | FaultKind::LocalOutOfBounds => {
                Some("`visakit check` finds every access that is wrong, with its work-item")
            }
            FaultKind::BarrierDivergence { .. } => {
                Some("`visakit check` says which work-items did not come to the barrier")
            }
            _ => None,
        };
        render::fault(
            &printable(message.as_bytes()),
            file,
            line,
            &printable(place.as_bytes()),
            help,
        );
        Failure::Told(Status::Findings)
    }

    /// The line of the source.
    fn line(&self, fault: &Fault) -> (Option<String>, Option<u32>) {
        let body = self.kernel.object().routine(fault.routine);
        let Some(body) = body.and_then(|routine| routine.body()) else {
            return (None, None);
        };
        let mut files = SourceFiles::default();
        let line = files.lines(body).get(fault.instruction).copied().flatten();
        let file = line.and_then(|line| files.name(line.file?));
        (file.map(ToOwned::to_owned), line.map(|line| line.line))
    }

    /// The buffer that an address is nearest to.
    fn near(&self, address: u64) -> Option<String> {
        let distance = |object: &MemoryObject| {
            let end = object.address.saturating_add(object.bytes);
            match address < object.address {
                true => object.address - address,
                false => address.saturating_sub(end),
            }
        };
        let arguments = self.objects.iter().filter_map(|object| match object.kind {
            ObjectKind::Argument(index) => Some((object, index)),
            _ => None,
        });
        let (object, index) = arguments.min_by_key(|(object, _)| distance(object))?;
        let mut known = self.kernel.args_info().iter();
        let info = known.find(|info| usize::try_from(info.index) == Ok(index));
        let name = info.map_or_else(
            || format!("argument {index}"),
            |info| format!("`{}`", info.name),
        );
        let (far, bytes) = (distance(object), object.bytes);
        Some(match address < object.address {
            true => format!(", {far} bytes before {name} ({bytes} bytes)"),
            false if far == 0 => format!(", just past the end of {name} ({bytes} bytes)"),
            false => format!(", {far} bytes past the end of {name} ({bytes} bytes)"),
        })
    }
}
