//! Programs, kernels and cases, started and compared.

mod cases;
mod hostile;
mod images;
mod kernels;
mod media;
mod newest;
mod older;
mod programs;
mod zeinfo;
