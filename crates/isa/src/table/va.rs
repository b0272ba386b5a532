//! Video motion estimation and analytics.

use super::field::short::*;
use super::va_text::*;
use super::{Group, instructions};

const GROUP: Group = Group::Video;

const VIDEO: &str = "it needs the video motion estimation or video analytics unit";

/// Passes the rows of this group to a macro. Use [`for_each_op!`](crate::for_each_op).
#[doc(hidden)]
#[macro_export]
macro_rules! __va_rows {
    ([$($then:tt)+] $($state:tt)*) => {
        $($then)+! {
            $($state)*
    /// Convolution with a 2D kernel.
    VA_CONVOLVE_2D = sub(0x44, 0x01) ["va_convolve_2d"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CONVOLUTION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Properties).note("bits 0-1 exec mode; bit 4 = 31x31 kernel"),
            raw_to(F::Dst, ANY),
        ];

    /// Minimum and maximum of a block.
    VA_MINMAX = sub(0x44, 0x02) ["va_minmax"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(MINMAX)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::MmfMode, T::UB), raw_to(F::Dst, ANY),
        ];

    /// Minimum and maximum filter.
    VA_MINMAXFILTER = sub(0x44, 0x03) ["va_minmaxfilter"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(MINMAX_FILTER)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::OutputFormat).named(&enums::AVS_OUTPUT_FORMAT),
            u8(F::ExecMode).named(&enums::MMF_EXEC_MODE), scalar(F::MmfMode, T::UB),
            raw_to(F::Dst, ANY),
        ];

    /// Erosion.
    VA_ERODE = sub(0x44, 0x04) ["va_erode"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(EROSION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::ExecMode).named(&enums::ERODE_DILATE_EXEC_MODE), raw_to(F::Dst, ANY),
        ];

    /// Dilation.
    VA_DILATE = sub(0x44, 0x05) ["va_dilate"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(DILATION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::ExecMode).named(&enums::ERODE_DILATE_EXEC_MODE), raw_to(F::Dst, ANY),
        ];

    /// Centroid of a binary image.
    VA_BOOLCENTROID = sub(0x44, 0x06) ["va_boolcentroid"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(BOOLEAN_CENTROID)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F), scalar(F::VSize, T::UB),
            scalar(F::HSize, T::UB), raw_to(F::Dst, ANY),
        ];

    /// Centroid of a grey image.
    VA_CENTROID = sub(0x44, 0x07) ["va_centroid"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CENTROID)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F), scalar(F::VSize, T::UB),
            raw_to(F::Dst, ANY),
        ];

    /// Convolution with a vertical kernel.
    VA_CONVOLVE_1D_V = sub(0x4d, 0x08) ["va_convolve_1d_v"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CONVOLVE_V)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Mode).named(&enums::CONV_EXEC_MODE), raw_to(F::Dst, ANY),
        ];

    /// Convolution with a horizontal kernel.
    VA_CONVOLVE_1D_H = sub(0x4d, 0x09) ["va_convolve_1d_h"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CONVOLVE_H)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Mode).named(&enums::CONV_EXEC_MODE), raw_to(F::Dst, ANY),
        ];

    /// Convolution at single pixels.
    VA_CONVOLVE_1PIXEL = sub(0x4d, 0x0a) ["va_convolve_1pixel"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CONVOLVE_PIXEL)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Mode).named(&enums::CONV_1PIXEL_EXEC_MODE), raw(F::Offsets, T::W),
            raw_to(F::Dst, ANY),
        ];

    /// Flood fill.
    VA_FLOODFILL = sub(0x4d, 0x0b) ["va_floodfill"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(FLOOD)
        => &[
            u8(F::Is8Connect), raw(F::PixelMaskH, T::W), scalar(F::PixelMaskVLeft, T::F),
            scalar(F::PixelMaskVRight, T::F), scalar(F::LoopCount, T::F), raw_to(F::Dst, ANY),
        ];

    /// Local binary patterns.
    VA_LBPCREATION = sub(0x4d, 0x0c) ["va_lbpcreation"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CREATION)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Mode).named(&enums::LBP_CREATION_MODE), raw_to(F::Dst, ANY),
        ];

    /// Correlation of local binary patterns.
    VA_LBPCORRELATION = sub(0x4d, 0x0d) ["va_lbpcorrelation"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(CORRELATION)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::Disparity, T::W), raw_to(F::Dst, ANY),
        ];

    /// Search for the best correlation.
    VA_CORRELATIONSEARCH = sub(0x4d, 0x0f) ["va_correlationsearch"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(SEARCH)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::VerticalOrigin, T::F), scalar(F::HorizontalOrigin, T::F),
            scalar(F::XSize, T::UB), scalar(F::YSize, T::UB), scalar(F::XSearchSize, T::UB),
            scalar(F::YSearchSize, T::UB), raw_to(F::Dst, ANY),
        ];

    /// 2D convolution, result to a surface.
    HDC_CONV = sub(0x4d, 0x10) ["va_hdc_convolve_2d"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_CONVOLUTION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Properties).note("bits 0-3 return format, bits 4-7 region size"),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Minimum and maximum filter, result to a surface.
    HDC_MMF = sub(0x4d, 0x11) ["va_hdc_minmaxfilter"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_MINMAX)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::PixelSize).named(&enums::HDC_RETURN_FORMAT),
            u8(F::MmfMode).named(&enums::MMF_ENABLE_MODE),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Erosion, result to a surface.
    HDC_ERODE = sub(0x4d, 0x12) ["va_hdc_erode"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_EROSION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Dilation, result to a surface.
    HDC_DILATE = sub(0x4d, 0x13) ["va_hdc_dilate"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_DILATION)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Correlation of local binary patterns, result to a surface.
    HDC_LBPCORRELATION = sub(0x4d, 0x14) ["va_hdc_lbpcorrelation"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_CORRELATION)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            scalar(F::Disparity, T::W), field(F::DstSurface, FieldKind::Surface),
            scalar(F::DstX, T::UW), scalar(F::DstY, T::UW),
        ];

    /// Local binary patterns, result to a surface.
    HDC_LBPCREATION = sub(0x4d, 0x15) ["va_hdc_lbpcreation"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_CREATION)
        => &[
            SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::Mode).named(&enums::LBP_CREATION_MODE),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Horizontal convolution, result to a surface.
    HDC_1DCONV_H = sub(0x4d, 0x16) ["va_hdc_convolve_1d_h"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_LINE_H)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::PixelSize).named(&enums::HDC_RETURN_FORMAT),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Vertical convolution, result to a surface.
    HDC_1DCONV_V = sub(0x4d, 0x17) ["va_hdc_convolve_1d_v"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_LINE_V)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::PixelSize).named(&enums::HDC_RETURN_FORMAT),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Convolution at single pixels, result to a surface.
    HDC_1PIXELCONV = sub(0x4d, 0x18) ["va_hdc_convolve_1pixel"] .traits(Traits::IMAGES_ONLY) .unsupported(VIDEO) .text(HDC_PIXEL)
        => &[
            SAMPLER, SURFACE, scalar(F::UOffset, T::F), scalar(F::VOffset, T::F),
            u8(F::PixelSize).named(&enums::HDC_RETURN_FORMAT), raw(F::Offsets, T::W),
            field(F::DstSurface, FieldKind::Surface), scalar(F::DstX, T::UW),
            scalar(F::DstY, T::UW),
        ];

    /// Integer motion estimation.
    VME_IME = plain(0x54) ["vme_ime"] .unsupported(VIDEO) .text(INTEGER_SEARCH) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        => &[
            u8(F::StreamMode).named(&enums::VME_STREAM_MODE),
            u8(F::SearchCtrl).named(&enums::VME_SEARCH_CTRL), raw(F::UniInput, ANY),
            raw(F::ImeInput, ANY), SURFACE, raw(F::Ref0, ANY), raw(F::Ref1, ANY),
            raw(F::CostCenter, ANY), raw_to(F::Output, ANY),
        ];

    /// Skip check and intra prediction.
    VME_SIC = plain(0x55) ["vme_sic"] .unsupported(VIDEO) .text(SKIP_CHECK) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        => &[raw(F::UniInput, ANY), raw(F::SicInput, ANY), SURFACE, raw_to(F::Output, ANY)];

    /// Fractional and bidirectional refinement.
    VME_FBR = plain(0x56) ["vme_fbr"] .unsupported(VIDEO) .text(REFINEMENT) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        => &[
            raw(F::UniInput, ANY), raw(F::FbrInput, ANY), SURFACE, scalar(F::FbrMbMode, T::UD),
            scalar(F::FbrSubMbShape, T::UD), scalar(F::FbrSubPredMode, T::UD),
            raw_to(F::Output, ANY),
        ];

    /// Integer distortion mesh.
    VME_IDM = plain(0x57) ["vme_idm"] .unsupported(VIDEO) .text(MESH) .spec(NO_SAT, NO_MODS, UP_TO_ICL)
        => &[raw(F::UniInput, ANY), raw(F::IdmInput, ANY), SURFACE, raw_to(F::Output, ANY)];
        }
    };
}
__va_rows! { [instructions] }
