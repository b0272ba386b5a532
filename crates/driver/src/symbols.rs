//! Variables and functions of a program, by their names.

use crate::binary::Binary;
use crate::error::{Code, Result, ensure};
use opencl_sys as cl;

impl Binary {
    /// Address and size of a variable, by the name that the device or the host has for it.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let mut hosts = self.zeinfo.global_host_access_table.iter();
        let other = hosts.find(|both| both.host_name == name);
        let name = other.map_or(name, |both| &both.device_name);
        let symbol = self.symbols.iter().find(|s| s.name == name)?;
        let mut sections = self.variables.sections();
        let (_, storage, address) = sections.find(|section| section.0 == symbol.section)?;
        let rest = (storage.bytes() as u64).checked_sub(symbol.offset)?;
        let bytes = if symbol.bytes == 0 {
            rest
        } else {
            symbol.bytes
        };
        Some((address + symbol.offset, bytes))
    }

    /// The address by which kernels call a function; `None` if none can.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` if it is not the same for all of them.
    pub fn function(&self, name: &str) -> Result<Option<u64>> {
        let mut found = None;
        for kernel in self.names() {
            let Ok(loaded) = self.load(kernel)? else {
                continue;
            };
            let address = loaded.program().function_address(name);
            let agree = found.is_none() || address.is_none() || found == address;
            ensure(agree, cl::CL_INVALID_OPERATION)?;
            found = found.or(address);
        }
        Ok(found)
    }

    /// The address of a part of a variable.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_VALUE` for other names, `CL_INVALID_VALUE` for what is outside.
    pub fn part_of_variable(&self, name: &str, offset: usize, size: usize) -> Result<usize> {
        let (address, bytes) = self.variable(name).ok_or(Code(cl::CL_INVALID_ARG_VALUE))?;
        let end = offset.checked_add(size).map(|end| end as u64);
        ensure(end.is_some_and(|end| end <= bytes), cl::CL_INVALID_VALUE)?;
        let address = address.saturating_add(offset as u64);
        usize::try_from(address).map_err(|_| Code(cl::CL_INVALID_VALUE))
    }
}
