//! The bipartite graph of users and items, and its propagation matrix.

use bcl_kernels::SparseMatrix;

/// Users, items and the training interactions between them.
///
/// A node is a user `0..num_users` or an item `num_users..num_users + num_items`.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Number of users.
    pub num_users: usize,
    /// Number of items.
    pub num_items: usize,
    /// `(user, item)`, each pair once.
    pub edges: Vec<(u32, u32)>,
}

impl Graph {
    /// The symmetric normalisation `D^-1/2 A D^-1/2` of the adjacency matrix A, D being the degrees.
    ///
    /// Nodes without an edge have a row of zeros.
    ///
    /// # Shapes
    /// - output: `[num_users + num_items, num_users + num_items]`
    ///
    /// # Panics
    /// When an edge names a user or an item that is not there.
    pub fn normalised_adjacency(&self) -> SparseMatrix {
        let num_nodes = self.num_users + self.num_items;
        let mut degrees = vec![0u32; num_nodes];
        for &(user, item) in &self.edges {
            degrees[user as usize] += 1;
            degrees[self.num_users + item as usize] += 1;
        }
        let both_ways = self.edges.iter().flat_map(|&(user, item)| {
            let item = self.num_users as u32 + item;
            let value = (f64::from(degrees[user as usize]) * f64::from(degrees[item as usize]))
                .sqrt()
                .recip() as f32;
            [(user, item, value), (item, user, value)]
        });
        SparseMatrix::from_triplets(num_nodes, num_nodes, both_ways)
    }
}
