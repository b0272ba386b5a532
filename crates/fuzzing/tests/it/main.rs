//! Bodies of fuzz targets and laws of reading and writing, on fixtures and on what is made at random.

mod property;
mod replay;
