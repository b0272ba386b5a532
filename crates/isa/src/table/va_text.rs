//! How the rows of `va.rs` are written in text.

use super::field::short::*;

/// A row of the first group of sub-operations, which printers call `va`.
macro_rules! va {
    ($name:literal $(, $part:expr)* $(,)?) => {
        &[Part::Text(concat!("va.", $name, " ")), Part::Surface(F::Surface), $($part),*]
    };
}

/// A row of the second group, which printers call `va_skl_plus`.
macro_rules! va_plus {
    ($name:literal $(, $part:expr)* $(,)?) => {
        &[Part::Text(concat!("va_skl_plus.", $name, " ")), $($part),*]
    };
}

const SURFACE_NAME: Part = Part::Surface(F::Surface);
const BLANK: Part = Part::Text(" ");
const SAMPLER_NAME: Part = Part::Sampler(F::Sampler);
const AT_U: Part = Part::Operand(F::UOffset);
const AT_V: Part = Part::Operand(F::VOffset);
const RESULT: Part = Part::Operand(F::Dst);
const DST_SURFACE: Part = Part::Surface(F::DstSurface);
const DST_X: Part = Part::Operand(F::DstX);
const DST_Y: Part = Part::Operand(F::DstY);

/// `15x15` or `31x31`.
const KERNEL_SIZE: Part = Part::Choice(&Choice {
    field: F::Properties,
    mask: 0x10,
    cases: &[(0, " 15x15")],
    otherwise: " 31x31",
});

const LINE_MODE: Part = Part::Choice(&Choice {
    field: F::Mode,
    mask: 3,
    cases: &[(0, " 4x16"), (2, " 1x16"), (3, " 1x1")],
    otherwise: "",
});

const PATTERN_MODE: Part = Part::Choice(&Choice {
    field: F::Mode,
    mask: 0xf,
    cases: &[
        (0, " VA_BOTH_mode"),
        (1, " VA_3x3_mode"),
        (2, " VA_5x5_mode"),
    ],
    otherwise: "",
});

const PIXEL_SIZE: Part = Part::Choice(&Choice {
    field: F::PixelSize,
    mask: 0xff,
    cases: &[(0, " VA_Y16_FORMAT"), (1, " VA_Y8_FORMAT")],
    otherwise: "",
});

pub(super) const CONVOLUTION: &[Part] = va!(
    "convolve",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    Part::Choice(&Choice {
        field: F::Properties,
        mask: 3,
        cases: &[
            (0, " VA_CONV_16x4"),
            (2, " VA_CONV_16x1"),
            (3, " VA_CONV_1x1"),
        ],
        otherwise: " VA_CONV_INVALID",
    }),
    KERNEL_SIZE,
    RESULT,
);

/// The mode as a word, or an operand where it is not a constant.
pub(super) const MINMAX: &[Part] = va!("minmax", AT_U, AT_V, Part::MinMaxMode(F::MmfMode), RESULT);

pub(super) const MINMAX_FILTER: &[Part] = va!(
    "minmaxfilter",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    Part::Text(" AVS_"),
    Part::Named(F::OutputFormat),
    Part::Text(" VA_MMF_"),
    Part::Named(F::ExecMode),
    Part::Operand(F::MmfMode),
    RESULT,
);

pub(super) const EROSION: &[Part] = va!(
    "erode",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    Part::Text(" VA_ED_"),
    Part::Named(F::ExecMode),
    RESULT,
);

pub(super) const DILATION: &[Part] = va!(
    "dilate",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    Part::Text(" VA_ED_"),
    Part::Named(F::ExecMode),
    RESULT,
);

pub(super) const BOOLEAN_CENTROID: &[Part] = va!("boolcentroid", Part::Operands);

pub(super) const CENTROID: &[Part] = va!("centroid", Part::Operands);

pub(super) const CONVOLVE_V: &[Part] = va_plus!(
    "CONV_1D_VERTICAL",
    SURFACE_NAME,
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    LINE_MODE,
    RESULT
);

pub(super) const CONVOLVE_H: &[Part] = va_plus!(
    "CONV_1D_HORIZONTAL",
    SURFACE_NAME,
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    LINE_MODE,
    RESULT
);

pub(super) const CONVOLVE_PIXEL: &[Part] = va_plus!(
    "CONV_1PIXEL",
    SURFACE_NAME,
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    LINE_MODE,
    Part::Operand(F::Offsets),
    RESULT
);

