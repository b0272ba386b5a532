//! Bodies of fuzz targets and laws of reading and writing, on fixtures and on random inputs.

mod numbers;
mod property;
mod replay;
