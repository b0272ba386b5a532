//! Programs, kernels and cases, started and compared.

mod cases;
mod hostile;
mod images;
mod kernels;
mod media;
mod newest;
mod programs;
mod zeinfo;
