"""What an expression of a generated program may call, by the type of its result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

TYPES = {
    "u": "u32", "i": "i32", "q": "u64", "l": "i64", "f": "float", "d": "double",
    "h": "hh", "b": "bb", "p": "h2", "r": "b2",
}  # fmt: skip
FIRST = 75  # the oldest architecture


@dataclass(frozen=True)
class Operator:
    """A text with `$` for each operand, the types of these, and the oldest architecture that computes it exactly."""

    text: str
    operands: str
    since: int = FIRST


# A line: the result's type; operands' types, or - for none; texts, with `$` for an operand if it isn't a function's
# name, `#` for a number of 0 to 255, `@` for one from 1 on, and {a,b} for either. `80:` begins what only sm_80 and
# later compute exactly.
LINES = """
u uu ($+$) ($-$) ($*$) ($&$) ($|$) ($^$) ($<<($&31)) ($>>($&31)) ($/($|1u)) ($%($|1u)) ($<$) ($==$) __umulhi __umul24
u uu __{uhadd,urhadd} mn<u32> mx<u32> rot32 join byte_of ($&&$) ((u32)(u8)($+$)) ((u32)(u16)($*$)) ((u32)(i8)($-$))
u u (~$) (-$) ($/@u) ($*#u) ($>>#%32u) (!$) ((u32)__popc($)) __brev ((u32)__clz((i32)$)) ((u32)__ffs((i32)$)) bfind_u
u u bfind_s bfind_shift cnot sat_u16 in[$&1023u] cst[$&15u] la[$&7u] ((u32)ba[$&15u]) s.w[$&3u] ((u32)s.c[$%5u])
u u ((u32)rot16((u16)$,#)) ((u32)(u16)$/@u) ((u32)((u8)$/7u))
u - u0 u1 u2 u3 t lane blockIdx.x s.a s.w[1] s.w[3] ((u32)s.c[2]) ((u32)s.h) blockDim.x cst[9] in[77]
u uuu __byte_perm __funnelshift_{l,r,lc,rc} __usad bfe_{u,s} prmt_{f4e,b4e,rc8,ecl,ecr,rc16} __dp4a __dp2a_{lo,hi}
u uuu lop3<#> dp2a_su dp4a_us mad24_hi mad_hi_s mad_hi_sat part vabs_b vmax_b vset_b vmad_b vmad_hb ($*$+$) ($&1?$:$)
u uuu (($<<#%32u)+$^$) (($^$)&$) __viaddmax_s16x2 __viaddmin_u16x2 __viaddmin_s16x2_relu __vimax3_s16x2 __vimin3_u16x2
u uuu __vimin3_s16x2_relu __viaddmin_u32 __vimin3_u32 ((u32)__fns($,$&31u,((i32)$)%33))
u uuuu ($<$?$:$) bfi carry3 borrow3 madc ($==$?$:$) ($<$?$+#u:$)
u uu bmsk_{clamp,wrap} szext_clamp_u szext_wrap_s add_sat sub_sat vadd_{sat,b} vsub_h vshl_w vibmin2
u uu __vadd{2,4} __vsub{2,4} __vaddss{2,4} __vaddus{2,4} __vsubss{2,4} __vsubus{2,4} __vavgs{2,4} __vavgu{2,4}
u uu __vhaddu{2,4} __vabsdiffs{2,4} __vabsdiffu{2,4} __vmaxs{2,4} __vmaxu{2,4} __vmins{2,4} __vminu{2,4}
u uu __vcmp{eq,ne,gts,gtu,les,ltu}{2,4} __vset{eq,ges,ltu}{2,4} __vsad{u,s}{2,4} __vimax_s16x2_relu
u u __vabs{2,4} __vabsss{2,4} __vneg{2,4} __vnegss{2,4}
u iu __sad($,$,#u)
u ii ($<$) ($<=$) vibmax
u iiu __sad
u q ((u32)$) ((u32)($>>32)) ((u32)__popcll($)) bfind_l ((u32)qa[$&3])
u l ((u32)__clzll($)) ((u32)__ffsll($)) sat_{s16,s32,u32}
u qq ($<$) ($!=$)
u ll ($<$) ($>=$)
u i ((u32)$) sat_{s8,u8} ((u32)shalf((u32)$))
u iu pack_u8($,(i32)$,#u)
u ii pack_s16
u f fb f2{u8,s8,s16} fclass __float2uint_{rn,rz,rd,ru}
u ff forder set_ltu
u uuf slct_f
u d dclass d2u16 __double2uint_{rn,rz,rd,ru}
u dd dorder
u h hb __half2uint_{rn,rz,rd,ru}
u hh horder
u b bb_ __bfloat162uint_{rn,rz,rd,ru}
u bb border
u p pb
u pp porder __hlt2_mask ((u32)__hbgt2($,$))
u r rb
u rr 80:__hlt2_mask
i ii iadd isub imul idiv_ irem ($&$) ($^$)
i ii __mulhi __mul24 __hadd __rhadd mn<i32> mx<i32> __vimin_s32_relu ((i32)(i16)iadd($,$))
i i ineg iabs idiv_($,#-99) irem($,#+1) (~$) ($>>#%32u) idiv_($,-(#+1)) ($/(1<<#%31))
i iu ($>>($&31)) ishl
i iii __dp4a __dp2a_{lo,hi} __viaddmax_s32 __viaddmin_s32_relu __vimax3_s32 iadd(imul($,$),$)
i uii ($&1?$:$)
i iiii ($<$?$:$)
i u ((i32)$) sbyte shalf ((i32)(i16)s.w[$&3u])
i - i0 i1 i2 s.b ((i32)t-20)
i f __float2int_{rn,rz,rd,ru} (i32)fb
i d __double2int_{rn,rz,rd,ru}
i h __half2int_{rn,rz,rd,ru} ((i32)__half2short_{rn,rz,rd,ru}($))
i b __bfloat162int_{rn,rz,rd,ru}
i l ((i32)$) ((i32)($>>35))
i f ilogbf
i d ilogb
q qq ($+$) ($-$) ($*$) ($&$) ($|$) ($^$) ($/($|1ull)) ($%($|1ull)) __umul64hi mn<u64> mx<u64>
q q (~$) ($/@ull) ($%@ull) ($>>#%64u) ($<<#%64u) __brevll (0ull-$) ($*#ull)
q qu ($>>($&63)) ($<<($&63)) rot64
q quu bfe_q($,$&127u,$&127u) bfe_l($,$&127u,$&127u)
q uu ((u64)$*$) (((u64)$<<32)|$)
q qqu mul128
q qqqq add128 sub128 ($<$?$:$)
q uqq ($&1?$:$)
q u ((u64)$) qa[$&3u]
q i ((u64)$)
q d db
q f __float2ull_{rn,rz,rd,ru}
q d __double2ull_{rn,rz,rd,ru}
q b __bfloat162ull_{rn,rz,rd,ru}
q l ((u64)$)
q - q0 q1 s.q 0x123456789abcdefull
l ll ladd lsub lmul ldiv_ lrem ($^$) __mul64hi mn<i64> mx<i64>
l l lneg ($>>#%64u) ldiv_($,#-77) lrem($,#+3)
l lu ($>>($&63)) lshl
l lqu sar128
l ii ((i64)$*$)
l i ((i64)$)
l q ((i64)$)
l llll ($<$?$:$)
l f __float2ll_{rn,rz,rd,ru}
l d __double2ll_{rn,rz,rd,ru}
l h __half2ll_{rn,rz,rd,ru}
l - l0 l1 ((i64)s.q)
f ff ($+$) ($-$) ($*$) ($/$) fmn fmx __fadd_{rz,rd,ru} __fsub_{rz,rd,ru} __fmul_{rz,rd,ru} __fdiv_{rn,rz,rd,ru} fsat
f ff fadd_ftz fmul_ftz fsign fmodf remainderf nextafterf fdimf
f f (-$) fabsf sqrtf(fabsf($)) __fsqrt_{rn,rz,rd,ru}(fabsf($)) __frcp_{rn,rz,rd,ru} floorf ceilf truncf rintf roundf
f f __saturatef ($*0.37f) ($+1.0f) (1.0f/$) ($-0.5f) ($*3.5e20f) ($*1e-30f)
f fff fmaf __fmaf_{rz,rd,ru} fmsat fmaf(-$,$,$) ($*$+$)
f fi fscale
f ffff ($<$?$:$)
f uff ($&1?$:$)
f u bf ((float)$) __uint2float_{rz,rd,ru} ((float)(u8)$) ((float)(u16)$)
f i ((float)$) __int2float_{rz,rd,ru} ((float)(i8)$) ((float)(i16)$)
f q ((float)$) __ull2float_{rz,rd,ru}
f l ((float)$) __ll2float_{rz,rd,ru}
f d ((float)$) __double2float_{rz,rd,ru}
f h __half2float
f b __bfloat162float
f - f0 f1 f2 s.f 0.0f (-0.0f) 1e30f 1e-40f 16777216.0f 3.1415927f (-0.5f) 65504.0f
d dd ($+$) ($-$) ($*$) ($/$) dmn dmx
d dd __dadd_{rz,rd,ru} __dsub_{rz,rd,ru} __dmul_{rz,rd,ru} __ddiv_{rz,rd,ru} dsign fdim
d dd nextafter fmod
d d (-$) fabs sqrt(fabs($)) __dsqrt_{rz,rd,ru}(fabs($)) __drcp_{rn,rz,rd,ru} floor
d d ceil trunc rint round (1.0/$) ($*1e-200) ($*1e300)
d ddd fma __fma_{rz,rd,ru} ($*$-$)
d di dscale
d dddd ($<$?$:$)
d q bd ((double)$) __ull2double_{rz,rd,ru}
d l ((double)$) __ll2double_{rz,rd,ru}
d f ((double)$)
d i ((double)$)
d u ((double)$)
d - d0 d1 s.d 0.1 (-0.0) 1e-310 2.5e300
h hh __hadd_rn __hsub_rn __hmul_rn __hadd_sat __hmul_sat
h hh 80:__hmin 80:__hmax 80:__hmin_nan 80:__hmax_nan
h hhh __hfma __hfma_sat 80:__hfma_relu 80:__hmin(__hmax($,$),$)
h h __hneg __habs hfloor hceil htrunc hrint
h hhu hsel
h f __float2half_{rn,rz,rd,ru}
h d __double2half
h i __int2half_{rn,rz,rd,ru} __short2half_{rn,rz,rd,ru}((i16)$)
h u __uint2half_{rn,rz,rd,ru} bh
h l __ll2half_{rn,rz,rd,ru}
h p __low2half __high2half
h - h0 h1 bh(s.h) bh(0x3c00) bh(0x7bff) bh(0x8001)
b bb 80:__hadd_rn 80:__hsub_rn 80:__hmul_rn 80:__hmin 80:__hmax 80:__hmax_nan
b bbb 80:__hfma 80:__hfma_relu 80:__hfma_sat
b b __hneg __habs
b f __float2bfloat16_{rn,rz,rd,ru}
b d __double2bfloat16
b i __int2bfloat16_{rn,rz,rd,ru}
b u __uint2bfloat16_{rn,rz,rd,ru} bB
b q __ull2bfloat16_{rn,rz,rd,ru}
b r __low2bfloat16 __high2bfloat16
b - b0 b1 bB(0x3f80) bB(0x7f7f) bB(0x8001)
p pp __hadd2_rn __hsub2_rn __hmul2_rn __hadd2_sat 80:__hmin2 80:__hmax2 80:__hmin2_nan
p ppp __hfma2 __hfma2_sat 80:__hfma2_relu
p p __hneg2 __habs2 __lowhigh2highlow
p hh __halves2half2
p u bp
p - p0 p1 bp(s.w[2])
r rr 80:__hadd2_rn 80:__hsub2_rn 80:__hmul2_rn 80:__hmin2 80:__hmax2
r rrr 80:__hfma2 80:__hfma2_relu
r r __hneg2 __habs2
r bb __halves2bfloat162
r u br
r - r0 r1
"""
_CHOICE = re.compile(r"\{([^}]*)\}")


def _spelled(text: str) -> Iterator[str]:
    """Yield a text for each combination of its choices."""
    choices = [one.split(",") for one in _CHOICE.findall(text)]
    for chosen in product(*choices):
        words = iter(chosen)
        yield _CHOICE.sub(lambda _: next(words), text)  # noqa: B023  used at once


def _operators(kind: str, operands: str, text: str) -> Iterator[tuple[str, Operator]]:
    since, _, rest = text.rpartition(":") if re.match(r"\d\d:", text) else ("", "", text)
    operands = "" if operands == "-" else operands
    for one in _spelled(rest):
        whole = one if "$" in one or not operands else f"{one}({', '.join('$' * len(operands))})"
        cast = f"({TYPES[kind]})" if kind in "uiql" and whole.startswith("(") else ""  # a comparison gives no u32
        yield kind, Operator(cast + whole, operands, int(since or FIRST))


def _table() -> dict[str, tuple[Operator, ...]]:
    found: dict[str, list[Operator]] = {kind: [] for kind in TYPES}
    for line in LINES.strip().splitlines():
        kind, operands, *texts = line.split()
        for text in texts:
            for key, one in _operators(kind, operands, text):
                found[key].append(one)
    return {kind: tuple(each) for kind, each in found.items()}


OPERATORS = _table()
LEAVES = {kind: tuple(one for one in each if not one.operands) for kind, each in OPERATORS.items()}
CALLS = {kind: tuple(one for one in each if one.operands) for kind, each in OPERATORS.items()}
