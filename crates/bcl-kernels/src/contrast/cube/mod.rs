//! Contrastive losses on GPUs, tile by tile: scores exist only in registers, except for weights by rank.
//!
//! A loss takes two kernels forward (sums over tiles, then the loss of each row) and two backward for each table of gradients (tiles computed
//! again, then a sum over parts). Long tables are cut into chunks, so that few anchors keep a large GPU busy, too. Everything is computed in single
//! precision, and all sums have a fixed order.
//!
//! A rank depends on all scores of its row. With weights by rank, scores are in device memory, and so is what their slopes are made of; in place of the
//! sums there are a kernel for scores and one or two for ranks, sums included. If there are too many scores, some rows are computed at a time.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata, ops::FloatTensorOps};
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;

use super::portable::blocks::{self, Block, Composed};
use super::{ContrastOps, Correction, Plan};
use crate::cube::{THREADS, addresses, empty, rows, single, threads, workgroups};
use crate::ranks::cube::{Tilt, Weighted, weigh};
use gradients::{Anchors, Exponentials, Pull, SPAN};
use rule::Rule;
use sums::{Form, FormulaLaunch, ROWS};
use tile::Tile;

mod gradients;
mod rule;
mod scores;
mod sums;
mod tile;

/// About as many workgroups as keep a large GPU busy.
const WORKGROUPS: usize = 512;

/// The most scores by rank that are computed at once, and kept for the backward pass: 64 MiB, and three times that while they are ranked.
const KEPT: usize = 1 << 24;

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
        let losses = match Tiled::new(&anchors, &negatives, &table, &plan) {
            Some(loss) if loss.fits() => {
                let Forward { losses, terms, values } = loss.losses(Some(&loss.alike(positives)));
                return (losses, terms, values.clone(), values);
            }
            Some(_) => blocks::losses::<Self, Ranked>(anchors, positives, negatives, table, &plan),
            None => blocks::losses::<Self, Composed>(anchors, positives, negatives, table, &plan),
        };
        (losses.clone(), losses.clone(), losses.clone(), losses)
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
        drop(saved_negatives);
        match Tiled::new(&anchors, &negatives, &table, &plan) {
            Some(loss) if loss.fits() => {
                let slopes = Slopes {
                    terms: saved_anchors,
                    values: saved_positives,
                    grad: loss.alike(grad),
                };
                loss.gradients(&loss.alike(positives), &slopes, plan.with_negatives)
            }
            Some(_) => blocks::gradients::<Self, Ranked>(anchors, positives, negatives, table, grad, &plan),
            None => blocks::gradients::<Self, Composed>(anchors, positives, negatives, table, grad, &plan),
        }
    }

    fn contrast_views(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let losses = match Tiled::new(&views, &views, &table, &plan) {
            Some(loss) if loss.fits() => {
                let Forward { losses, terms, values } = loss.losses(None);
                return (losses, terms, values);
            }
            Some(_) => blocks::losses_of_views::<Self, Ranked>(views, table, &plan),
            None => blocks::losses_of_views::<Self, Composed>(views, table, &plan),
        };
        (losses.clone(), losses.clone(), losses)
    }

    fn contrast_views_backward(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        saved: FloatTensor<Self>,
        saved_too: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        plan: Plan,
    ) -> FloatTensor<Self> {
        match Tiled::new(&views, &views, &table, &plan) {
            Some(loss) if loss.fits() => {
                let slopes = Slopes {
                    terms: saved,
                    values: saved_too,
                    grad: loss.alike(grad),
                };
                loss.gradient(Anchors::Both, Pull::Views, &loss.anchors, &slopes).0
            }
            Some(_) => blocks::gradients_of_views::<Self, Ranked>(views, table, grad, &plan),
            None => blocks::gradients_of_views::<Self, Composed>(views, table, grad, &plan),
        }
    }
}

/// Losses with weights by rank, whose scores are in memory.
struct Ranked;

impl Ranked {
    fn loss(anchors: &CubeTensor, negatives: &CubeTensor, table: &CubeTensor, plan: &Plan) -> Tiled {
        Tiled::new(anchors, negatives, table, plan).expect("blocks of a loss are computed as it is")
    }
}

