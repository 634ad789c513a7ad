//! LightGCN propagation: averages embeddings over the layers of a bipartite graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Scalar};
use burn::tensor::Tensor;

use super::{SparseMatrix, SparseOps};

/// Averages the embeddings of users and items over the layers of a propagation along their graph, as LightGCN does.
///
/// With the matrix `R` and the whole graph `Â = [[0, R], [Rᵀ, 0]]` over users and items,
///
/// ```text
/// (users, items)' = 1 / (K + 1) · Σ_{k = 0}^{K} Â^k (users, items)
/// ```
///
/// The full graph is never formed: each layer costs one product with `R` and one with its transpose. Differentiable in users and
/// items; the backward pass needs as many products as the forward pass. The matrix is a constant.
///
/// Source: He et al., [LightGCN](https://arxiv.org/abs/2002.02126), Eq. 7 and 8.
///
/// # Shapes
/// - matrix: `[num_users, num_items]`
/// - users:  `[num_users, dim]`
/// - items:  `[num_items, dim]`
/// - output: `[num_users, dim]`, `[num_items, dim]`
///
/// # Panics
/// Panics if the shapes do not match.
///
/// # Example
/// ```
/// use bcl_kernels::{SparseMatrix, propagate};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let matrix = SparseMatrix::from_triplets(1, 2, [(0, 0, 1.0), (0, 1, 0.5)]);
/// let users = Tensor::<2>::from_floats([[2.0]], &device);
/// let items = Tensor::<2>::from_floats([[4.0], [6.0]], &device);
///
/// let (users, items) = propagate(&matrix, users, items, 1);
///
/// assert_eq!(users.into_data().as_slice::<f32>().unwrap(), [(2.0 + 4.0 + 3.0) / 2.0]);
/// assert_eq!(items.into_data().as_slice::<f32>().unwrap(), [(4.0 + 2.0) / 2.0, (6.0 + 1.0) / 2.0]);
/// ```
pub fn propagate(matrix: &SparseMatrix, users: Tensor<2>, items: Tensor<2>, num_layers: usize) -> (Tensor<2>, Tensor<2>) {
    check_shapes(matrix, users.dims(), items.dims());
    if num_layers == 0 {
        return (users, items);
    }
    let (users, items) = Dispatch::propagate(matrix.clone(), users.into_dispatch(), items.into_dispatch(), num_layers);
    (Tensor::from_dispatch(users), Tensor::from_dispatch(items))
}

fn check_shapes(matrix: &SparseMatrix, users: [usize; 2], items: [usize; 2]) {
    let [num_users, num_items] = matrix.shape();
    assert!(
        users[0] == num_users && items[0] == num_items && users[1] == items[1],
        "the users have shape {users:?} and the items {items:?}, but must have {num_users} and {num_items} rows of the same length"
    );
}

/// The embeddings of users and of items.
type Halves<B> = (FloatTensor<B>, FloatTensor<B>);

/// Computes both halves together in the forward pass. In the backward pass they are two nodes, and each skips the products with the
/// half that it has no gradient for.
pub(super) fn tracked<B: Backend + SparseOps, C: CheckpointStrategy>(
    matrix: SparseMatrix,
    users: FloatTensor<Autodiff<B, C>>,
    items: FloatTensor<Autodiff<B, C>>,
    num_layers: usize,
) -> Halves<Autodiff<B, C>> {
    let guards = [users.node(), items.node()];
    let reversed = [items.node(), users.node()];
    let (users, items) = B::propagate(matrix.clone(), users.into_primitive(), items.into_primitive(), num_layers);
    let transpose = matrix.transpose();
    let track = |nodes, matrix, output| match Half.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish((matrix, num_layers), output),
        OpsKind::UnTracked(prep) => prep.finish(output),
    };
    (track(guards, matrix, users), track(reversed, transpose, items))
}

/// One half of the output. Its parents are the same half of the input, then the other half.
#[derive(Debug)]
struct Half;

impl<B: Backend + SparseOps> Backward<B, 2> for Half {
    /// The matrix from the other half to this one, and the number of layers.
    type State = (SparseMatrix, usize);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (from_other, num_layers) = ops.state;
        let to_other = from_other.transpose();
        let grad = grads.consume::<B>(&ops.node);
        // The propagation is its own transpose. Starting from one half, even powers lead back to it and odd powers to the other half:
        // `S ← grad + M Mᵀ S` sums the even powers, and `Mᵀ S` the odd ones.
        let grad = B::float_mul_scalar(grad, Scalar::from(1.0 / (num_layers + 1) as f64));
        let mut own = grad.clone();
        let mut other = B::sparse_matmul(to_other.clone(), own.clone());
        for layer in 2..=num_layers {
            if layer % 2 == 0 {
                own = B::sparse_matmul_add(from_other.clone(), other.clone(), grad.clone(), 1.0);
            } else {
                other = B::sparse_matmul(to_other.clone(), own.clone());
            }
        }
        let [own_node, other_node] = ops.parents;
        if let Some(node) = own_node {
            grads.register::<B>(node.id, own);
        }
        if let Some(node) = other_node {
            grads.register::<B>(node.id, other);
        }
    }
}
