//! The enumerations of the wire, as data and as constants.
//!
//! A value missing from an enumeration is kept by the codec and shown as a number.

/// Named codes of a byte, or of some bits of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Enumeration {
    /// Name of the enumeration.
    pub name: &'static str,
    /// What it enumerates.
    pub summary: &'static str,
    /// The bits that hold the code. The codes below are not shifted down to bit 0: they are what
    /// [`Enumeration::code_of`] returns.
    pub mask: u8,
    /// Codes with their names, ascending.
    pub entries: &'static [(u8, &'static str)],
}

impl Enumeration {
    /// The code that a whole byte holds.
    #[must_use]
    pub const fn code_of(&self, byte: u8) -> u8 {
        (byte & self.mask) >> self.mask.trailing_zeros()
    }

    /// The name of the code that a whole byte holds.
    #[must_use]
    pub fn name_of(&self, byte: u8) -> Option<&'static str> {
        let code = self.code_of(byte);
        self.entries
            .iter()
            .find(|(c, _)| *c == code)
            .map(|(_, name)| *name)
    }

    /// The code of a name.
    #[must_use]
    pub fn code_named(&self, name: &str) -> Option<u8> {
        self.entries
            .iter()
            .find(|(_, n)| *n == name)
            .map(|(code, _)| *code)
    }
}