impl Block<Cube> for Ranked {
    // 32 MiB, three times: scores, sorted keys and what slopes are made of.
    const SCORES: usize = 1 << 23;

    fn losses(anchors: CubeTensor, positives: CubeTensor, negatives: CubeTensor, table: CubeTensor, plan: &Plan) -> CubeTensor {
        let loss = Self::loss(&anchors, &negatives, &table, plan);
        loss.losses(Some(&loss.alike(positives))).losses
    }

    fn gradients(
        anchors: CubeTensor,
        positives: CubeTensor,
        negatives: CubeTensor,
        table: CubeTensor,
        grad: CubeTensor,
        plan: &Plan,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        let loss = Self::loss(&anchors, &negatives, &table, plan);
        let positives = loss.alike(positives);
        let Forward { terms, values, .. } = loss.losses(Some(&positives));
        let grad = loss.alike(grad);
        loss.gradients(&positives, &Slopes { terms, values, grad }, true)
    }
}

/// A loss that these kernels can compute.
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
    /// β; 0 without weights by hardness.
    hardness: f64,
    /// The weights of all ranks, `[num_rows]`, if there are weights by rank.
    by_rank: Option<CubeTensor>,
    correction: Correction,
    element: ElemType,
}

/// What the forward pass computes.
struct Forward {
    losses: CubeTensor,
    /// See [`Slopes`].
    terms: CubeTensor,
    values: CubeTensor,
}

/// What makes scores slopes.
struct Slopes {
    /// Of each anchor, `[num_anchors, 4]`.
    terms: CubeTensor,
    /// Weights by rank times exponentials, `[num_anchors, num_rows]`, or any tensor.
    values: CubeTensor,
    /// The gradient of each loss, `[num_anchors, 1]`.
    grad: CubeTensor,
}

