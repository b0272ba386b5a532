//! Names of the fields that instructions are made of.

macro_rules! field_names {
    ($( $(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $variant:ident $text:literal, )*) => {
        /// The name of a field. One name has one meaning in all instructions that carry it; the
        /// notes of a [`FieldDef`](super::FieldDef) tell what is particular to one of them.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum FieldName {
            $( $(#[doc = $doc])+ $(#[cfg($cfg)])? $variant, )*
        }

        impl FieldName {
            /// Every name.
            pub const ALL: &'static [Self] = &[$( $(#[cfg($cfg)])? Self::$variant),*];

            /// The name as text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( $(#[cfg($cfg)])? Self::$variant => $text, )*
                }
            }
        }
    };
}

impl FieldName {
    /// The field of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|n| n.as_str() == name)
    }
}

impl FieldName {
    /// Whether an operand of this name is written rather than read.
    #[inline]
    #[must_use]
    pub const fn is_destination(self) -> bool {
        matches!(
            self,
            Self::Dst | Self::Carry | Self::Borrow | Self::PredDst | Self::Output
        )
    }
}

impl core::fmt::Display for FieldName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

field_names! {
    /// Number of lanes and execution mask.
    ExecSize "exec_size",
    /// Predication word.
    Pred "pred",
    /// Destination.
    Dst "dst",
    /// First source.
    Src0 "src0",
    /// Second source.
    Src1 "src1",
    /// Third source.
    Src2 "src2",
    /// Byte 0 precision of the weights (src1), byte 1 of the activations (src2), byte 2 systolic depth, byte 3 repeat
    /// count.
    PrecisionInfo "precision_info",
    /// Relation, in bits 0-2.
    RelOp "rel_op",
    /// Target label, or the label that is placed here.
    Label "label",
    /// Log2 of the number of OWords.
    Size "size",
    /// Bit 0: the block may have been written by the kernel; readers ignore it.
    IsModified "is_modified",
    /// Surface accessed: a surface variable, or for LSC the surface base.
    Surface "surface",
    /// Offset of the block into the surface.
    Offset "offset",
    /// Data to be stored.
    Src "src",
    /// Variant of the message.
    Modifier "modifier",
    /// Plane of the surface: Y, UV or V.
    Plane "plane",
    /// Width of the block (bytes; elements for untyped LSC).
    BlockWidth "block_width",
    /// Height of the block in rows.
    BlockHeight "block_height",
    /// Horizontal offset of the block in bytes.
    XOffset "x_offset",
    /// Vertical offset of the block in rows.
    YOffset "y_offset",
    /// Element size, in bits 0-1.
    EltSize "elt_size",
    /// Number of lanes and execution mask.
    NumElts "num_elts",
    /// Offset common to all lanes.
    GlobalOffset "global_offset",
    /// Offset of each lane.
    ElementOffset "element_offset",
    /// Operation.
    Op "op",
    /// Channel mask, bit 0 red to bit 3 alpha.
    Channels "channels",
    /// Mode of the operation.
    Mode "mode",
    /// Sampler variable; 31 is the bindless sampler.
    Sampler "sampler",
    /// Variable that holds the address of the sampler's state, null where a sampler is named.
    SamplerState "sampler_state",
    /// Sampler-state index added to the address.
    SamplerIndex "sampler_index",
    /// Variable that holds the address of the surface's state, null where a surface is named.
    SurfaceState "surface_state",
    /// Coordinate U.
    U "u",
    /// Coordinate V.
    V "v",
    /// Coordinate R.
    R "r",
    /// Coordinate or immediate offset along U.
    UOffset "u_offset",
    /// Coordinate or immediate offset along V.
    VOffset "v_offset",
    /// Step along U.
    DeltaU "delta_u",
    /// Step along V.
    DeltaV "delta_v",
    /// Second derivative of U.
    U2d "u2d",
    /// Message group id.
    GroupId "group_id",
    /// Vertical block number.
    VerticalBlockNumber "vertical_block_number",
    /// Format of the result.
    OutputFormat "output_format",
    /// Second derivative of V.
    V2d "v2d",
    /// Shape of the block that is processed.
    ExecMode "exec_mode",
    /// Bypasses the image-enhancement filter.
    IefBypass "ief_bypass",
    /// Packed properties.
    Properties "properties",
    /// Which of minimum and maximum are computed.
    MmfMode "mmf_mode",
    /// Vertical size.
    VSize "v_size",
    /// Horizontal size.
    HSize "h_size",
    /// Fourth source.
    Src3 "src3",
    /// Carry of each lane.
    Carry "carry",
    /// Borrow of each lane.
    Borrow "borrow",
    /// Channel mask stored inverted: a set bit disables.
    ChannelsInv "channels_inv",
    /// Level of detail.
    Lod "lod",
    /// Offsets of the pixels.
    Offsets "offsets",
    /// Eight-connected instead of four-connected.
    Is8Connect "is_8_connect",
    /// Horizontal pixel mask.
    PixelMaskH "pixel_mask_h",
    /// Vertical pixel mask of the left edge.
    PixelMaskVLeft "pixel_mask_v_left",
    /// Vertical pixel mask of the right edge.
    PixelMaskVRight "pixel_mask_v_right",
    /// Number of iterations.
    LoopCount "loop_count",
    /// Disparity of the comparison.
    Disparity "disparity",
    /// Vertical origin of the source block.
    VerticalOrigin "vertical_origin",
    /// Horizontal origin of the source block.
    HorizontalOrigin "horizontal_origin",
    /// Width of the source block.
    XSize "x_size",
    /// Height of the source block.
    YSize "y_size",
    /// Width of the search window.
    XSearchSize "x_search_size",
    /// Height of the search window.
    YSearchSize "y_search_size",
    /// Surface that receives the result.
    DstSurface "dst_surface",
    /// Horizontal offset in the destination surface.
    DstX "dst_x",
    /// Vertical offset in the destination surface.
    DstY "dst_y",
    /// Size of a result pixel.
    PixelSize "pixel_size",
    /// Address common to all lanes.
    Address "address",
    /// Size of a block.
    BlockSize "block_size",
    /// Number of blocks of each lane.
    NumBlocks "num_blocks",
    /// Address of each lane.
    Addresses "addresses",
    /// Scale of the offsets, must be zero.
    Scale "scale",
    /// Properties of the call.
    Flags "flags",
    /// Address of the callee.
    FuncAddr "func_addr",
    /// Size of the arguments in GRFs.
    ArgSize "arg_size",
    /// Size of the return value in GRFs.
    RetSize "ret_size",
    /// Name of the function or global symbol.
    Symbol "symbol",
    /// Name of the source file.
    FileName "file_name",
    /// Line of the source file.
    Line "line",
    /// Streaming mode.
    StreamMode "stream_mode",
    /// Search control.
    SearchCtrl "search_ctrl",
    /// Universal input.
    UniInput "uni_input",
    /// Input of the integer motion estimation.
    ImeInput "ime_input",
    /// First reference.
    Ref0 "ref0",
    /// Second reference.
    Ref1 "ref1",
    /// Cost centre.
    CostCenter "cost_center",
    /// Result of the motion estimation.
    Output "output",
    /// Input of the skip check.
    SicInput "sic_input",
    /// Input of the fractional refinement.
    FbrInput "fbr_input",
    /// Macroblock mode.
    FbrMbMode "fbr_mb_mode",
    /// Shape of the sub-macroblocks.
    FbrSubMbShape "fbr_sub_mb_shape",
    /// Prediction mode of the sub-macroblocks.
    FbrSubPredMode "fbr_sub_pred_mode",
    /// Input of the distortion mesh.
    IdmInput "idm_input",
    /// Mask of the events.
    Mask "mask",
    /// Extended message descriptor.
    ExMsgDesc "ex_msg_desc",
    /// Length of the payload in GRFs.
    NumSrc "num_src",
    /// Length of the response in GRFs.
    NumDst "num_dst",
    /// Message descriptor.
    Desc "desc",
    /// Number of the barrier.
    BarrierId "barrier_id",
    /// Number of threads; writers repeat the barrier number for a wait.
    NumThreads "num_threads",
    /// Role of this thread: 0 both, 1 producer, 2 consumer.
    Type "type",
    /// Number of producers.
    NumProducers "num_producers",
    /// Number of consumers.
    NumConsumers "num_consumers",
    /// Name of the callee.
    FuncName "func_name",
    /// Number of targets.
    NumLabels "num_labels",
    /// Selector of the target.
    Index "index",
    /// Targets.
    Labels "labels",
    /// Packed texel offsets.
    Aoffimmi16 "aoffimmi16",
    /// Packed texel offsets.
    Aoffimmi "aoffimmi",
    /// Surface paired with the first.
    PairedSurface "paired_surface",
    /// Number of parameters.
    NumParams "num_params",
    /// Parameters of the message, in the order of its sub-operation.
    Params "params",
    /// Channel number: 0 red to 3 alpha.
    SrcChannel "src_channel",
    /// Header of the message, null where absent.
    Header "header",
    /// Sample index.
    SampleIndex "sample_index",
    /// Coarse-pixel counter.
    CpsCounter "cps_counter",
    /// Index of the render target.
    RtIndex "rt_index",
    /// Alpha of source 0.
    Src0Alpha "src0_alpha",
    /// Output mask.
    OMask "o_mask",
    /// Red.
    Red "R",
    /// Green.
    Green "G",
    /// Blue.
    Blue "B",
    /// Alpha.
    Alpha "A",
    /// Depth.
    Z "z",
    /// Stencil.
    Stencil "stencil",
    /// Number of vertex elements.
    NumOut "num_out",
    /// Channel mask of each element.
    ChannelMask "channel_mask",
    /// URB handle.
    UrbHandle "urb_handle",
    /// Offset of each slot.
    PerSlotOffset "per_slot_offset",
    /// Vertex data.
    VertexData "vertex_data",
    /// Length of the first payload in GRFs.
    NumSrc0 "num_src0",
    /// Length of the second payload in GRFs.
    NumSrc1 "num_src1",
    /// Shared function that is addressed.
    Ffid "ffid",
    /// Variable whose lifetime is marked.
    Variable "variable",
    /// Truth table of three bits; bit index src0 + 2 src1 + 4 src2.
    BooleanFunc "boolean_func",
    /// Shared function that is addressed.
    Sfid "sfid",
    /// Caching in the first level.
    CacheL1 "cache_l1",
    /// Caching in the second level.
    CacheL2 "cache_l2",
    /// Caching in the third level.
    CacheL3 "cache_l3",
    /// Address model.
    AddrType "addr_type",
    /// Multiplier of the addresses, 1 when unscaled.
    AddrScale "addr_scale",
    /// Offset in bytes added to each address.
    AddrOffset "addr_offset",
    /// Size of an address.
    AddrSize "addr_size",
    /// Size of an element in memory and register.
    DataSize "data_size",
    /// Order of the elements in registers.
    DataOrder "data_order",
    /// Number of elements of each address.
    DataElems "data_elems",
    /// Channel mask of quad operations, a copy of the element count in others.
    ChMask "ch_mask",
    /// Surface-state index added to the base.
    SurfaceIndex "surface_index",
    /// Addresses.
    Src0Addrs "src0_addrs",
    /// First data operand.
    Src1Data "src1_data",
    /// Second data operand.
    Src2Data "src2_data",
    /// First address.
    Src0AddrBase "src0_addr_base",
    /// Distance between the addresses in bytes.
    Src0AddrPitch "src0_addr_pitch",
    /// Number of blocks.
    Blocks "blocks",
    /// Whether rows are interleaved for VNNI.
    Vnni "vnni",
    /// Base address of the surface.
    SurfaceBase "surface_base",
    /// Width of the surface in bytes, minus one.
    SurfaceWidth "surface_width",
    /// Height of the surface in rows, minus one.
    SurfaceHeight "surface_height",
    /// Pitch of the surface in bytes, minus one.
    SurfacePitch "surface_pitch",
    /// Horizontal origin of the block.
    X "x",
    /// Vertical origin of the block.
    Y "y",
    /// Data operand.
    Src0Data "src0_data",
    /// Coordinate U.
    Src0U "src0_u",
    /// Coordinate V.
    Src0V "src0_v",
    /// Coordinate R.
    Src0R "src0_r",
    /// Immediate offset along R.
    ROffset "r_offset",
    /// Level of detail.
    Src0Lod "src0_lod",
    /// Bit 0: more may be fetched than is asked for.
    Overfetch "overfetch",
    /// Bit 0: the surface has several samples in each texel.
    MultiSampled "multi_sampled",
    /// What is done to the cached lines.
    CacheOp "cache_op",
    /// How much of the cache is meant.
    CacheSize "cache_size",
    /// What the fence flushes.
    FenceOp "fence_op",
    /// How far the fence reaches.
    Scope "scope",
    /// Length of the response.
    DstLen "dst_len",
    /// Length of the first payload.
    Src0Len "src0_len",
    /// Length of the second payload.
    Src1Len "src1_len",
    /// First indirect descriptor.
    Ind0 "ind0",
    /// Second indirect descriptor.
    Ind1 "ind1",
    /// Lower half of the descriptor.
    DescLo "desc_lo",
    /// Upper half of the descriptor.
    DescHi "desc_hi",
    /// Variant of the register.
    FuncCtrl "func_ctrl",
    /// Fifth source.
    Src4 "src4",
    /// Conversion.
    ConvertType "convert_type",
    /// Rounding.
    RoundMode "round_mode",
    /// Predicate destination: lanes that need a fix-up.
    PredDst "pred_dst",
    /// What no compiler knows.
    #[cfg(feature = "probe")]
    Probe "probe",
}
