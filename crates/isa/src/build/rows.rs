//! A constructor for each row of the table. Made from the rows by `cargo xtask bless`: not to be edited.

/// Calls a macro with every constructor of this module, each as
///
/// ```text
/// /// What the instruction does.
/// fn name = ROW(Field parameter: Type, ...; Field list: [Type]);
/// ```
///
/// where `ROW` is a constant of [`Op`](crate::Op) and `Field` one of
/// [`FieldName`](crate::FieldName).
#[macro_export]
macro_rules! for_each_constructor {
    ($($then:tt)+) => {
        $($then)+! {
            /// `add`: Adds two sources. May be predicated.
            fn add = ADD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `avg`: Rounded average of two integers. May be predicated.
            fn avg = AVG(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `div`: Divides the first source by the second. May be predicated.
            fn div = DIV(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `dp2`: Dot product of two elements of each group of four. May be predicated.
            fn dp2 = DP2(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `dp3`: Dot product of three elements of each group of four. May be predicated.
            fn dp3 = DP3(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `dp4`: Dot product of groups of four elements. May be predicated.
            fn dp4 = DP4(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `dph`: Homogeneous dot product of groups of four elements. May be predicated.
            fn dph = DPH(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `exp`: Two to the power of the source. May be predicated.
            fn exp = EXP(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `frc`: Fractional part. May be predicated.
            fn frc = FRC(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `line`: Linear equation of pixel coordinates. May be predicated.
            fn line = LINE(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `log`: Logarithm to the base of two. May be predicated.
            fn log = LOG(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `mad`: Product of the first two sources plus the third. May be predicated.
            fn mad = MAD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `mulh`: Upper half of the product of two 32-bit integers. May be predicated.
            fn mulh = MULH(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `lrp`: Linear interpolation between two sources. May be predicated.
            fn lrp = LRP(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `mod`: Remainder of the division of two integers. May be predicated.
            fn mod_ = MOD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `mul`: Multiplies two sources. May be predicated.
            fn mul = MUL(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `pow`: First source to the power of the second. May be predicated.
            fn pow = POW(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `rndd`: Rounds down to an integer. May be predicated.
            fn rndd = RNDD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `rndu`: Rounds up to an integer. May be predicated.
            fn rndu = RNDU(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `rnde`: Rounds to the nearest integer, ties to even. May be predicated.
            fn rnde = RNDE(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `rndz`: Rounds towards zero to an integer. May be predicated.
            fn rndz = RNDZ(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `sad2`: Sum of absolute differences of pairs of bytes. May be predicated.
            fn sad2 = SAD2(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `sin`: Sine. May be predicated.
            fn sin = SIN(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `cos`: Cosine. May be predicated.
            fn cos = COS(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `sqrt`: Square root. May be predicated.
            fn sqrt = SQRT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `rsqrt`: Reciprocal square root. May be predicated.
            fn rsqrt = RSQRT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `inv`: Reciprocal. May be predicated.
            fn inv = INV(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `srnd`: Stochastic rounding to a narrower float.
            fn srnd = SRND(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `lzd`: Number of leading zero bits. May be predicated.
            fn lzd = LZD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `addc`: Adds two integers and gives the carry. May be predicated.
            fn addc = ADDC(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Carry carry: VectorOperand, Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `subb`: Subtracts two integers and gives the borrow. May be predicated.
            fn subb = SUBB(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Borrow borrow: VectorOperand, Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `sad2add`: Sum of absolute differences of pairs of bytes, accumulated. May be
            /// predicated.
            fn sad2add = SAD2ADD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `plane`: Plane equation of pixel coordinates. May be predicated.
            fn plane = PLANE(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `sqrtm`: Square root, correctly rounded. May be predicated.
            fn sqrtm = SQRTM(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `divm`: Division, correctly rounded. May be predicated.
            fn divm = DIVM(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `dp4a`: Dot product of four bytes, accumulated. May be predicated.
            fn dp4a = DP4A(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `add3`: Adds three sources. May be predicated.
            fn add3 = ADD3(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `madw`: Product of two 32-bit integers plus a third, 64 bits wide. May be
            /// predicated.
            fn madw = MADW(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `add3.o`: Adds three sources and gives the overflow. May be predicated.
            fn add3o = ADD3O(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `tanh`: Hyperbolic tangent. May be predicated.
            fn tanh = TANH(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `sigm`: Sigmoid. May be predicated.
            fn sigm = SIGM(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `invm`: First step of a correctly rounded division. May be predicated.
            fn invm = INVM(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                PredDst pred_dst: VectorOperand, Src0 src0: VectorOperand,
                Src1 src1: VectorOperand);

            /// `rsqtm`: First step of a correctly rounded reciprocal square root. May be
            /// predicated.
            fn rsqtm = RSQTM(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                PredDst pred_dst: VectorOperand, Src0 src0: VectorOperand);

            /// `and`: Bitwise and. May be predicated.
            fn and = AND(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `or`: Bitwise or. May be predicated.
            fn or = OR(ExecSize exec_size: Lanes, Dst dst: VectorOperand, Src0 src0: VectorOperand,
                Src1 src1: VectorOperand);

            /// `xor`: Bitwise exclusive or. May be predicated.
            fn xor = XOR(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `not`: Bitwise complement. May be predicated.
            fn not = NOT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `shl`: Shifts left. May be predicated.
            fn shl = SHL(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `shr`: Shifts right, filling with zeros. May be predicated.
            fn shr = SHR(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `asr`: Shifts right, filling with the sign. May be predicated.
            fn asr = ASR(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `cbit`: Number of set bits. May be predicated.
            fn cbit = CBIT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `fbl`: Position of the lowest set bit. May be predicated.
            fn fbl = FBL(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `fbh`: Position of the highest bit that differs from the sign. May be predicated.
            fn fbh = FBH(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `bfe`: Extracts a bit field. May be predicated.
            fn bfe = BFE(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand);

            /// `bfi`: Inserts a bit field. May be predicated.
            fn bfi = BFI(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand,
                Src3 src3: VectorOperand);

            /// `bfrev`: Reverses the bits. May be predicated.
            fn bfrev = BFREV(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `rol`: Rotates left. May be predicated.
            fn rol = ROL(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `ror`: Rotates right. May be predicated.
            fn ror = ROR(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `bfn`: Any bitwise function of three sources. May be predicated.
            fn bfn = BFN(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand, Src2 src2: VectorOperand,
                BooleanFunc boolean_func: Code);

            /// `fcvt`: Converts between floating-point formats, narrow ones included.
            fn fcvt = FCVT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `addr_add`: Computes an address: base plus offset.
            fn addr_add = ADDR_ADD(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `mov`: Copies and converts. May be predicated.
            fn mov = MOV(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `sel`: Selects one of two sources by a predicate. May be predicated.
            fn sel = SEL(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `setp`: Sets a predicate from the bits of a source.
            fn setp = SETP(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `cmp`: Compares two sources and sets a predicate or a general variable.
            fn cmp = CMP(ExecSize exec_size: Lanes, RelOp rel_op: Code, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `movs`: Copies a state variable, or copies into one.
            fn movs = MOVS(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `min`: Minimum or maximum of two sources.
            fn fminmax = FMINMAX(ExecSize exec_size: Lanes, Op op: Code, Dst dst: VectorOperand,
                Src0 src0: VectorOperand, Src1 src1: VectorOperand);

            /// `bf_cvt`: Converts between float and brain float. Exists since 3.8, before 4.1.
            fn bf_cvt = BF_CVT(ExecSize exec_size: Lanes, Dst dst: VectorOperand,
                Src0 src0: VectorOperand);

            /// `.function`: Begins a subroutine.
            fn subroutine = SUBROUTINE(Label label: LabelId);

            /// `label`: Marks the begin of a block.
            fn label = LABEL(Label label: LabelId);

            /// `jmp`: Uniform jump. May be predicated.
            fn jmp = JMP(ExecSize exec_size: Lanes, Label label: LabelId);

            /// `call`: Calls a subroutine. May be predicated.
            fn call = CALL(ExecSize exec_size: Lanes, Label label: LabelId);

            /// `ret`: Returns from a subroutine or ends the kernel. May be predicated.
            fn ret = RET(ExecSize exec_size: Lanes);

            /// `ifcall`: Calls the function at an address. May be predicated.
            ///
            /// May be set: `flags` (with ifcall_flags).
            fn ifcall = IFCALL(ExecSize exec_size: Lanes, FuncAddr func_addr: VectorOperand,
                ArgSize arg_size: Code, RetSize ret_size: Code);

            /// `faddr`: Address of a function or global symbol.
            fn faddr = FADDR(Symbol symbol: StringId, Dst dst: VectorOperand);

            /// `if`: Begins a SIMD conditional. May be predicated. Exists before 3.8.
            fn if_ = IF(ExecSize exec_size: Lanes);

            /// `else`: Other lanes of the innermost conditional. Exists before 3.8.
            fn else_ = ELSE(ExecSize exec_size: Lanes);

            /// `endif`: Ends a SIMD conditional. Exists before 3.8.
            fn endif = ENDIF(ExecSize exec_size: Lanes);

            /// `do`: Begins a SIMD loop. Exists before 3.8.
            fn do_ = DO(ExecSize exec_size: Lanes);

            /// `while`: Ends a SIMD loop; enabled lanes repeat it. May be predicated. Exists before
            /// 3.8.
            fn while_ = WHILE(ExecSize exec_size: Lanes);

            /// `break`: Enabled lanes leave the loop. May be predicated. Exists before 3.8.
            fn break_ = BREAK(ExecSize exec_size: Lanes);

            /// `cont`: Enabled lanes go to the end of the loop. May be predicated. Exists before
            /// 3.8.
            fn cont = CONT(ExecSize exec_size: Lanes);

            /// `fcall`: Calls a function by name. May be predicated.
            fn fcall = FCALL(ExecSize exec_size: Lanes, FuncName func_name: StringId,
                ArgSize arg_size: Code, RetSize ret_size: Code);

            /// `fret`: Returns from a function. May be predicated.
            fn fret = FRET(ExecSize exec_size: Lanes);

            /// `switchjmp`: Uniform jump to one of several labels.
            fn switchjmp = SWITCHJMP(ExecSize exec_size: Lanes, Index index: VectorOperand;
                Labels labels: [LabelId]);

            /// `goto`: Divergent jump: enabled lanes continue at the label. May be predicated.
            fn goto = GOTO(ExecSize exec_size: Lanes, Label label: LabelId);

            /// `oword_ld`: Loads consecutive OWords at an OWord offset.
            fn oword_ld = OWORD_LD(Size size: Code, IsModified is_modified: Code,
                Surface surface: SurfaceId, Offset offset: VectorOperand, Dst dst: RawOperand);

            /// `oword_st`: Stores consecutive OWords at an OWord offset.
            fn oword_st = OWORD_ST(Size size: Code, Surface surface: SurfaceId,
                Offset offset: VectorOperand, Src src: RawOperand);

            /// `media_ld`: Loads a rectangle of a 2D surface.
            ///
            /// To be set: `modifier`, `surface`, `plane`, `block_width`, `block_height`.
            fn media_ld = MEDIA_LD(XOffset x_offset: VectorOperand,
                YOffset y_offset: VectorOperand, Dst dst: RawOperand);

            /// `media_st`: Stores a rectangle of a 2D surface.
            ///
            /// To be set: `modifier`, `surface`, `plane`, `block_width`, `block_height`.
            fn media_st = MEDIA_ST(XOffset x_offset: VectorOperand,
                YOffset y_offset: VectorOperand, Src src: RawOperand);

            /// `gather`: Loads one element for each lane.
            fn gather = GATHER(EltSize elt_size: Code, IsModified is_modified: Code,
                NumElts num_elts: Lanes, Surface surface: SurfaceId,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Dst dst: RawOperand);

            /// `scatter`: Stores one element for each lane.
            fn scatter = SCATTER(EltSize elt_size: Code, NumElts num_elts: Lanes,
                Surface surface: SurfaceId, GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Src src: RawOperand);

            /// `untyped_atomic`: Atomic operation on one dword for each lane. Exists before 3.7.
            ///
            /// To be set: `op`, `surface`.
            fn untyped_atomic = UNTYPED_ATOMIC(NumElts num_elts: Lanes,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Src0 src0: RawOperand,
                Src1 src1: RawOperand, Dst dst: RawOperand);

            /// `oword_ld_unaligned`: Loads consecutive OWords at a byte offset.
            fn oword_ld_unaligned = OWORD_LD_UNALIGNED(Size size: Code,
                IsModified is_modified: Code, Surface surface: SurfaceId,
                Offset offset: VectorOperand, Dst dst: RawOperand);

            /// `gather4`: Loads up to four consecutive dwords for each lane. Exists before 3.7.
            fn gather4 = GATHER4(Channels channels: Code, IsModified is_modified: Code,
                NumElts num_elts: Lanes, Surface surface: SurfaceId,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Dst dst: RawOperand);

            /// `scatter4`: Stores up to four consecutive dwords for each lane. Exists before 3.7.
            fn scatter4 = SCATTER4(Channels channels: Code, NumElts num_elts: Lanes,
                Surface surface: SurfaceId, GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Src src: RawOperand);

            /// `transpose_ld`: Loads a rectangle with rows and columns swapped. Exists before 3.7.
            fn transpose_ld = TRANSPOSE_LD(Surface surface: SurfaceId,
                BlockWidth block_width: Code, BlockHeight block_height: Code,
                XOffset x_offset: VectorOperand, YOffset y_offset: VectorOperand,
                Dst dst: RawOperand);

            /// `gather4_typed`: Loads up to four channels of a typed surface for each lane. May be
            /// predicated.
            ///
            /// To be set: `channels_inv` (before 3.2), `channels` (since 3.2).
            ///
            /// May be set: `lod` (since 3.2).
            fn gather4_typed = GATHER4_TYPED(ExecSize exec_size: Lanes, Surface surface: SurfaceId,
                U u: RawOperand, V v: RawOperand, R r: RawOperand, Dst dst: RawOperand);

            /// `scatter4_typed`: Stores up to four channels of a typed surface for each lane. May
            /// be predicated.
            ///
            /// To be set: `channels_inv` (before 3.2), `channels` (since 3.2).
            ///
            /// May be set: `lod` (since 3.2).
            fn scatter4_typed = SCATTER4_TYPED(ExecSize exec_size: Lanes,
                Surface surface: SurfaceId, U u: RawOperand, V v: RawOperand, R r: RawOperand,
                Src src: RawOperand);

            /// `typed_atomic`: Atomic operation on a typed surface. May be predicated.
            ///
            /// To be set: `op`, `surface`.
            ///
            /// May be set: `lod`.
            fn typed_atomic_3d = TYPED_ATOMIC_3D(ExecSize exec_size: Lanes, U u: RawOperand,
                V v: RawOperand, R r: RawOperand, Src0 src0: RawOperand, Src1 src1: RawOperand,
                Dst dst: RawOperand);

            /// `gather4_scaled`: Loads up to four consecutive dwords for each lane at byte offsets.
            /// May be predicated.
            ///
            /// May be set: `scale`.
            fn gather4_scaled = GATHER4_SCALED(ExecSize exec_size: Lanes, Channels channels: Code,
                Surface surface: SurfaceId, GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Dst dst: RawOperand);

            /// `scatter4_scaled`: Stores up to four consecutive dwords for each lane at byte
            /// offsets. May be predicated.
            ///
            /// May be set: `scale`.
            fn scatter4_scaled = SCATTER4_SCALED(ExecSize exec_size: Lanes,
                Channels channels: Code, Surface surface: SurfaceId,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Src src: RawOperand);

            /// `strbuf_load`: Loads from a structured buffer. May be predicated. Exists before 3.7.
            fn strbuf_load = STRBUF_LOAD(ExecSize exec_size: Lanes, Channels channels: Code,
                Surface surface: SurfaceId, U u: RawOperand, V v: RawOperand, Dst dst: RawOperand);

            /// `strbuf_store`: Stores to a structured buffer. May be predicated. Exists before 3.7.
            fn strbuf_store = STRBUF_STORE(ExecSize exec_size: Lanes, Channels channels: Code,
                Surface surface: SurfaceId, U u: RawOperand, V v: RawOperand, Src src: RawOperand);

            /// `gather_scaled`: Loads blocks of bytes for each lane at byte offsets. May be
            /// predicated.
            ///
            /// May be set: `scale`.
            fn gather_scaled = GATHER_SCALED(ExecSize exec_size: Lanes, BlockSize block_size: Code,
                NumBlocks num_blocks: Code, Surface surface: SurfaceId,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Dst dst: RawOperand);

            /// `scatter_scaled`: Stores blocks of bytes for each lane at byte offsets. May be
            /// predicated.
            ///
            /// May be set: `scale`.
            fn scatter_scaled = SCATTER_SCALED(ExecSize exec_size: Lanes,
                BlockSize block_size: Code, NumBlocks num_blocks: Code, Surface surface: SurfaceId,
                GlobalOffset global_offset: VectorOperand,
                ElementOffset element_offset: RawOperand, Src src: RawOperand);

            /// `dword_atomic`: Atomic operation on one element for each lane. May be predicated.
            fn dword_atomic = DWORD_ATOMIC(Op op: Code, ExecSize exec_size: Lanes,
                Surface surface: SurfaceId, ElementOffset element_offset: RawOperand,
                Src0 src0: RawOperand, Src1 src1: RawOperand, Dst dst: RawOperand);

            /// `qw_gather`: Loads qwords for each lane. May be predicated.
            fn qw_gather = QW_GATHER(ExecSize exec_size: Lanes, NumBlocks num_blocks: Code,
                Surface surface: SurfaceId, ElementOffset element_offset: RawOperand,
                Dst dst: RawOperand);

            /// `qw_scatter`: Stores qwords for each lane. May be predicated.
            fn qw_scatter = QW_SCATTER(ExecSize exec_size: Lanes, NumBlocks num_blocks: Code,
                Surface surface: SurfaceId, ElementOffset element_offset: RawOperand,
                Src src: RawOperand);

            /// `svm_block_ld`: Loads consecutive OWords from an address.
            fn svm_block_ld = SVM_BLOCK_LD(Properties properties: Code,
                Address address: VectorOperand, Dst dst: RawOperand);

            /// `svm_block_st`: Stores consecutive OWords to an address.
            fn svm_block_st = SVM_BLOCK_ST(Properties properties: Code,
                Address address: VectorOperand, Src src: RawOperand);

            /// `svm_gather`: Loads blocks from the address of each lane. May be predicated.
            fn svm_gather = SVM_GATHER(ExecSize exec_size: Lanes, BlockSize block_size: Code,
                NumBlocks num_blocks: Code, Addresses addresses: RawOperand, Dst dst: RawOperand);

            /// `svm_scatter`: Stores blocks to the address of each lane. May be predicated.
            fn svm_scatter = SVM_SCATTER(ExecSize exec_size: Lanes, BlockSize block_size: Code,
                NumBlocks num_blocks: Code, Addresses addresses: RawOperand, Src src: RawOperand);

            /// `svm_atomic`: Atomic operation on the address of each lane. May be predicated.
            fn svm_atomic = SVM_ATOMIC(ExecSize exec_size: Lanes, Op op: Code,
                Addresses addresses: RawOperand, Src0 src0: RawOperand, Src1 src1: RawOperand,
                Dst dst: RawOperand);

            /// `svm_gather4scaled`: Loads up to four dwords for each lane. May be predicated.
            ///
            /// May be set: `scale`.
            fn svm_gather4scaled = SVM_GATHER4SCALED(ExecSize exec_size: Lanes,
                Channels channels: Code, Address address: VectorOperand,
                ElementOffset element_offset: RawOperand, Dst dst: RawOperand);

            /// `svm_scatter4scaled`: Stores up to four dwords for each lane. May be predicated.
            ///
            /// May be set: `scale`.
            fn svm_scatter4scaled = SVM_SCATTER4SCALED(ExecSize exec_size: Lanes,
                Channels channels: Code, Address address: VectorOperand,
                ElementOffset element_offset: RawOperand, Src src: RawOperand);

            /// `sample`: Samples a surface, legacy form.
            fn sample = SAMPLE(Mode mode: Code, Sampler sampler: SamplerId,
                Surface surface: SurfaceId, U u: RawOperand, V v: RawOperand, R r: RawOperand,
                Dst dst: RawOperand);

            /// `sample_unorm`: Samples a block of normalised integers.
            ///
            /// To be set: `channels`, `sampler`, `surface`.
            fn sample_unorm = SAMPLE_UNORM(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, DeltaU delta_u: VectorOperand,
                DeltaV delta_v: VectorOperand, Dst dst: RawOperand);

            /// `load`: Loads texels without filtering, legacy form.
            fn load = LOAD(Mode mode: Code, Surface surface: SurfaceId, U u: RawOperand,
                V v: RawOperand, R r: RawOperand, Dst dst: RawOperand);

            /// `avs`: Adaptive video scaling of a block.
            ///
            /// To be set: `channels`, `sampler`, `surface`, `u_offset`, `v_offset`, `delta_u`,
            /// `delta_v`, `u2d`, `group_id`, `vertical_block_number`, `output_format`, `v2d`,
            /// `exec_mode`, `ief_bypass`, `dst`.
            fn avs = AVS();

            /// `sample_3d`: Samples a surface. May be predicated.
            ///
            /// May be set: `aoffimmi16` (before 3.4), `aoffimmi` (since 3.4), `sampler_state`
            /// (since 4.2), `sampler_index` (since 4.2), `surface_state` (since 4.2),
            /// `surface_index` (since 4.2), `paired_surface` (since 3.8, with paired_surface).
            fn sample_3d = SAMPLE_3D(Op op: Code, ExecSize exec_size: Lanes,
                Channels channels: Code, Sampler sampler: SamplerId, Surface surface: SurfaceId,
                Dst dst: RawOperand; Params params: [RawOperand]);

            /// `load_3d`: Loads texels without filtering. May be predicated.
            ///
            /// May be set: `aoffimmi16` (before 3.4), `aoffimmi` (since 3.4), `surface_state`
            /// (since 4.2), `surface_index` (since 4.2), `paired_surface` (since 3.8, with
            /// paired_surface).
            fn load_3d = LOAD_3D(Op op: Code, ExecSize exec_size: Lanes, Channels channels: Code,
                Surface surface: SurfaceId, Dst dst: RawOperand; Params params: [RawOperand]);

            /// `sample4_3d`: Collects one channel of four texels. May be predicated.
            ///
            /// May be set: `aoffimmi16` (before 3.4), `aoffimmi` (since 3.4), `sampler_state`
            /// (since 4.2), `sampler_index` (since 4.2), `surface_state` (since 4.2),
            /// `surface_index` (since 4.2), `paired_surface` (since 3.8, with paired_surface).
            fn gather4_3d = GATHER4_3D(Op op: Code, ExecSize exec_size: Lanes,
                SrcChannel src_channel: Code, Sampler sampler: SamplerId,
                Surface surface: SurfaceId, Dst dst: RawOperand; Params params: [RawOperand]);

            /// `info_3d`: Asks for the properties of a surface.
            ///
            /// May be set: `surface_state` (since 4.2), `surface_index` (since 4.2), `lod` (as `op`
            /// says).
            fn info_3d = INFO_3D(Op op: Code, ExecSize exec_size: Lanes, Channels channels: Code,
                Surface surface: SurfaceId, Dst dst: RawOperand);

            /// `rt_write_3d`: Writes pixels to a render target. May be predicated.
            ///
            /// To be set: `mode`, `surface`, `sample_index` (as `mode` says), `cps_counter` (as
            /// `mode` says), `rt_index` (as `mode` says), `src0_alpha` (as `mode` says), `o_mask`
            /// (as `mode` says), `z` (as `mode` says), `stencil` (as `mode` says).
            fn rt_write_3d = RT_WRITE_3D(ExecSize exec_size: Lanes, Header header: RawOperand,
                Red r: RawOperand, Green g: RawOperand, Blue b: RawOperand, Alpha a: RawOperand);

            /// `urb_write_3d`: Writes vertices to the URB. May be predicated.
            fn urb_write_3d = URB_WRITE_3D(ExecSize exec_size: Lanes, NumOut num_out: Code,
                ChannelMask channel_mask: RawOperand, GlobalOffset global_offset: Code,
                UrbHandle urb_handle: RawOperand, PerSlotOffset per_slot_offset: RawOperand,
                VertexData vertex_data: RawOperand);

            /// `va_convolve_2d`: Convolution with a 2D kernel.
            fn va_convolve_2d = VA_CONVOLVE_2D(Sampler sampler: SamplerId,
                Surface surface: SurfaceId, UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, Properties properties: Code, Dst dst: RawOperand);

            /// `va_minmax`: Minimum and maximum of a block.
            fn va_minmax = VA_MINMAX(Surface surface: SurfaceId, UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, MmfMode mmf_mode: VectorOperand,
                Dst dst: RawOperand);

            /// `va_minmaxfilter`: Minimum and maximum filter.
            ///
            /// To be set: `sampler`, `surface`, `output_format`, `exec_mode`.
            fn va_minmaxfilter = VA_MINMAXFILTER(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, MmfMode mmf_mode: VectorOperand,
                Dst dst: RawOperand);

            /// `va_erode`: Erosion.
            fn va_erode = VA_ERODE(Sampler sampler: SamplerId, Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                ExecMode exec_mode: Code, Dst dst: RawOperand);

            /// `va_dilate`: Dilation.
            fn va_dilate = VA_DILATE(Sampler sampler: SamplerId, Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                ExecMode exec_mode: Code, Dst dst: RawOperand);

            /// `va_boolcentroid`: Centroid of a binary image.
            fn va_boolcentroid = VA_BOOLCENTROID(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                VSize v_size: VectorOperand, HSize h_size: VectorOperand, Dst dst: RawOperand);

            /// `va_centroid`: Centroid of a grey image.
            fn va_centroid = VA_CENTROID(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                VSize v_size: VectorOperand, Dst dst: RawOperand);

            /// `va_convolve_1d_v`: Convolution with a vertical kernel.
            fn va_convolve_1d_v = VA_CONVOLVE_1D_V(Sampler sampler: SamplerId,
                Surface surface: SurfaceId, UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, Mode mode: Code, Dst dst: RawOperand);

            /// `va_convolve_1d_h`: Convolution with a horizontal kernel.
            fn va_convolve_1d_h = VA_CONVOLVE_1D_H(Sampler sampler: SamplerId,
                Surface surface: SurfaceId, UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, Mode mode: Code, Dst dst: RawOperand);

            /// `va_convolve_1pixel`: Convolution at single pixels.
            fn va_convolve_1pixel = VA_CONVOLVE_1PIXEL(Sampler sampler: SamplerId,
                Surface surface: SurfaceId, UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, Mode mode: Code, Offsets offsets: RawOperand,
                Dst dst: RawOperand);

            /// `va_floodfill`: Flood fill.
            fn va_floodfill = VA_FLOODFILL(Is8Connect is_8_connect: Code,
                PixelMaskH pixel_mask_h: RawOperand,
                PixelMaskVLeft pixel_mask_v_left: VectorOperand,
                PixelMaskVRight pixel_mask_v_right: VectorOperand,
                LoopCount loop_count: VectorOperand, Dst dst: RawOperand);

            /// `va_lbpcreation`: Local binary patterns.
            fn va_lbpcreation = VA_LBPCREATION(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand, Mode mode: Code,
                Dst dst: RawOperand);

            /// `va_lbpcorrelation`: Correlation of local binary patterns.
            fn va_lbpcorrelation = VA_LBPCORRELATION(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                Disparity disparity: VectorOperand, Dst dst: RawOperand);

            /// `va_correlationsearch`: Search for the best correlation.
            ///
            /// To be set: `surface`, `u_offset`, `v_offset`, `vertical_origin`,
            /// `horizontal_origin`, `x_size`, `y_size`, `x_search_size`, `y_search_size`, `dst`.
            fn va_correlationsearch = VA_CORRELATIONSEARCH();

            /// `va_hdc_convolve_2d`: 2D convolution, result to a surface.
            ///
            /// To be set: `sampler`, `surface`, `properties`, `dst_surface`.
            fn hdc_conv = HDC_CONV(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_minmaxfilter`: Minimum and maximum filter, result to a surface.
            ///
            /// To be set: `sampler`, `surface`, `pixel_size`, `mmf_mode`, `dst_surface`.
            fn hdc_mmf = HDC_MMF(UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                DstX dst_x: VectorOperand, DstY dst_y: VectorOperand);

            /// `va_hdc_erode`: Erosion, result to a surface.
            fn hdc_erode = HDC_ERODE(Sampler sampler: SamplerId, Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                DstSurface dst_surface: SurfaceId, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_dilate`: Dilation, result to a surface.
            fn hdc_dilate = HDC_DILATE(Sampler sampler: SamplerId, Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                DstSurface dst_surface: SurfaceId, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_lbpcorrelation`: Correlation of local binary patterns, result to a surface.
            fn hdc_lbpcorrelation = HDC_LBPCORRELATION(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand,
                Disparity disparity: VectorOperand, DstSurface dst_surface: SurfaceId,
                DstX dst_x: VectorOperand, DstY dst_y: VectorOperand);

            /// `va_hdc_lbpcreation`: Local binary patterns, result to a surface.
            fn hdc_lbpcreation = HDC_LBPCREATION(Surface surface: SurfaceId,
                UOffset u_offset: VectorOperand, VOffset v_offset: VectorOperand, Mode mode: Code,
                DstSurface dst_surface: SurfaceId, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_convolve_1d_h`: Horizontal convolution, result to a surface.
            ///
            /// To be set: `sampler`, `surface`, `pixel_size`, `dst_surface`.
            fn hdc_1dconv_h = HDC_1DCONV_H(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_convolve_1d_v`: Vertical convolution, result to a surface.
            ///
            /// To be set: `sampler`, `surface`, `pixel_size`, `dst_surface`.
            fn hdc_1dconv_v = HDC_1DCONV_V(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, DstX dst_x: VectorOperand,
                DstY dst_y: VectorOperand);

            /// `va_hdc_convolve_1pixel`: Convolution at single pixels, result to a surface.
            ///
            /// To be set: `sampler`, `surface`, `pixel_size`, `dst_surface`.
            fn hdc_1pixelconv = HDC_1PIXELCONV(UOffset u_offset: VectorOperand,
                VOffset v_offset: VectorOperand, Offsets offsets: RawOperand,
                DstX dst_x: VectorOperand, DstY dst_y: VectorOperand);

            /// `vme_ime`: Integer motion estimation.
            ///
            /// To be set: `stream_mode`, `search_ctrl`, `surface`.
            fn vme_ime = VME_IME(UniInput uni_input: RawOperand, ImeInput ime_input: RawOperand,
                Ref0 ref0: RawOperand, Ref1 ref1: RawOperand, CostCenter cost_center: RawOperand,
                Output output: RawOperand);

            /// `vme_sic`: Skip check and intra prediction.
            fn vme_sic = VME_SIC(UniInput uni_input: RawOperand, SicInput sic_input: RawOperand,
                Surface surface: SurfaceId, Output output: RawOperand);

            /// `vme_fbr`: Fractional and bidirectional refinement.
            fn vme_fbr = VME_FBR(UniInput uni_input: RawOperand, FbrInput fbr_input: RawOperand,
                Surface surface: SurfaceId, FbrMbMode fbr_mb_mode: VectorOperand,
                FbrSubMbShape fbr_sub_mb_shape: VectorOperand,
                FbrSubPredMode fbr_sub_pred_mode: VectorOperand, Output output: RawOperand);

            /// `vme_idm`: Integer distortion mesh.
            fn vme_idm = VME_IDM(UniInput uni_input: RawOperand, IdmInput idm_input: RawOperand,
                Surface surface: SurfaceId, Output output: RawOperand);

            /// `dpasw`: Systolic dot product accumulate shared by two execution units. May be
            /// predicated.
            fn dpasw = DPASW(ExecSize exec_size: Lanes, Dst dst: RawOperand, Src0 src0: RawOperand,
                Src1 src1: RawOperand, Src2 src2: VectorOperand,
                PrecisionInfo precision_info: Code);

            /// `.file`: Names the source file of what follows.
            fn file = FILE(FileName file_name: StringId);

            /// `.loc`: Names the source line of what follows.
            fn loc = LOC(Line line: Code);

            /// `barrier`: Waits for all threads of the group.
            fn barrier = BARRIER();

            /// `sampler_cache_flush`: Flushes the sampler cache.
            fn sampler_cache_flush = SAMPLER_CACHE_FLUSH();

            /// `wait`: Waits for a notification.
            ///
            /// May be set: `mask` (since 3.1).
            fn wait = WAIT();

            /// `fence`: Orders memory accesses and flushes caches.
            fn fence = FENCE(Mask mask: Code);

            /// `raw_send`: Sends a message that the program composed. May be predicated.
            ///
            /// To be set: `modifier`, `ex_msg_desc`, `num_src`, `num_dst`.
            fn raw_send = RAW_SEND(ExecSize exec_size: Lanes, Desc desc: VectorOperand,
                Src src: RawOperand, Dst dst: RawOperand);

            /// `yield`: Lets another thread run.
            fn yield_ = YIELD();

            /// `nbarrier.wait`: Named barrier: wait or signal. Exists since 3.8.
            ///
            /// To be set: `num_threads` (without nbarrier_general), `num_producers` (with
            /// nbarrier_general), `num_consumers` (with nbarrier_general).
            ///
            /// May be set: `type` (with nbarrier_general).
            fn nbarrier = NBARRIER(Mode mode: Code, BarrierId barrier_id: VectorOperand);

            /// `raw_sends`: Sends a message of two payloads that the program composed. May be
            /// predicated.
            ///
            /// To be set: `modifier`, `num_src0`, `num_src1`, `num_dst`, `ffid` (since 3.6).
            fn raw_sends = RAW_SENDS(ExecSize exec_size: Lanes,
                ExMsgDesc ex_msg_desc: VectorOperand, Desc desc: VectorOperand,
                Src0 src0: RawOperand, Src1 src1: RawOperand, Dst dst: RawOperand);

            /// `lifetime.start`: Begins or ends the lifetime of a variable.
            fn lifetime = LIFETIME(Properties properties: Code, Variable variable: VarId);

            /// `pbarrier`: Predicated barrier with a result. Exists before 3.6.
            ///
            /// May be set: `mask`.
            fn pbarrier = PBARRIER(Dst dst: RawOperand);

            /// `sbarrier.signal`: Split barrier: signal or wait. Exists since 3.6.
            fn sbarrier = SBARRIER(Mode mode: Code);

            /// `dpas`: Systolic dot product accumulate. May be predicated.
            fn dpas = DPAS(ExecSize exec_size: Lanes, Dst dst: RawOperand, Src0 src0: RawOperand,
                Src1 src1: RawOperand, Src2 src2: VectorOperand,
                PrecisionInfo precision_info: Code);

            /// `raw_sendg`: Sends a message with 64-bit descriptors that the program composed. May
            /// be predicated.
            ///
            /// To be set: `modifier`, `sfid`, `dst_len`, `src0_len`, `src1_len`, `desc_lo`,
            /// `desc_hi`.
            fn raw_sendg = RAW_SENDG(ExecSize exec_size: Lanes, Dst dst: RawOperand,
                Src0 src0: RawOperand, Src1 src1: RawOperand, Ind0 ind0: VectorOperand,
                Ind1 ind1: VectorOperand);

            /// `lsc_load`: Loads elements from the address of each lane. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `overfetch` (since 4.2),
            /// `addr_scale`, `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index),
            /// `src1_data`, `src2_data`.
            fn lsc_load = LSC_LOAD(ExecSize exec_size: Lanes, Surface surface: VectorOperand,
                Dst dst: RawOperand, Src0Addrs src0_addrs: RawOperand);

            /// `lsc_load_strided`: Loads elements at a constant distance. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src1_data`.
            fn lsc_load_strided = LSC_LOAD_STRIDED(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0AddrBase src0_addr_base: RawOperand,
                Src0AddrPitch src0_addr_pitch: VectorOperand);

            /// `lsc_load_quad`: Loads the enabled channels from the address of each lane. May be
            /// predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `overfetch` (since 4.2),
            /// `addr_scale`, `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index),
            /// `src1_data`, `src2_data`.
            fn lsc_load_quad = LSC_LOAD_QUAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand);

            /// `lsc_load_block2d`: Loads rectangles of a 2D surface. May be predicated.
            ///
            /// To be set: `sfid`, `data_size`, `blocks`, `block_width`, `block_height`, `vnni`,
            /// `dst`, `surface_base`, `surface_width`, `surface_height`, `surface_pitch`, `x`, `y`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`, `u_offset`
            /// (since 4.2), `v_offset` (since 4.2), `src1_data`.
            fn lsc_load_block2d = LSC_LOAD_BLOCK2D(ExecSize exec_size: Lanes);

            /// `lsc_store`: Stores elements to the address of each lane. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `dst`,
            /// `src2_data`.
            fn lsc_store = LSC_STORE(ExecSize exec_size: Lanes, Surface surface: VectorOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_store_strided`: Stores elements at a constant distance. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `dst`.
            fn lsc_store_strided = LSC_STORE_STRIDED(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Src0AddrBase src0_addr_base: RawOperand,
                Src0AddrPitch src0_addr_pitch: VectorOperand, Src1Data src1_data: RawOperand);

            /// `lsc_store_quad`: Stores the enabled channels to the address of each lane. May be
            /// predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `dst`,
            /// `src2_data`.
            fn lsc_store_quad = LSC_STORE_QUAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Src0Addrs src0_addrs: RawOperand,
                Src1Data src1_data: RawOperand);

            /// `lsc_store_block2d`: Stores a rectangle of a 2D surface. May be predicated.
            ///
            /// To be set: `sfid`, `data_size`, `blocks`, `block_width`, `block_height`, `vnni`,
            /// `surface_base`, `surface_width`, `surface_height`, `surface_pitch`, `x`, `y`,
            /// `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`, `dst`,
            /// `u_offset` (since 4.2), `v_offset` (since 4.2).
            fn lsc_store_block2d = LSC_STORE_BLOCK2D(ExecSize exec_size: Lanes);

            /// `lsc_atomic_iinc`: Atomic increment. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src1_data`,
            /// `src2_data`.
            fn lsc_atomic_iinc = LSC_ATOMIC_IINC(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand);

            /// `lsc_atomic_idec`: Atomic decrement. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src1_data`,
            /// `src2_data`.
            fn lsc_atomic_idec = LSC_ATOMIC_IDEC(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand);

            /// `lsc_atomic_load`: Atomic load. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src1_data`,
            /// `src2_data`.
            fn lsc_atomic_load = LSC_ATOMIC_LOAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand);

            /// `lsc_atomic_store`: Atomic store. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_store = LSC_ATOMIC_STORE(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_iadd`: Atomic integer addition. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_iadd = LSC_ATOMIC_IADD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_isub`: Atomic integer subtraction. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_isub = LSC_ATOMIC_ISUB(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_smin`: Atomic signed minimum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_smin = LSC_ATOMIC_SMIN(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_smax`: Atomic signed maximum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_smax = LSC_ATOMIC_SMAX(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_umin`: Atomic unsigned minimum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_umin = LSC_ATOMIC_UMIN(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_umax`: Atomic unsigned maximum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_umax = LSC_ATOMIC_UMAX(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_icas`: Atomic integer compare and swap. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_atomic_icas = LSC_ATOMIC_ICAS(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_atomic_fadd`: Atomic float addition. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_fadd = LSC_ATOMIC_FADD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_fsub`: Atomic float subtraction. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_fsub = LSC_ATOMIC_FSUB(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_fmin`: Atomic float minimum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_fmin = LSC_ATOMIC_FMIN(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_fmax`: Atomic float maximum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_fmax = LSC_ATOMIC_FMAX(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_fcas`: Atomic float compare and swap. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_atomic_fcas = LSC_ATOMIC_FCAS(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_atomic_and`: Atomic and. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_and = LSC_ATOMIC_AND(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_or`: Atomic or. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_or = LSC_ATOMIC_OR(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_xor`: Atomic exclusive or. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_xor = LSC_ATOMIC_XOR(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_load_status`: Loads, and gives for each lane whether the page is resident. May
            /// be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `overfetch` (since 4.2),
            /// `addr_scale`, `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_load_status = LSC_LOAD_STATUS(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_store_uncompressed`: Stores without compression. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `dst`,
            /// `src2_data`.
            fn lsc_store_uncompressed = LSC_STORE_UNCOMPRESSED(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Src0Addrs src0_addrs: RawOperand,
                Src1Data src1_data: RawOperand);

            /// `lsc_ccs_update`: Updates the compression state. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_ccs_update = LSC_CCS_UPDATE(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_atomic_bfadd`: Atomic brain-float addition. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_bfadd = LSC_ATOMIC_BFADD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_bfsub`: Atomic brain-float subtraction. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_bfsub = LSC_ATOMIC_BFSUB(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_bfmin`: Atomic brain-float minimum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_bfmin = LSC_ATOMIC_BFMIN(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_bfmax`: Atomic brain-float maximum. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_atomic_bfmax = LSC_ATOMIC_BFMAX(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_atomic_bfcas`: Atomic brain-float compare and swap. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_atomic_bfcas = LSC_ATOMIC_BFCAS(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_apndctr_atomic_add`: Adds to the append counter of a surface. May be
            /// predicated.
            ///
            /// To be set: `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index).
            fn lsc_apndctr_atomic_add = LSC_APNDCTR_ATOMIC_ADD(ExecSize exec_size: Lanes,
                Sfid sfid: Code, AddrType addr_type: Code, DataSize data_size: Code,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Data src0_data: RawOperand);

            /// `lsc_apndctr_atomic_sub`: Subtracts from the append counter of a surface. May be
            /// predicated.
            ///
            /// To be set: `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index).
            fn lsc_apndctr_atomic_sub = LSC_APNDCTR_ATOMIC_SUB(ExecSize exec_size: Lanes,
                Sfid sfid: Code, AddrType addr_type: Code, DataSize data_size: Code,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Data src0_data: RawOperand);

            /// `lsc_apndctr_atomic_store`: Sets the append counter of a surface. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `addr_scale`,
            /// `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index), `src2_data`.
            fn lsc_apndctr_atomic_store = LSC_APNDCTR_ATOMIC_STORE(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_extended_cache_ctrl`: Controls caches. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `data_elems`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `cache_op` (since 4.2),
            /// `cache_size` (since 4.2), `addr_scale`, `addr_offset`, `data_order`, `surface_index`
            /// (with lsc_surface_index).
            fn lsc_extended_cache_ctrl = LSC_EXTENDED_CACHE_CTRL(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_load_quad_status`: Loads channels, and gives for each lane whether the page is
            /// resident. May be predicated.
            ///
            /// To be set: `sfid`, `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `overfetch` (since 4.2),
            /// `addr_scale`, `addr_offset`, `data_order`, `surface_index` (with lsc_surface_index).
            fn lsc_load_quad_status = LSC_LOAD_QUAD_STATUS(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand,
                Src0Addrs src0_addrs: RawOperand, Src1Data src1_data: RawOperand,
                Src2Data src2_data: RawOperand);

            /// `lsc_load_quad.tgm`: Loads the enabled channels from the coordinates of each lane.
            /// May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index),
            /// `src1_data`, `src2_data`.
            fn lsc_typed_load_quad = LSC_TYPED_LOAD_QUAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, Src0U src0_u: RawOperand,
                Src0V src0_v: RawOperand, Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand);

            /// `lsc_load_block2d.tgm`: Loads rectangles of a 2D surface. May be predicated.
            ///
            /// To be set: `addr_type`, `block_width`, `block_height`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `surface_index` (with
            /// lsc_surface_index), `u_offset` (since 4.2), `v_offset` (since 4.2), `src1_data`.
            fn lsc_typed_load_block2d = LSC_TYPED_LOAD_BLOCK2D(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, X x: VectorOperand,
                Y y: VectorOperand);

            /// `lsc_store_quad.tgm`: Stores the enabled channels to the coordinates of each lane.
            /// May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `dst`, `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_store_quad = LSC_TYPED_STORE_QUAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Src0U src0_u: RawOperand, Src0V src0_v: RawOperand,
                Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand,
                Src1Data src1_data: RawOperand);

            /// `lsc_store_block2d.tgm`: Stores a rectangle of a 2D surface. May be predicated.
            ///
            /// To be set: `addr_type`, `block_width`, `block_height`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `surface_index` (with
            /// lsc_surface_index), `dst`, `u_offset` (since 4.2), `v_offset` (since 4.2).
            fn lsc_typed_store_block2d = LSC_TYPED_STORE_BLOCK2D(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, X x: VectorOperand, Y y: VectorOperand,
                Src1Data src1_data: RawOperand);

            /// `lsc_atomic_iinc.tgm`: Atomic increment. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src1_data`, `src2_data`.
            fn lsc_typed_atomic_iinc = LSC_TYPED_ATOMIC_IINC(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, Src0U src0_u: RawOperand,
                Src0V src0_v: RawOperand, Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand);

            /// `lsc_atomic_idec.tgm`: Atomic decrement. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src1_data`, `src2_data`.
            fn lsc_typed_atomic_idec = LSC_TYPED_ATOMIC_IDEC(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, Src0U src0_u: RawOperand,
                Src0V src0_v: RawOperand, Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand);

            /// `lsc_atomic_load.tgm`: Atomic load. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src1_data`, `src2_data`.
            fn lsc_typed_atomic_load = LSC_TYPED_ATOMIC_LOAD(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, Src0U src0_u: RawOperand,
                Src0V src0_v: RawOperand, Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand);

            /// `lsc_atomic_store.tgm`: Atomic store. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_store = LSC_TYPED_ATOMIC_STORE(ExecSize exec_size: Lanes);

            /// `lsc_atomic_iadd.tgm`: Atomic integer addition. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_iadd = LSC_TYPED_ATOMIC_IADD(ExecSize exec_size: Lanes);

            /// `lsc_atomic_isub.tgm`: Atomic integer subtraction. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_isub = LSC_TYPED_ATOMIC_ISUB(ExecSize exec_size: Lanes);

            /// `lsc_atomic_smin.tgm`: Atomic signed minimum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_smin = LSC_TYPED_ATOMIC_SMIN(ExecSize exec_size: Lanes);

            /// `lsc_atomic_smax.tgm`: Atomic signed maximum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_smax = LSC_TYPED_ATOMIC_SMAX(ExecSize exec_size: Lanes);

            /// `lsc_atomic_umin.tgm`: Atomic unsigned minimum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_umin = LSC_TYPED_ATOMIC_UMIN(ExecSize exec_size: Lanes);

            /// `lsc_atomic_umax.tgm`: Atomic unsigned maximum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_umax = LSC_TYPED_ATOMIC_UMAX(ExecSize exec_size: Lanes);

            /// `lsc_atomic_icas.tgm`: Atomic integer compare and swap. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index).
            fn lsc_typed_atomic_icas = LSC_TYPED_ATOMIC_ICAS(ExecSize exec_size: Lanes);

            /// `lsc_atomic_fadd.tgm`: Atomic float addition. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_fadd = LSC_TYPED_ATOMIC_FADD(ExecSize exec_size: Lanes);

            /// `lsc_atomic_fsub.tgm`: Atomic float subtraction. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_fsub = LSC_TYPED_ATOMIC_FSUB(ExecSize exec_size: Lanes);

            /// `lsc_atomic_fmin.tgm`: Atomic float minimum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_fmin = LSC_TYPED_ATOMIC_FMIN(ExecSize exec_size: Lanes);

            /// `lsc_atomic_fmax.tgm`: Atomic float maximum. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_fmax = LSC_TYPED_ATOMIC_FMAX(ExecSize exec_size: Lanes);

            /// `lsc_atomic_fcas.tgm`: Atomic float compare and swap. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index).
            fn lsc_typed_atomic_fcas = LSC_TYPED_ATOMIC_FCAS(ExecSize exec_size: Lanes);

            /// `lsc_atomic_and.tgm`: Atomic and. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_and = LSC_TYPED_ATOMIC_AND(ExecSize exec_size: Lanes);

            /// `lsc_atomic_or.tgm`: Atomic or. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_or = LSC_TYPED_ATOMIC_OR(ExecSize exec_size: Lanes);

            /// `lsc_atomic_xor.tgm`: Atomic exclusive or. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `multi_sampled` (since
            /// 4.2), `data_order`, `surface_index` (with lsc_surface_index), `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_atomic_xor = LSC_TYPED_ATOMIC_XOR(ExecSize exec_size: Lanes);

            /// `lsc_load_status.tgm`: Loads, and gives for each lane whether the page is resident.
            /// May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index).
            fn lsc_typed_load_status = LSC_TYPED_LOAD_STATUS(ExecSize exec_size: Lanes);

            /// `lsc_store_uncompressed.tgm`: Stores without compression. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `dst`, `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_store_uncompressed = LSC_TYPED_STORE_UNCOMPRESSED(
                ExecSize exec_size: Lanes, Surface surface: VectorOperand,
                Src0U src0_u: RawOperand, Src0V src0_v: RawOperand, Src0R src0_r: RawOperand,
                Src0Lod src0_lod: RawOperand, Src1Data src1_data: RawOperand);

            /// `lsc_ccs_update.tgm`: Updates the compression state. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index).
            fn lsc_typed_ccs_update = LSC_TYPED_CCS_UPDATE(ExecSize exec_size: Lanes);

            /// `lsc_read_state_info.tgm`: Reads properties of the surface. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `data_elems`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index).
            fn lsc_typed_read_state_info = LSC_TYPED_READ_STATE_INFO(ExecSize exec_size: Lanes);

            /// `lsc_load_quad_msrt.tgm`: Loads samples of a multi-sampled render target. May be
            /// predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index),
            /// `src1_data`, `src2_data`.
            fn lsc_typed_load_quad_msrt = LSC_TYPED_LOAD_QUAD_MSRT(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Dst dst: RawOperand, Src0U src0_u: RawOperand,
                Src0V src0_v: RawOperand, Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand);

            /// `lsc_store_quad_msrt.tgm`: Stores samples of a multi-sampled render target. May be
            /// predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `dst`, `u_offset` (with
            /// lsc_surface_index), `v_offset` (with lsc_surface_index), `r_offset` (with
            /// lsc_surface_index), `src2_data`.
            fn lsc_typed_store_quad_msrt = LSC_TYPED_STORE_QUAD_MSRT(ExecSize exec_size: Lanes,
                Surface surface: VectorOperand, Src0U src0_u: RawOperand, Src0V src0_v: RawOperand,
                Src0R src0_r: RawOperand, Src0Lod src0_lod: RawOperand,
                Src1Data src1_data: RawOperand);

            /// `lsc_load_quad_status.tgm`: Loads channels, and gives for each lane whether the page
            /// is resident. May be predicated.
            ///
            /// To be set: `addr_type`, `addr_size`, `data_size`, `ch_mask`, `surface`, `dst`,
            /// `src0_u`, `src0_v`, `src0_r`, `src0_lod`, `src1_data`, `src2_data`.
            ///
            /// May be set: `cache_l1`, `cache_l2` (since 4.2), `cache_l3`, `data_order`,
            /// `surface_index` (with lsc_surface_index), `u_offset` (with lsc_surface_index),
            /// `v_offset` (with lsc_surface_index), `r_offset` (with lsc_surface_index).
            fn lsc_typed_load_quad_status = LSC_TYPED_LOAD_QUAD_STATUS(ExecSize exec_size: Lanes);

            /// `lsc_fence`: Orders memory accesses of the load/store cache. May be predicated.
            fn lsc_fence = LSC_FENCE(ExecSize exec_size: Lanes, Sfid sfid: Code,
                FenceOp fence_op: Code, Scope scope: Code);
        }
    };
}
