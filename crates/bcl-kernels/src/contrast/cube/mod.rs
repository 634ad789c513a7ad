//! Contrastive losses on GPUs, tile by tile: scores exist only in registers.
//!
//! A loss takes two kernels forward (sums over tiles, then the loss of each row) and two backward for each table of gradients (tiles computed
//! again, then a sum over parts). Long tables are cut into chunks, so that few anchors keep a large GPU busy, too. Everything is computed in single
//! precision, and all sums have a fixed order.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;

use super::portable::blocks::{self, SCORES};
use super::{ContrastOps, Correction, Plan};
use crate::cube::{THREADS, addresses, empty, rows, threads, workgroups};
use gradients::{Anchors, Pull, SPAN};
use rule::Rule;
use sums::{Form, FormulaLaunch, ROWS};
use tile::Tile;

mod gradients;
mod rule;
mod sums;
mod tile;

/// About as many workgroups as keep a large GPU busy.
const WORKGROUPS: usize = 512;

/// Bytes of shared memory that every kernel can do with, marks of large tiles included.
const SHARED: usize = 20 << 10;

/// Rows and columns from which on there are enough large tiles for all of them. A large tile reads half as much per score.
const LARGE: usize = 4096;

impl ContrastOps for Cube {
    fn contrast(
        anchors: FloatTensor<Self>,
        positives: FloatTensor<Self>,
        negatives: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let Some(loss) = Tiled::new(&anchors, &negatives, &plan) else {
            let losses = blocks::losses::<Self>(anchors, positives, negatives, table, &plan, SCORES);
            return (losses.clone(), losses.clone(), losses.clone(), losses);
        };
        let (losses, terms) = loss.losses(Some(&loss.alike(positives)));
        (losses, terms.clone(), terms.clone(), terms)
    }

    fn contrast_backward(
        anchors: FloatTensor<Self>,
        positives: FloatTensor<Self>,
        negatives: FloatTensor<Self>,
        table: FloatTensor<Self>,
        saved_anchors: FloatTensor<Self>,
        saved_positives: FloatTensor<Self>,
        saved_negatives: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        drop((saved_positives, saved_negatives));
        let Some(loss) = Tiled::new(&anchors, &negatives, &plan) else {
            return blocks::gradients::<Self>(anchors, positives, negatives, table, grad, &plan, SCORES);
        };
        let slopes = Slopes {
            terms: saved_anchors,
            grad: loss.alike(grad),
        };
        let (of_anchors, of_positives) = loss.gradient(Anchors::Rows, Pull::Positives, &loss.alike(positives), &slopes);
        let of_negatives = if plan.with_negatives {
            loss.gradient(Anchors::Columns, Pull::None, &loss.negatives, &slopes).0
        } else {
            of_anchors.clone()
        };
        (of_anchors, of_positives, of_negatives)
    }

    fn contrast_views(views: FloatTensor<Self>, table: FloatTensor<Self>, plan: Plan) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let Some(loss) = Tiled::new(&views, &views, &plan) else {
            let losses = blocks::losses_of_views::<Self>(views, table, &plan);
            return (losses.clone(), losses);
        };
        loss.losses(None)
    }

    fn contrast_views_backward(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        saved: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        plan: Plan,
    ) -> FloatTensor<Self> {
        let Some(loss) = Tiled::new(&views, &views, &plan) else {
            return blocks::gradients_of_views::<Self>(views, table, grad, &plan);
        };
        let slopes = Slopes {
            terms: saved,
            grad: loss.alike(grad),
        };
        loss.gradient(Anchors::Both, Pull::Views, &loss.anchors, &slopes).0
    }
}

/// A loss that tiles can compute.
struct Tiled {
    /// `[num_anchors, dim]`
    anchors: CubeTensor,
    /// `[num_rows, dim]`
    negatives: CubeTensor,
    /// Lists of rows that are left out, or any tensor.
    lists: CubeTensor,
    rule: Rule,
    /// The row or the list of the first anchor.
    first: usize,
    rate: f64,
    /// β; 0 if all weights are equal.
    hardness: f64,
    correction: Correction,
    element: ElemType,
}