pub(super) const FLOOD: &[Part] = va_plus!(
    "FLOOD_FILL",
    Part::Choice(&Choice {
        field: F::Is8Connect,
        mask: 1,
        cases: &[(1, "8_connect")],
        otherwise: "4_connect",
    }),
    Part::Operands
);

pub(super) const CREATION: &[Part] = va_plus!(
    "LBP_CREATION",
    SURFACE_NAME,
    AT_U,
    AT_V,
    PATTERN_MODE,
    RESULT
);

pub(super) const CORRELATION: &[Part] = va_plus!("LBP_CORRELATION", SURFACE_NAME, Part::Operands);

pub(super) const SEARCH: &[Part] = va_plus!("CORRELATION_SEARCH", SURFACE_NAME, Part::Operands);

/// The last three operands of operations that write to a surface.
macro_rules! to_surface {
    ($name:literal $(, $part:expr)* $(,)?) => {
        va_plus!($name, SURFACE_NAME, $($part,)* BLANK, DST_SURFACE, DST_X, DST_Y)
    };
}

pub(super) const HDC_CONVOLUTION: &[Part] = to_surface!(
    "HDC_CONVOLVE_2D",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    Part::Choice(&Choice {
        field: F::Properties,
        mask: 0xf,
        cases: &[(0, " VA_Y16_FORMAT"), (1, " VA_Y8_FORMAT")],
        otherwise: "",
    }),
    KERNEL_SIZE
);

pub(super) const HDC_MINMAX: &[Part] = to_surface!(
    "HDC_MIN_MAX_FILTER",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    PIXEL_SIZE,
    Part::MinMaxMode(F::MmfMode)
);

pub(super) const HDC_EROSION: &[Part] = to_surface!("HDC_ERODE", BLANK, SAMPLER_NAME, AT_U, AT_V);

pub(super) const HDC_DILATION: &[Part] = to_surface!("HDC_DILATE", BLANK, SAMPLER_NAME, AT_U, AT_V);

pub(super) const HDC_CORRELATION: &[Part] = to_surface!(
    "HDC_LBP_CORRELATION",
    AT_U,
    AT_V,
    Part::Operand(F::Disparity)
);

pub(super) const HDC_CREATION: &[Part] = to_surface!("HDC_LBP_CREATION", AT_U, AT_V, PATTERN_MODE);

pub(super) const HDC_LINE_H: &[Part] = to_surface!(
    "HDC_CONVOLVE_1D_H",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    PIXEL_SIZE
);

pub(super) const HDC_LINE_V: &[Part] = to_surface!(
    "HDC_CONVOLVE_1D_V",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    PIXEL_SIZE
);

pub(super) const HDC_PIXEL: &[Part] = to_surface!(
    "HDC_CONVOLVE_1P",
    BLANK,
    SAMPLER_NAME,
    AT_U,
    AT_V,
    PIXEL_SIZE,
    Part::Operand(F::Offsets)
);

/// Motion estimation names its surface by number, between its operands.
macro_rules! estimation {
    ($($head:expr,)* ; $($operand:expr),* $(,)?) => {
        &[
            Part::Mnemonic,
            $($head,)*
            Part::Text(" "),
            Part::SurfaceNumber(F::Surface),
            Part::Text(" "),
            Part::Operand(F::UniInput),
            $($operand,)*
            Part::Operand(F::Output),
        ]
    };
}

pub(super) const INTEGER_SEARCH: &[Part] = estimation!(
    Part::Text("("), Part::Number(F::StreamMode), Part::Text(","), Part::Number(F::SearchCtrl), Part::Text(")"),;
    Part::Operand(F::ImeInput), Part::Operand(F::Ref0), Part::Operand(F::Ref1), Part::Operand(F::CostCenter),
);

pub(super) const SKIP_CHECK: &[Part] = estimation!(; Part::Operand(F::SicInput));

pub(super) const MESH: &[Part] = estimation!(; Part::Operand(F::IdmInput));

pub(super) const REFINEMENT: &[Part] = estimation!(
    Part::Text(" ("),
    Part::Operand(F::FbrMbMode),
    Part::Text(","),
    Part::Operand(F::FbrSubMbShape),
    Part::Text(","),
    Part::Operand(F::FbrSubPredMode),
    Part::Text(")"),;
    Part::Operand(F::FbrInput),
);