impl Tiled {
    /// `None` for what the kernels do not compute: negative hardness, several tables of ranks, double precision, and all on devices with little
    /// shared memory.
    fn new(anchors: &CubeTensor, negatives: &CubeTensor, table: &CubeTensor, plan: &Plan) -> Option<Self> {
        let hardness = plan.hardness.unwrap_or(0.0);
        let kind = match anchors.dtype {
            DType::F32 => FloatKind::F32,
            DType::F16 => FloatKind::F16,
            DType::BF16 => FloatKind::BF16,
            _ => return None,
        };
        let available = anchors.client.properties().hardware.max_shared_memory_size;
        if hardness < 0.0 || !plan.lengths.is_empty() || available < SHARED {
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
            by_rank: plan.ranked.then(|| rows(single(table.clone()))),
            correction: plan.correction,
            element: ElemType::Float(kind),
        })
    }

    /// Whether all anchors can be computed at once: the kernels keep no scores, or not too many.
    fn fits(&self) -> bool {
        self.by_rank.is_none() || self.anchors.shape()[0] * self.negatives.shape()[0] <= KEPT
    }

    /// Another tensor, as the kernels read it.
    fn alike(&self, tensor: CubeTensor) -> CubeTensor {
        rows(Cube::float_cast(tensor, self.anchors.dtype.into()))
    }

    fn dim(&self) -> usize {
        self.anchors.shape()[1]
    }

    /// Numbers of an embedding that are read at once.
    fn vector(&self) -> usize {
        vector_of(self.dim())
    }

    /// Scores of an anchor that are read at once.
    fn scores_vector(&self) -> usize {
        vector_of(self.negatives.shape()[0])
    }

    /// Highest score and sums of exponentials of each anchor, for each chunk of the negatives: `[num_chunks * num_anchors, 4]`.
    fn sums(&self) -> CubeTensor {
        let (num_anchors, num_rows) = (self.anchors.shape()[0], self.negatives.shape()[0]);
        let cut = Cut::new(num_anchors, num_rows, 1);
        let partial = empty(&self.anchors, [cut.chunks * num_anchors, 4], DType::F32);
        sums::sums::launch(
            &self.anchors.client,
            workgroups(cut.workgroups),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.anchors, &self.negatives, &partial]),
            self.vector(),
            self.anchors.clone().into_tensor_arg(),
            self.negatives.clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            cut.tiles_per_chunk,
            self.first,
            self.rate as f32,
            self.hardness as f32,
            self.hardness > 0.0,
            self.rule,
            cut.tile,
            self.element,
        );
        partial
    }

    /// The scores of all negatives, `[num_anchors, num_rows]`.
    fn scores(&self) -> CubeTensor {
        let (num_anchors, num_rows) = (self.anchors.shape()[0], self.negatives.shape()[0]);
        let cut = Cut::new(num_anchors, num_rows, 1);
        let scores = empty(&self.anchors, [num_anchors, num_rows], DType::F32);
        scores::scores::launch(
            &self.anchors.client,
            workgroups(cut.workgroups),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.anchors, &self.negatives, &scores]),
            self.vector(),
            self.scores_vector(),
            self.anchors.clone().into_tensor_arg(),
            self.negatives.clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            scores.clone().into_tensor_arg(),
            cut.tiles_per_chunk,
            self.first,
            self.rule,
            cut.tile,
            self.element,
        );
        scores
    }

    /// The losses of all anchors, and what the backward pass needs. Without `positives`, they are the other views of the anchors.
    fn losses(&self, positives: Option<&CubeTensor>) -> Forward {
        let (num_anchors, num_rows) = (self.anchors.shape()[0], self.negatives.shape()[0]);
        let (partial, values) = match &self.by_rank {
            Some(table) => {
                let tilt = Tilt {
                    offsets: None,
                    rate: self.rate,
                };
                let Weighted { values, sums } = weigh(self.scores(), table.clone(), Some(tilt));
                (sums, Some(values))
            }
            None => (self.sums(), None),
        };
        let num_chunks = partial.shape().num_elements() / (4 * num_anchors);
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
            &self.anchors.client,
            workgroups(num_anchors.div_ceil(ROWS)),
            CubeDim::new_1d(THREADS),
            addresses(&[&self.anchors, &self.negatives, &partial]),
            self.vector(),
            self.anchors.clone().into_tensor_arg(),
            positives.unwrap_or(&self.anchors).clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            partial.into_tensor_arg(),
            losses.clone().into_tensor_arg(),
            terms.clone().into_tensor_arg(),
            num_rows,
            num_chunks,
            self.first,
            FormulaLaunch::new(
                self.rate as f32,
                self.hardness as f32,
                unlabelled as f32,
                positive as f32,
                least.unwrap_or(f64::from(tile::BELOW)) as f32,
            ),
            self.hardness > 0.0,
            form,
            self.rule,
            positives.is_none(),
            self.element,
        );
        let values = values.unwrap_or_else(|| terms.clone());
        Forward { losses, terms, values }
    }

    /// The gradients of anchors, positives and negatives; any tensor for negatives that need none.
    fn gradients(&self, positives: &CubeTensor, slopes: &Slopes, with_negatives: bool) -> (CubeTensor, CubeTensor, CubeTensor) {
        let (of_anchors, of_positives) = self.gradient(Anchors::Rows, Pull::Positives, positives, slopes);
        let of_negatives = if with_negatives {
            self.gradient(Anchors::Columns, Pull::None, &self.negatives, slopes).0
        } else {
            of_anchors.clone()
        };
        (of_anchors, of_positives, of_negatives)
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
        let widths = addresses(&[rows, columns, &slopes.values, &partial]);
        let (exponentials, vector_of_values) = match &self.by_rank {
            Some(_) => (Exponentials::Given, self.scores_vector()),
            None if self.hardness > 0.0 => (Exponentials::Hard, 1),
            None => (Exponentials::Plain, 1),
        };
        gradients::gradients::launch(
            client,
            workgroups(cut.workgroups),
            CubeDim::new_1d(THREADS),
            widths,
            self.vector(),
            vector_of_values,
            rows.clone().into_tensor_arg(),
            columns.clone().into_tensor_arg(),
            self.lists.clone().into_tensor_arg(),
            slopes.values.clone().into_tensor_arg(),
            slopes.terms.clone().into_tensor_arg(),
            slopes.grad.clone().into_tensor_arg(),
            partial.clone().into_tensor_arg(),
            cut.tiles_per_chunk,
            self.first,
            self.rate as f32,
            self.hardness as f32,
            exponentials,
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

/// Numbers that are read at once, of rows with `number` of them.
fn vector_of(number: usize) -> usize {
    if number.is_multiple_of(4) { 4 } else { 1 }
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