/// What makes scores slopes.
struct Slopes {
    /// Of each anchor, `[num_anchors, 4]`.
    terms: CubeTensor,
    /// The gradient of each loss, `[num_anchors, 1]`.
    grad: CubeTensor,
}

impl Tiled {
    /// `None` for what the kernels do not compute: weights by rank, negative hardness, double precision, and all on devices with little shared memory.
    fn new(anchors: &CubeTensor, negatives: &CubeTensor, plan: &Plan) -> Option<Self> {
        let hardness = plan.hardness.unwrap_or(0.0);
        let kind = match anchors.dtype {
            DType::F32 => FloatKind::F32,
            DType::F16 => FloatKind::F16,
            DType::BF16 => FloatKind::BF16,
            _ => return None,
        };
        let available = anchors.client.properties().hardware.max_shared_memory_size;
        if plan.ranked || hardness < 0.0 || available < SHARED {
            return None;
        }
        let anchors = rows(anchors.clone());
        let negatives = rows(Cube::float_cast(negatives.clone(), anchors.dtype.into()));
        let (rule, first, lists) = Rule::of(&plan.excluded, &anchors);
        Some(Self {
            anchors,
            negatives,
            lists,
            rule,
            first,
            rate: plan.rate,
            hardness,
            correction: plan.correction,
            element: ElemType::Float(kind),
        })
    }

    /// Another tensor, as the kernels read it.
    fn alike(&self, tensor: CubeTensor) -> CubeTensor {
        rows(Cube::float_cast(tensor, self.anchors.dtype.into()))
    }

    fn dim(&self) -> usize {
        self.anchors.shape()[1]
    }

    /// Numbers that are read at once.
    fn vector(&self) -> usize {
        if self.dim().is_multiple_of(4) { 4 } else { 1 }
    }

    /// The losses of all anchors, and what the backward pass needs of each. Without `positives`, they are the other views of the anchors.
    fn losses(&self, positives: Option<&CubeTensor>) -> (CubeTensor, CubeTensor) {
        let (num_anchors, num_rows) = (self.anchors.shape()[0], self.negatives.shape()[0]);
        let cut = Cut::new(num_anchors, num_rows, 1);
        let partial = empty(&self.anchors, [cut.chunks * num_anchors, 4], DType::F32);
        let client = &self.anchors.client;
        let is_hard = self.hardness > 0.0;
        let widths = addresses(&[&self.anchors, &self.negatives, &partial]);
        sums::sums::launch(
            client,
            workgroups(cut.workgroups),
            CubeDim::new_1d(THREADS),
            widths,
            self.vector(),
            self.anchors.clone().into_tensor_arg(),
            self.negatives.clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            cut.tiles_per_chunk,
            self.first,
            self.rate as f32,
            self.hardness as f32,
            is_hard,
            self.rule,
            cut.tile,
            self.element,
        );
        let losses = empty(&self.anchors, [num_anchors, 1], self.anchors.dtype);
        let terms = empty(&self.anchors, [num_anchors, 4], DType::F32);
        let (form, (unlabelled, positive, least)) = match self.correction {
            Correction::None => (Form::Plain, (1.0, 0.0, None)),
            Correction::Decoupled => (Form::Decoupled, (1.0, 0.0, None)),
            Correction::Floored {
                unlabelled,
                positive,
                least,
            } => (Form::Floored, (unlabelled, positive, least)),
        };
        sums::losses::launch(
            client,
            workgroups(num_anchors.div_ceil(ROWS)),
            CubeDim::new_1d(THREADS),
            widths,
            self.vector(),
            self.anchors.clone().into_tensor_arg(),
            positives.unwrap_or(&self.anchors).clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            partial.into_tensor_arg(),
            losses.clone().into_tensor_arg(),
            terms.clone().into_tensor_arg(),
            num_rows,
            cut.chunks,
            self.first,
            FormulaLaunch::new(
                self.rate as f32,
                self.hardness as f32,
                unlabelled as f32,
                positive as f32,
                least.unwrap_or(f64::from(tile::BELOW)) as f32,
            ),
            is_hard,
            form,
            self.rule,
            positives.is_none(),
            self.element,
        );
        (losses, terms)
    }

