//! Rectangles that load/store cache messages move.

use crate::checker::{Checker, Site};
use crate::rules;
use alloc::format;
use alloc::string::ToString;
use visakit_isa::enums::lsc_data_order as order;
use visakit_isa::operand::{RawOperand, VectorOperand};
use visakit_isa::semantics::{Action, BlockAddress, ElementSize};
use visakit_isa::{FieldName as F, Platforms, VarId};

/// The bytes that a row of all blocks has at most: of loads, of stores, and of the longest prefetches.
const MOST_LOADED: u32 = 64;
const MOST_STORED: u32 = 512;
const PREFETCHED: u32 = 256;

fn number(site: &Site<'_>, name: F) -> u32 {
    u32::try_from(site.number(name).unwrap_or(0)).unwrap_or(0)
}

/// Operands that state a place.
fn origin(checker: &mut Checker<'_, '_>, site: &Site<'_>, names: &[F]) {
    for name in names {
        let operand = site.vector(*name);
        if matches!(operand, Some(VectorOperand::General(o)) if o.variable == VarId::NULL) {
            checker.add_named(&rules::LSC_BLOCK_ORIGIN, site, *name, || {
                "is null".to_string()
            });
        }
    }
}

/// Blocks of elements of a surface that the message describes.
pub(crate) fn elements(checker: &mut Checker<'_, '_>, site: &Site<'_>, action: Action) {
    origin(checker, site, &[F::SurfaceBase]);
    if BlockAddress::of(site.instruction) == BlockAddress::Operands {
        origin(checker, site, &BlockAddress::IN_PAYLOAD);
    }
    let Some(bytes) = ElementSize::register_bytes(site.byte(F::DataSize)) else {
        return;
    };
    let blocks = number(site, F::Blocks);
    let (width, height) = (number(site, F::BlockWidth), number(site, F::BlockHeight));
    let store = action == Action::Store;
    let prefetch = !store && site.raw(F::Dst).is_some_and(RawOperand::is_null);
    let transposed = site.byte(F::DataOrder) == order::TRANSPOSE;
    let vnni = site.byte(F::Vnni) != 0;
    let row = width.saturating_mul(blocks).saturating_mul(bytes);
    let limit = if store { MOST_STORED } else { MOST_LOADED };
    let rows = if transposed { width } else { height };
    let sound = width > 0
        && height > 0
        && blocks > 0
        && (row <= limit
            || transposed && height.saturating_mul(bytes) <= limit
            || prefetch && row == PREFETCHED && checker.allows(site, Platforms::LARGE_BLOCKS))
        && (rows <= 32 || rows <= 64 && checker.allows(site, Platforms::LARGE_BLOCKS));
    if !sound {
        checker.add_named(&rules::LSC_BLOCK, site, F::BlockWidth, || {
            format!("{blocks} blocks of {width} by {height} elements of {bytes} bytes")
        });
    }
    let most = match bytes {
        _ if store || (transposed && !vnni) => 1,
        1 | 2 => 4,
        4 => 2,
        _ => 1,
    };
    let sound = blocks != 3
        && (blocks <= most
            || prefetch
                && !transposed
                && blocks <= 4
                && checker.allows(site, Platforms::LARGE_BLOCKS));
    if !sound || (store && vnni) {
        checker.add_named(&rules::LSC_BLOCK_COUNT, site, F::Blocks, || {
            format!("{blocks} blocks, {most} at most")
        });
    }
}

/// A block of bytes of an image.
pub(crate) fn texels(checker: &mut Checker<'_, '_>, site: &Site<'_>) {
    origin(checker, site, &[F::X, F::Y]);
    let (width, height) = (number(site, F::BlockWidth), number(site, F::BlockHeight));
    if !(1..=64).contains(&width) || height < 1 || width.saturating_mul(height) > 256 {
        checker.add_named(&rules::LSC_TYPED_BLOCK, site, F::BlockWidth, || {
            format!("a block of {width} bytes by {height} rows")
        });
    }
}
