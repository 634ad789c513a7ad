//! The instructions of tensor cores.

use cubecl::client::Client;
use cubecl::ir::{ElemType, FloatKind};
use cubek::convolution::AcceleratedTileKind;

/// Whether tensor cores multiply numbers in single precision that are rounded to TF32.
pub(super) fn has_tf32(client: &Client) -> bool {
    instruction(client, AcceleratedTileKind::Mma, ElemType::Float(FloatKind::TF32)).is_some()
}

/// The instruction of tensor cores for two operands of this type and a sum in single precision: `[rows, columns, depth]`.
pub(super) fn instruction(client: &Client, kind: AcceleratedTileKind, element: ElemType) -> Option<[u32; 3]> {
    let features = &client.properties().features.matmul;
    let configs = match kind {
        AcceleratedTileKind::Mma => &features.mma,
        AcceleratedTileKind::Cmma => &features.cmma,
    };
    let single = ElemType::Float(FloatKind::F32);
    configs
        .iter()
        .find(|config| config.a_type == element && config.b_type == element && config.cd_type == single)
        .map(|config| [config.m, config.n, config.k])
}
