//! Members of the enumerations that `visakit/enums.py` defines.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::collections::HashMap;
use visakit::isa::{DataType, FieldName, table};

/// The enumerations by the name of their class.
#[derive(Clone, Copy)]
pub(crate) enum Class {
    Op,
    DataType,
    Field,
    Group,
}

type Members = HashMap<&'static str, Py<PyAny>>;

impl Class {
    const ALL: [Self; 4] = [Self::Op, Self::DataType, Self::Field, Self::Group];

    fn name(self) -> &'static str {
        match self {
            Self::Op => "Op",
            Self::DataType => "DataType",
            Self::Field => "Field",
            Self::Group => "Group",
        }
    }

    /// Values with a sentence on each.
    fn values(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Op => table::rows()
                .map(|row| (row.name, row.summary.to_owned()))
                .collect(),
            Self::DataType => {
                let all = DataType::ALL.into_iter().chain(DataType::TEXT_ONLY);
                all.map(|ty| (ty.name(), format!("{} bytes", ty.size())))
                    .collect()
            }
            Self::Field => FieldName::ALL
                .iter()
                .map(|f| (f.as_str(), String::new()))
                .collect(),
            Self::Group => {
                let mut groups: Vec<(&str, String)> = Vec::new();
                for row in table::rows() {
                    let name = row.group.name();
                    if !groups.iter().any(|(known, _)| *known == name) {
                        groups.push((name, String::new()));
                    }
                }
                groups
            }
        }
    }

    /// The member of that value.
    pub(crate) fn member(self, py: Python<'_>, value: &'static str) -> PyResult<Py<PyAny>> {
        static MEMBERS: [PyOnceLock<Members>; 4] = [const { PyOnceLock::new() }; 4];
        let members = MEMBERS[self as usize].get_or_try_init(py, || {
            let class = py.import("visakit.enums")?.getattr(self.name())?;
            let members = self.values().into_iter();
            let members = members.map(|(v, _)| Ok((v, class.call1((v,))?.unbind())));
            members.collect::<PyResult<Members>>()
        })?;
        match members.get(value) {
            Some(member) => Ok(member.clone_ref(py)),
            None => Ok(value.into_pyobject(py)?.into_any().unbind()),
        }
    }
}

/// The values of all enumerations, from which `tools/enums.py` makes `visakit/enums.py`.
#[pyfunction]
pub(crate) fn enumerations() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    Class::ALL
        .into_iter()
        .map(|class| (class.name(), class.values()))
        .collect()
}