    /// The gradient of one of the tables, and of the positives if their `pull` is part of it. `beside` are the positives, or any table.
    fn gradient(&self, anchors: Anchors, pull: Pull, beside: &CubeTensor, slopes: &Slopes) -> (CubeTensor, CubeTensor) {
        let (rows, columns) = match anchors {
            Anchors::Columns => (&self.negatives, &self.anchors),
            Anchors::Rows | Anchors::Both => (&self.anchors, &self.negatives),
        };
        let (num_rows, num_columns) = (rows.shape()[0], columns.shape()[0]);
        let spans = if self.dim() <= SPAN { 1 } else { 2 };
        let parts = self.dim().div_ceil(spans * SPAN);
        let cut = Cut::new(num_rows, num_columns, parts);
        let partial = empty(rows, [cut.chunks * num_rows, parts * spans * SPAN], DType::F32);
        let client = &rows.client;
        let widths = addresses(&[rows, columns, &partial]);
        gradients::gradients::launch(
            client,
            workgroups(cut.workgroups),
            CubeDim::new_1d(THREADS),
            widths,
            self.vector(),
            rows.clone().into_tensor_arg(),
            columns.clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            slopes.terms.clone().into_tensor_arg(),
            slopes.grad.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            cut.tiles_per_chunk,
            self.first,
            self.rate as f32,
            self.hardness as f32,
            self.hardness > 0.0,
            anchors,
            self.rule,
            cut.tile,
            spans,
            self.element,
        );
        let out = empty(rows, rows.shape(), rows.dtype);
        let of_positives = match pull {
            Pull::Positives => empty(rows, rows.shape(), rows.dtype),
            // Nothing is written.
            Pull::None | Pull::Views => empty(rows, [1, self.vector()], rows.dtype),
        };
        let vectors = self.dim() / self.vector();
        gradients::total::launch(
            client,
            threads(num_rows * vectors),
            CubeDim::new_1d(THREADS),
            widths,
            self.vector(),
            partial.into_tensor_arg(),
            rows.clone().into_tensor_arg(),
            beside.clone().into_tensor_arg(),
            slopes.terms.clone().into_tensor_arg(),
            slopes.grad.clone().into_tensor_arg(),
            out.clone().into_tensor_arg(),
            of_positives.clone().into_tensor_arg(),
            cut.chunks,
            vectors,
            pull,
            self.element,
        );
        (out, of_positives)
    }
}

/// How a matrix of scores is cut into tiles, and its rows of tiles into chunks.
struct Cut {
    tile: Tile,
    tiles_per_chunk: usize,
    chunks: usize,
    workgroups: usize,
}

impl Cut {
    /// Of `num_rows` rows, where each tile occurs in `parts` workgroups.
    fn new(num_rows: usize, num_columns: usize, parts: usize) -> Self {
        let groups = if num_rows.min(num_columns) >= LARGE { 2 } else { 1 };
        let tile = Tile { groups };
        let [blocks, tiles] = [num_rows, num_columns].map(|number| number.div_ceil(tile.side()));
        let wanted = (WORKGROUPS / (blocks * parts)).clamp(1, tiles);
        let tiles_per_chunk = tiles.div_ceil(wanted);
        let chunks = tiles.div_ceil(tiles_per_chunk);
        Self {
            tile,
            tiles_per_chunk,
            chunks,
            workgroups: blocks * parts * chunks,
        }
    }
}
