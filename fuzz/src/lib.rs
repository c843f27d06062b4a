//! What several fuzz targets share.

pub mod mcp;