macro_rules! enumerations {
    ($( $(#[doc = $doc:literal])+ $name:ident $module:ident & $mask:literal { $( $entry:ident = $code:literal $text:literal, )* } )*) => {
        $(
            $(#[doc = $doc])+
            pub static $name: Enumeration = Enumeration {
                name: stringify!($module),
                summary: concat!($($doc),+),
                mask: $mask,
                entries: &[$(($code, $text)),*],
            };

            $(#[doc = $doc])+
            pub mod $module {
                $(
                    #[doc = concat!("`", $text, "`")]
                    pub const $entry: u8 = $code;
                )*
            }
        )*

        /// Every enumeration.
        pub static ALL: &[&Enumeration] = &[$(&$name),*];
    };
}

enumerations! {
    /// Relations of CMP.
    RELATION relation & 0x7 {
        EQ = 0 "eq",
        NE = 1 "ne",
        GT = 2 "gt",
        GE = 3 "ge",
        LT = 4 "lt",
        LE = 5 "le",
    }
    /// Minimum or maximum.
    MIN_MAX min_max & 0xff {
        MIN = 0 "min",
        MAX = 1 "max",
    }
    /// Atomic operations; bit 5 of the byte means 16-bit data, bit 6 64-bit data.
    ATOMIC_OP atomic_op & 0x1f {
        ADD = 0 "add",
        SUB = 1 "sub",
        INC = 2 "inc",
        DEC = 3 "dec",
        MIN = 4 "min",
        MAX = 5 "max",
        XCHG = 6 "xchg",
        CMPXCHG = 7 "cmpxchg",
        AND = 8 "and",
        OR = 9 "or",
        XOR = 10 "xor",
        MINSINT = 11 "minsint",
        MAXSINT = 12 "maxsint",
        PREDEC = 13 "predec",
        FMAX = 16 "fmax",
        FMIN = 17 "fmin",
        FCMPWR = 18 "fcmpwr",
        FADD = 19 "fadd",
        FSUB = 20 "fsub",
    }
    /// Number of blocks of scattered messages.
    BLOCK_COUNT block_count & 0x3 {
        N1 = 0 "1",
        N2 = 1 "2",
        N4 = 2 "4",
        N8 = 3 "8",
    }
    /// Block size of scattered messages.
    BLOCK_SIZE block_size & 0x3 {
        BYTE = 0 "byte",
        DWORD = 1 "dword",
        QWORD = 2 "qword",
    }
    /// Element size of GATHER and SCATTER.
    ELEMENT_SIZE element_size & 0x3 {
        BYTE = 0 "byte",
        WORD = 1 "word",
        DWORD = 2 "dword",
    }
    /// Number of OWords of block messages.
    OWORD_COUNT oword_count & 0x7 {
        N1 = 0 "1",
        N2 = 1 "2",
        N4 = 2 "4",
        N8 = 3 "8",
        N16 = 4 "16",
    }
    /// Variants of MEDIA_LD.
    MEDIA_LD_MODIFIER media_ld_modifier & 0xff {
        NOMOD = 0 "nomod",
        MODIFIED = 1 "modified",
        TOP = 2 "top",
        BOTTOM = 3 "bottom",
        TOP_MOD = 4 "top_mod",
        BOTTOM_MOD = 5 "bottom_mod",
    }
    /// Variants of MEDIA_ST.
    MEDIA_ST_MODIFIER media_st_modifier & 0xff {
        NOMOD = 0 "nomod",
        TOP = 2 "top",
        BOTTOM = 3 "bottom",
    }
    /// Planes of a surface.
    PLANE plane & 0xff {
        Y = 0 "Y",
        UV = 1 "UV",
        V = 2 "V",
    }
    /// Result format of SAMPLE_UNORM, in bits 4-5 of the channel byte.
    CHANNEL_OUTPUT_FORMAT channel_output_format & 0x30 {
        N16_FULL = 0 "16-full",
        N16_DOWNSAMPLED = 1 "16-downsampled",
        N8_FULL = 2 "8-full",
        N8_DOWNSAMPLED = 3 "8-downsampled",
    }
    /// Channel that 3D_GATHER4 collects.
    GATHER4_CHANNEL gather4_channel & 0x3 {
        R = 0 "R",
        G = 1 "G",
        B = 2 "B",
        A = 3 "A",
    }
    /// Sub-operations of the 3D sampler instructions.
    SAMPLER_OP sampler_op & 0xff {
        SAMPLE_3D = 0 "sample_3d",
        SAMPLE_B = 1 "sample_b",
        SAMPLE_L = 2 "sample_l",
        SAMPLE_C = 3 "sample_c",
        SAMPLE_D = 4 "sample_d",
        SAMPLE_B_C = 5 "sample_b_c",
        SAMPLE_L_C = 6 "sample_l_c",
        LOAD_3D = 7 "load_3d",
        SAMPLE4 = 8 "sample4",
        LOD = 9 "lod",
        RESINFO = 10 "resinfo",
        SAMPLEINFO = 11 "sampleinfo",
        SAMPLE_KILLPIX = 12 "sample+killpix",
        SAMPLE4_L = 13 "sample4_l",
        SAMPLE4_B = 14 "sample4_b",
        SAMPLE4_I = 15 "sample4_i",
        SAMPLE4_C = 16 "sample4_c",
        SAMPLE4_PO = 17 "sample4_po",
        SAMPLE4_PO_C = 18 "sample4_po_c",
        SAMPLE_C_MLOD = 19 "sample_c_mlod",
        SAMPLE_D_C = 20 "sample_d_c",
        SAMPLE4_I_C = 21 "sample4_i_c",
        SAMPLE4_L_C = 23 "sample4_l_c",
        SAMPLE_LZ = 24 "sample_lz",
        SAMPLE_C_LZ = 25 "sample_c_lz",
        LOAD_LZ = 26 "load_lz",
        LOAD_L = 27 "load_l",
        LOAD_2DMS_W = 28 "load_2dms_w",
        LOAD_MCS = 29 "load_mcs",
        SAMPLE_PO = 32 "sample_po",
        SAMPLE_PO_B = 33 "sample_po_b",
        SAMPLE_PO_L = 34 "sample_po_l",
        SAMPLE_PO_C = 35 "sample_po_c",
        SAMPLE_PO_D = 36 "sample_po_d",
        SAMPLE_PO_L_C = 38 "sample_po_l_c",
        SAMPLE4_PO_40 = 40 "sample4_po",
        SAMPLE4_PO_L = 45 "sample4_po_l",
        SAMPLE4_PO_B = 46 "sample4_po_b",
        SAMPLE4_PO_I = 47 "sample4_po_i",
        SAMPLE4_PO_C_48 = 48 "sample4_po_c",
        SAMPLE4_PO_I_C = 53 "sample4_po_i_c",
        SAMPLE4_PO_L_C = 55 "sample4_po_l_c",
        SAMPLE_PO_LZ = 56 "sample_po_lz",
        SAMPLE_PO_C_LZ = 57 "sample_po_c_lz",
        SAMPLE_PO_B_C = 58 "sample_po_b_c",
        SAMPLE_PO_D_C = 59 "sample_po_d_c",
    }
    /// Result format of AVS.
    AVS_OUTPUT_FORMAT avs_output_format & 0xff {
        N16_FULL = 0 "16_FULL",
        N16_DOWN_SAMPLE = 1 "16_DOWN_SAMPLE",
        N8_FULL = 2 "8_FULL",
        N8_DOWN_SAMPLE = 3 "8_DOWN_SAMPLE",
    }
    /// Block shape of AVS.
    AVS_EXEC_MODE avs_exec_mode & 0xff {
        N16X4 = 0 "16x4",
        N8X4 = 1 "8x4",
        N16X8 = 2 "16x8",
        N4X4 = 3 "4x4",
    }
    /// Block shape of VA_MINMAXFILTER.
    MMF_EXEC_MODE mmf_exec_mode & 0xff {
        N16X4 = 0 "16x4",
        N16X1 = 2 "16x1",
        N1X1 = 3 "1x1",
    }
    /// Results of HDC_MMF.
    MMF_ENABLE_MODE mmf_enable_mode & 0xff {
        MIN_AND_MAX = 0 "min_and_max",
        MAX = 1 "max",
        MIN = 2 "min",
    }
    /// Block shape of the 1D convolutions.
    CONV_EXEC_MODE conv_exec_mode & 0xff {
        N16X4 = 0 "16x4",
        N16X1 = 2 "16x1",
    }
    /// Block shape of VA_CONVOLVE_1PIXEL.
    CONV_1PIXEL_EXEC_MODE conv_1pixel_exec_mode & 0xff {
        N16X4 = 0 "16x4",
        N16X1 = 2 "16x1",
        N1X1 = 3 "1x1",
    }
    /// Block shape of VA_ERODE and VA_DILATE.
    ERODE_DILATE_EXEC_MODE erode_dilate_exec_mode & 0xff {
        N64X4 = 0 "64x4",
        N32X4 = 1 "32x4",
        N64X1 = 2 "64x1",
        N32X1 = 3 "32x1",
    }
    /// Patterns of the LBP creation.
    LBP_CREATION_MODE lbp_creation_mode & 0xff {
        BOTH = 0 "both",
        N3X3 = 1 "3x3",
        N5X5 = 2 "5x5",
    }
    /// Pixel size of results written through the data port.
    HDC_RETURN_FORMAT hdc_return_format & 0xff {
        Y16 = 0 "Y16",
        Y8 = 1 "Y8",
    }
    /// Streaming modes of VME_IME.
    VME_STREAM_MODE vme_stream_mode & 0xff {
        DISABLE = 0 "disable",
        OUT = 1 "out",
        IN = 2 "in",
        IN_OUT = 3 "in_out",
    }
    /// Search control of VME_IME.
    VME_SEARCH_CTRL vme_search_ctrl & 0xff {
        SINGLE_REF_SINGLE_REC_SINGLE_START = 0 "single_ref_single_rec_single_start",
        SINGLE_REF_SINGLE_REC_DUAL_START = 1 "single_ref_single_rec_dual_start",
        SINGLE_REF_DUAL_REC = 3 "single_ref_dual_rec",
        DUAL_REF_DUAL_REC = 7 "dual_ref_dual_rec",
    }
    /// Shared functions of LSC.
    LSC_SFID lsc_sfid & 0xff {
        UGM = 0 "ugm",
        UGML = 1 "ugml",
        TGM = 2 "tgm",
        SLM = 3 "slm",
        URB = 4 "urb",
    }
    /// Data sizes of LSC.
    LSC_DATA_SIZE lsc_data_size & 0xff {
        INVALID = 0 "invalid",
        D8 = 1 "d8",
        D16 = 2 "d16",
        D32 = 3 "d32",
        D64 = 4 "d64",
        D8C32 = 5 "d8c32",
        D16C32 = 6 "d16c32",
        D16C32H = 7 "d16c32h",
    }
    /// Data orders of LSC.
    LSC_DATA_ORDER lsc_data_order & 0xff {
        INVALID = 0 "invalid",
        NONTRANSPOSE = 1 "nontranspose",
        TRANSPOSE = 2 "transpose",
    }
    /// Vector sizes of LSC.
    LSC_DATA_ELEMS lsc_data_elems & 0xff {
        INVALID = 0 "invalid",
        N1 = 1 "1",
        N2 = 2 "2",
        N3 = 3 "3",
        N4 = 4 "4",
        N8 = 5 "8",
        N16 = 6 "16",
        N32 = 7 "32",
        N64 = 8 "64",
    }
    /// Address sizes of LSC.
    LSC_ADDR_SIZE lsc_addr_size & 0xff {
        INVALID = 0 "invalid",
        A16 = 1 "a16",
        A32 = 2 "a32",
        A64 = 3 "a64",
        A32U = 4 "a32u",
        A32S = 5 "a32s",
    }
    /// Address models of LSC.
    LSC_ADDR_TYPE lsc_addr_type & 0xff {
        INVALID = 0 "invalid",
        FLAT = 1 "flat",
        BSS = 2 "bss",
        SS = 3 "ss",
        BTI = 4 "bti",
        ARG = 5 "arg",
        SURF = 6 "surf",
    }
    /// Caching controls of LSC.
    LSC_CACHING lsc_caching & 0xff {
        DF = 0 "df",
        UC = 1 "uc",
        CA = 2 "ca",
        WB = 3 "wb",
        WT = 4 "wt",
        ST = 5 "st",
        RI = 6 "ri",
        CC = 7 "cc",
    }
    /// Operations of LSC_EXTENDED_CACHE_CTRL.
    LSC_CACHE_OP lsc_cache_op & 0xff {
        RESET = 1 "reset",
        SET = 2 "set",
    }
    /// Sizes of LSC_EXTENDED_CACHE_CTRL.
    LSC_CACHE_SIZE lsc_cache_size & 0xff {
        N64B = 1 "64B",
        N128B = 2 "128B",
        N192B = 3 "192B",
        N256B = 4 "256B",
    }
    /// Flush operations of LSC_FENCE.
    LSC_FENCE_OP lsc_fence_op & 0xff {
        NONE = 0 "none",
        EVICT = 1 "evict",
        INVALIDATE = 2 "invalidate",
        DISCARD = 3 "discard",
        CLEAN = 4 "clean",
        FLUSHL3 = 5 "flushl3",
        TYPE6 = 6 "type6",
    }
    /// Scopes of LSC_FENCE.
    LSC_SCOPE lsc_scope & 0xff {
        GROUP = 0 "group",
        LOCAL = 1 "local",
        TILE = 2 "tile",
        GPU = 3 "gpu",
        GPUS = 4 "gpus",
        SYSREL = 5 "sysrel",
        SYSACQ = 6 "sysacq",
    }
    /// Precisions of DPAS operands.
    PRECISION precision & 0xff {
        U1 = 1 "u1",
        S1 = 2 "s1",
        U2 = 3 "u2",
        S2 = 4 "s2",
        U4 = 5 "u4",
        S4 = 6 "s4",
        U8 = 7 "u8",
        S8 = 8 "s8",
        BF = 9 "bf",
        HF = 10 "hf",
        BF8 = 11 "bf8",
        TF32 = 12 "tf32",
        HF8 = 14 "hf8",
        E2M1 = 15 "e2m1",
    }
    /// Kinds of labels.
    LABEL_KIND label_kind & 0xff {
        BLOCK = 0 "block",
        SUBROUTINE = 1 "subroutine",
        FAST_COMPOSITE = 2 "fast_composite",
        FUNCTION = 3 "function",
        DIVERGENT_RESOURCE_LOOP = 4 "divergent_resource_loop",
    }
    /// Kinds of inputs, in bits 0-2 of the kind byte.
    INPUT_CLASS input_class & 0x7 {
        GENERAL = 0 "general",
        SAMPLER = 1 "sampler",
        SURFACE = 2 "surface",
    }
    /// Implicit inputs, in bits 3-7 of the kind byte.
    IMPLICIT_INPUT implicit_input & 0xf8 {
        EXPLICIT = 0 "explicit",
        LOCAL_SIZE = 1 "local_size",
        GROUP_COUNT = 2 "group_count",
        LOCAL_ID = 3 "local_id",
        SCOREBOARDING_DEPENDENCY = 4 "scoreboarding_dependency",
        SCOREBOARDING_BTI = 5 "scoreboarding_bti",
        PSEUDO_INPUT = 16 "pseudo_input",
    }
    /// Linkage of functions and file-scope variables.
    LINKAGE linkage & 0xff {
        EXTERN = 0 "extern",
        STATIC = 1 "static",
        GLOBAL = 2 "global",
    }
    /// Platforms of native binaries.
    NATIVE_PLATFORM native_platform & 0xff {
        HSW = 2 "HSW",
        BDW = 3 "BDW",
        CHV = 4 "CHV",
        SKL = 5 "SKL",
        BXT = 6 "BXT",
        CNL = 7 "CNL",
        ICL = 8 "ICL",
        ICLLP = 10 "ICLLP",
        XEHP_SDV = 11 "XeHP_SDV",
        TGLLP = 12 "TGLLP",
        DG2 = 13 "DG2",
        PVC = 14 "PVC",
        PVC_XT = 15 "PVC_XT",
    }
    /// Alignments, in bits 4-7 of the property byte.
    ALIGNMENT alignment & 0xf0 {
        BYTE = 0 "byte",
        WORD = 1 "word",
        DWORD = 2 "dword",
        QWORD = 3 "qword",
        OWORD = 4 "oword",
        GRF = 5 "GRF",
        GRFX2 = 6 "GRFx2",
        HWORD = 7 "hword",
        WORDX32 = 8 "wordx32",
        WORDX64 = 9 "wordx64",
    }
    /// Shared functions of raw sends.
    SHARED_FUNCTION shared_function & 0xff {
        NULL = 0 "NULL",
        VSR = 3 "VSR",
        HS = 4 "HS",
        DS = 5 "DS",
        TS = 6 "TS",
        GP = 7 "GP",
        GP1 = 8 "GP1",
        VS = 9 "VS",
        GS = 12 "GS",
        PS = 15 "PS",
        INVALID = 255 "INVALID",
    }
    /// Variants of LFSR.
    LFSR_FUNC lfsr_func & 0xff {
        B32 = 0 "b32",
        B16V2 = 1 "b16v2",
        B8V4 = 2 "b8v4",
    }
    /// Conversions of DNSCL.
    DNSCL_CONVERT_TYPE dnscl_convert_type & 0xff {
        BFTOE2M1 = 1 "bftoe2m1",
        BFTOINT4 = 2 "bftoint4",
        HFTOE2M1 = 4 "hftoe2m1",
        HFTOINT4 = 5 "hftoint4",
    }
    /// Modes of DNSCL.
    DNSCL_MODE dnscl_mode & 0xff {
        MODE0 = 0 "mode0",
        MODE1 = 1 "mode1",
        MODE2 = 2 "mode2",
        MODE3 = 3 "mode3",
    }
    /// Rounding of DNSCL.
    DNSCL_ROUND_MODE dnscl_round_mode & 0xff {
        SRND = 0 "srnd",
        RNE = 1 "rne",
    }
    /// Channel masks.
    CHANNEL_MASK channel_mask & 0xf {
        NONE = 0 "none",
        R = 1 "R",
        G = 2 "G",
        RG = 3 "RG",
        B = 4 "B",
        RB = 5 "RB",
        GB = 6 "GB",
        RGB = 7 "RGB",
        A = 8 "A",
        RA = 9 "RA",
        GA = 10 "GA",
        RGA = 11 "RGA",
        BA = 12 "BA",
        RBA = 13 "RBA",
        GBA = 14 "GBA",
        RGBA = 15 "RGBA",
    }
}
